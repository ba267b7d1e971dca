// The two tables of docs/servers.md: how many tests passed, by subject and release, and what releases do differently.

import { RELEASES } from './releases.mjs'

const DIFFERENTLY = 'What servers do differently'
const ALL = '**all**'

/** Reads the cells of the page, by row and column, so that releases that are not played again keep their cells. */
export function readTables(text) {
  const tables = text.split(/\n{2,}/).map((table) =>
    table
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .map((line) => line.split(' | ').map((part) => part.replace(/^\|\s*|\s*\|$/g, '').trim())),
  )
  const [counts = [], otherwise = []] = tables.filter((table) => table.length > 2)
  const [releases = [], , ...rows] = counts
  return {
    counts: new Map(
      rows.map(([subject, ...cells]) => [subject, new Map(cells.map((cell, i) => [releases[i + 1], cell]))]),
    ),
    otherwise: new Map(
      otherwise.slice(2).map(([what, played, why]) => [what, { why, releases: new Set(played.split(', ')) }]),
    ),
  }
}

/** Writes the tables. The results of these releases replace their old ones. */
export function writeTables({ counts, otherwise }, results) {
  for (const [release, result] of results) {
    for (const cells of counts.values()) cells.delete(release)
    for (const { releases } of otherwise.values()) releases.delete(release)
    const subjects = new Set(result.tests.map(({ subject }) => subject))
    for (const subject of subjects) put(counts, subject, release, cell(result, subject))
    put(counts, ALL, release, cell(result))
    for (const { what, why } of result.tests.flatMap(differencesOf)) {
      const entry = otherwise.get(what) ?? { releases: new Set() }
      otherwise.set(what, { ...entry, why })
      entry.releases.add(release)
    }
  }
  const played = RELEASES.filter((release) => counts.get(ALL)?.has(release))
  const subjects = [...counts.keys()].filter((subject) => subject !== ALL).toSorted((a, b) => a.localeCompare(b))
  const rows = [...subjects, ALL].map((subject) => [
    subject,
    ...played.map((release) => counts.get(subject)?.get(release) ?? ''),
  ])
  const differences = [...otherwise]
    .map(([what, { why, releases }]) => [what, RELEASES.filter((release) => releases.has(release)).join(', '), why])
    .filter(([, releases]) => releases !== '')
    .sort((one, other) => RELEASES.indexOf(one[1].split(', ')[0]) - RELEASES.indexOf(other[1].split(', ')[0]))
  return `${table(['', ...played], rows)}\n${table([DIFFERENTLY, 'releases', 'why'], differences)}`
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
    ['different', count(({ outcome, report }) => outcome === 'passed' && report.differs?.length > 0)],
    ['refused', count(({ outcome, report }) => outcome === 'passed' && report.lacks !== undefined)],
    ['not played', count(({ outcome }) => outcome === 'spared')],
    ['FAILED', count(({ outcome }) => outcome === 'failed') + (subject === undefined ? otherFailures : 0)],
    ['SKIPPED', count(({ outcome }) => outcome === 'skipped')],
  ]
  const words = parts.filter(([, number]) => number > 0).map(([word, number]) => `${number} ${word}`)
  const passed = count(({ outcome }) => outcome === 'passed')
  return words.length === 0 ? `${passed}` : `${passed} (${words.join(', ')})`
}

function differencesOf({ report }) {
  const { differs = [], lacks, spared } = report
  return [
    ...differs,
    ...(lacks === undefined
      ? []
      : [{ what: `Operations of ${lacks} are Unimplemented.`, why: 'The server closes the connection.' }]),
    ...(spared === undefined
      ? []
      : [{ what: spared.split(': ')[0], why: `${spared.split(': ')[1]} Not played there.` }]),
  ]
}

function table(head, rows) {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |\n`).join('')
}
