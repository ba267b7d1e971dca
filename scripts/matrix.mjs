// Plays the scenarios on servers of every release: `pnpm matrix`, or `pnpm matrix 3.5.10 3.9.6` for some releases.
//
// Needs Docker and Maven. Writes the results into docs/servers.md: one column for each release that was played.

import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { isInterrupted } from './parts.mjs'
import { readCounts, writeCounts } from './matrix-tables.mjs'
import { ON_RELEASES, playRelease, RELEASES, SCENARIOS, totalsOf } from './releases.mjs'

const BEGIN = '<!-- What is below is written by `pnpm matrix`. -->'
const FILES = [SCENARIOS, 'test-integration/test/clauses.test.ts', ...ON_RELEASES]

const page = fileURLToPath(new URL('../docs/servers.md', import.meta.url))
const named = process.argv.slice(2).filter((argument) => argument !== '--')

const results = new Map()
for (const release of named.length > 0 ? named : RELEASES) {
  console.log(`\nServers: ${release}`)
  const result = await playRelease(release, FILES)
  if (isInterrupted()) break
  results.set(release, result)
  if (result.tests.length === 0) continue
  // Each result is written before the next release is played.
  const [prose, tables = ''] = readFileSync(page, 'utf8').split(BEGIN)
  const counts = writeCounts(readCounts(tables), new Map([[release, result]]))
  writeFileSync(page, `${prose}${BEGIN}\n\n${counts}`)
}

const totals = [...results.values()].map(totalsOf)
const sum = (key) => totals.reduce((all, each) => all + each[key], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
const isGood = sum('failed') === 0 && sum('skipped') === 0 && sum('passed') > 0 && !isInterrupted()
process.exitCode = isGood ? 0 : 1
