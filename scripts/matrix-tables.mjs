// The table of docs/servers.md: how many tests passed, by release.

import { RELEASES } from './releases.mjs'

/** Reads the cells of the page, by release, so that releases that are not played again keep their cells. */
export function readCounts(text) {
  const lines = text.split('\n').filter((line) => line.startsWith('|'))
  const [[, ...releases] = [], , [, ...cells] = []] = lines
    .slice(0, 3)
    .map((line) => line.split(' | ').map((part) => part.replace(/^\|\s*|\s*\|$/g, '').trim()))
  return new Map(releases.map((release, i) => [release, cells[i]]))
}

/** Writes the counts. The results of these releases replace their old ones. */
export function writeCounts(counts, results) {
  for (const [release, result] of results) counts.set(release, cell(result))
  const played = RELEASES.filter((release) => counts.has(release))
  return table(['', ...played], [['scenarios', ...played.map((release) => counts.get(release))]])
}

/** The number of tests that passed, and in brackets those with other outcomes. */
function cell({ tests, otherFailures }) {
  const count = (test) => tests.filter(test).length
  const parts = [
    ['different', count(({ outcome, report }) => outcome === 'passed' && report.isDifferent)],
    ['refused', count(({ outcome, report }) => outcome === 'passed' && report.lacks !== undefined)],
    ['not played', count(({ outcome }) => outcome === 'spared')],
    ['FAILED', count(({ outcome }) => outcome === 'failed') + otherFailures],
    ['SKIPPED', count(({ outcome }) => outcome === 'skipped')],
  ]
  const words = parts.filter(([, number]) => number > 0).map(([word, number]) => `${number} ${word}`)
  const passed = count(({ outcome }) => outcome === 'passed')
  return words.length === 0 ? `${passed}` : `${passed} (${words.join(', ')})`
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
