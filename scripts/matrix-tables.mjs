// The tables of docs/servers.md: how many tests passed, by subject and release, and what releases do differently.

import { halts } from '../packages/conform/dist/internal.js'
import { behaviours } from '../packages/testing/dist/internal.js'
import { RELEASES } from './releases.mjs'

const ALL = '**all**'

/** Reads the cells of the page, by row and column, so that releases that are not played again keep their cells. */
export function readCounts(text) {
  const [releases = [], , ...rows] = text
    .split(/\n{2,}/)
    .map((table) => table.split('\n').filter((line) => line.startsWith('|')))
    .find((table) => table.length > 2)
    ?.map((line) => line.split(' | ').map((part) => part.replace(/^\|\s*|\s*\|$/g, '').trim())) ?? [[]]
  return new Map(rows.map(([subject, ...cells]) => [subject, new Map(cells.map((cell, i) => [releases[i + 1], cell]))]))
}

/** Writes the counts. The results of these releases replace their old ones. */
export function writeCounts(counts, results) {
  for (const [release, result] of results) {
    for (const cells of counts.values()) cells.delete(release)
    const subjects = new Set(result.tests.map(({ subject }) => subject))
    for (const subject of subjects) put(counts, subject, release, cell(result, subject))
    put(counts, ALL, release, cell(result))
  }
  const played = RELEASES.filter((release) => counts.get(ALL)?.has(release))
  const subjects = [...counts.keys()].filter((subject) => subject !== ALL).toSorted((a, b) => a.localeCompare(b))
  const rows = [...subjects, ALL].map((subject) => [
    subject,
    ...played.map((release) => counts.get(subject)?.get(release) ?? ''),
  ])
  return table(['', ...played], rows)
}

/** What the ensemble of @zk/testing does, too, and what halts real servers. */
export function writeDifferences() {
  const rows = Object.values(behaviours).map(({ what, why, ...releases }) => [what, which(releases), why])
  const halting = halts.map(({ what, why, ...releases }) => [what, which(releases), `${why} Not played there.`])
  return table(['What servers do differently', 'releases', 'why'], [...rows, ...halting])
}

function which({ before, since, inDebian }) {
  const parts = [
    ...(since === undefined ? [] : [`from ${since.join(', ')} on`]),
    ...(before === undefined ? [] : [`before ${before}`]),
    ...(inDebian ? ["Debian's 3.8.0"] : []),
  ]
  return parts.join('; ')
}

function put(counts, subject, release, text) {
  if (!counts.has(subject)) counts.set(subject, new Map())
  counts.get(subject).set(release, text)
}

/** The number of tests that passed, and in brackets those with other outcomes. */
function cell({ tests, otherFailures }, subject) {
  const here = tests.filter((test) => subject === undefined || test.subject === subject)
  const count = (test) => here.filter(test).length
  const parts = [
    ['different', count(({ outcome, report }) => outcome === 'passed' && report.isDifferent)],
    ['refused', count(({ outcome, report }) => outcome === 'passed' && report.lacks !== undefined)],
    ['not played', count(({ outcome }) => outcome === 'spared')],
    ['FAILED', count(({ outcome }) => outcome === 'failed') + (subject === undefined ? otherFailures : 0)],
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
