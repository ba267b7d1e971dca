// The two tables of docs/servers.md: how many tests passed on each release, and what releases do differently.

import { RELEASES } from './releases.mjs'

const DIFFERENTLY = 'What servers do differently'
const ALL = 'scenarios'

/** Reads the cells of the page, so that releases that are not played again keep their cells. */
export function readTables(text) {
  const tables = text.split(/\n{2,}/).map((table) =>
    table
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split(' | ').map((part) => part.replace(/^\|\s*|\s*\|$/g, '').trim())),
  )
  const [counts = [], otherwise = []] = tables.filter((table) => table.length > 2)
  const [releases = [], , [, ...cells] = []] = counts
  return {
    counts: new Map(cells.map((cell, i) => [releases[i + 1], cell])),
    otherwise: new Map(otherwise.slice(2).map(([what, played]) => [what, new Set(played.split(', '))])),
  }
}

/** Writes the tables. The results of these releases replace their old ones. */
export function writeTables({ counts, otherwise }, results) {
  for (const [release, result] of results) {
    for (const releases of otherwise.values()) releases.delete(release)
    counts.set(release, cell(result))
    for (const what of result.tests.flatMap(differencesOf)) {
      if (!otherwise.has(what)) otherwise.set(what, new Set())
      otherwise.get(what).add(release)
    }
  }
  const played = RELEASES.filter((release) => counts.has(release))
  const row = [ALL, ...played.map((release) => counts.get(release))]
  const differences = [...otherwise]
    .map(([what, releases]) => [what, RELEASES.filter((release) => releases.has(release)).join(', ')])
    .filter(([, releases]) => releases !== '')
    .sort((one, other) => RELEASES.indexOf(one[1].split(', ')[0]) - RELEASES.indexOf(other[1].split(', ')[0]))
  return `${table(['', ...played], [row])}\n${table([DIFFERENTLY, 'releases'], differences)}`
}

/** The number of tests that passed, and in brackets those with other outcomes. */
function cell({ tests, otherFailures }) {
  const count = (test) => tests.filter(test).length
  const parts = [
    ['different', count(({ outcome, report }) => outcome === 'passed' && report.differs?.length > 0)],
    ['refused', count(({ outcome, report }) => outcome === 'passed' && report.lacks !== undefined)],
    ['not played', count(({ outcome }) => outcome === 'spared')],
    ['FAILED', count(({ outcome }) => outcome === 'failed') + otherFailures],
    ['SKIPPED', count(({ outcome }) => outcome === 'skipped')],
  ]
  const words = parts.filter(([, number]) => number > 0).map(([word, number]) => `${number} ${word}`)
  const passed = count(({ outcome }) => outcome === 'passed')
  return words.length === 0 ? `${passed}` : `${passed} (${words.join(', ')})`
}

/** What is different. Why is in the scenarios. */
function differencesOf({ report }) {
  const { differs = [], lacks, spared } = report
  return [
    ...differs.map(({ what }) => what),
    ...(lacks === undefined ? [] : [`Operations of ${lacks} are Unimplemented.`]),
    ...(spared === undefined ? [] : [`${spared.split(': ')[0]}. Not played there.`]),
  ]
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
