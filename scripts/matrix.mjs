// Plays the scenarios and the clauses on servers of every release: `pnpm matrix`, or `pnpm matrix 3.5.10 3.9.6` for some releases.
// Needs Docker and Maven.

import { isInterrupted } from './parts.mjs'
import { ON_RELEASES, playRelease, RELEASES, SCENARIOS, totalsOf } from './releases.mjs'

const FILES = [SCENARIOS, 'test-integration/test/clauses.test.ts', ...ON_RELEASES]

const named = process.argv.slice(2).filter((argument) => argument !== '--')

const results = []
for (const release of named.length > 0 ? named : RELEASES) {
  console.log(`\nServers: ${release}`)
  results.push(await playRelease(release, FILES))
  if (isInterrupted()) break
}

const totals = results.map(totalsOf)
const sum = (key) => totals.reduce((all, each) => all + each[key], 0)
console.log(`\n${sum('passed')} passed, ${sum('failed')} failed, ${sum('skipped')} skipped`)
const isGood = sum('failed') === 0 && sum('skipped') === 0 && sum('passed') > 0 && !isInterrupted()
process.exitCode = isGood ? 0 : 1
