// What takes hours: the long form of each test that has one, every release, every pair, large scopes, many seeds.
//
//   pnpm nightly                    all of it, one after the other
//   pnpm nightly pairs chaos        only the parts with these names
//
// Needs what CI needs: a Docker engine, SPIN, gcc and Maven. The last line has the totals. The first failure of a part ends
// that part only.

import { isInterrupted, run, runVitest, say, step } from './parts.mjs'
import { DEBIAN, ON_RELEASES, playRelease, RELEASES, SCENARIOS, totalsOf } from './releases.mjs'

const UNIT = ['--project', 'unit*']
const REAL = ['--project', 'integration']
const ALONE = ['--project', 'integration-alone']

const simulate = (recipe) => program('simulator/dist/commands/main.js', '--seeds', '20000', ...recipe)

/** By name. Each resolves with its totals and a line for each failure. */
const parts = {
  pairs: tests({ ZK_PAIRS: 'all' }, UNIT, 'packages/client/test/pairs'),
  stories: tests({ ZK_STORY_PAIRS: '5000' }, UNIT, 'simulator/test/pairs'),
  sweeps: tests({ ZK_SWEEPS: 'all' }, UNIT, 'packages/client/test/watching/removals', 'packages/recipes/test'),
  fuzz: tests({ ZK_FUZZ_BYTES: '100000000' }, UNIT, 'packages/client/test/fuzz'),
  watches: tests({ ZK_WATCH_SEEDS: '10000' }, UNIT, 'packages/client/test/watching/shared-paths'),
  lists: tests(
    { ZK_MODEL_RUNS: '2000' },
    UNIT,
    'packages/recipes/test/mirror/freshness',
    'packages/recipes/test/semaphore/stored-permits',
  ),
  clauses: tests({ ZK_CLAUSES: 'all' }, REAL, 'test-integration/test/clauses'),
  broken: tests({ ZK_BROKEN: 'all' }, UNIT, 'packages/conform/test/broken-servers', 'packages/conform/test/client'),
  leaks: tests({ LEAK_REQUESTS: '100000', ZK_CYCLES: '100000' }, UNIT, 'packages/client/test/leaks', 'cycles'),
  programs: tests({ ZK_PROGRAMS: '500' }, REAL, 'test-integration/test/differential'),
  foreign: tests({ ZK_FOREIGN: 'everywhere' }, REAL, 'test-integration/test/foreign'),
  leases: tests({ ZK_LEASE_CUTS: '100', ZK_LINK_CUTS: '300' }, ALONE, 'test-integration/test/lease'),
  losses: tests({ ZK_LOSSES: '300' }, REAL, 'test-integration/test/command-losses'),
  chaos: tests({ ZK_CHAOS_SECONDS: '3600' }, ALONE, 'test-integration/test/chaos.test.ts'),
  ...Object.fromEntries(
    RELEASES.filter((release) => release !== DEBIAN).map((release) => [release, () => onServersOf(release)]),
  ),
  recipes: simulate([]),
  mirrors: simulate(['--recipe', 'Mirror']),
  client: simulate(['--recipe', 'ZooKeeper']),
  planted: program('simulator/dist/commands/planted.js'),
  models: program('scripts/spec.mjs', '--large'),
}

const named = process.argv.slice(2).filter((argument) => argument !== '--')
const unknown = named.filter((name) => !Object.hasOwn(parts, name))
if (unknown.length > 0) {
  console.error(`There is no ${unknown.join(', ')}. The parts are ${Object.keys(parts).join(', ')}.`)
  process.exit(2)
}

const totals = { passed: 0, failed: 0, skipped: 0 }
const failures = []
const { code, output } = await run('node scripts/build.mjs', { quiet: true })
if (code !== 0) {
  console.log(output)
  totals.failed++
  failures.push('build')
} else {
  const names = named.length > 0 ? named : Object.keys(parts)
  for (const [index, name] of names.entries()) {
    if (isInterrupted()) break
    say(`${name}, part ${index + 1} of ${names.length}`)
    const counted = await step(name, parts[name])
    for (const key of Object.keys(totals)) totals[key] += counted[key]
    failures.push(...counted.failures)
  }
}
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `✗ ${failure}`).join('\n')}`)
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 || totals.skipped > 0 || totals.passed === 0 ? 1 : 0

/** Test files with variables that make them long. */
function tests(env, project, ...files) {
  return async () => {
    const name = files.join(' ')
    const counted = await runVitest('nightly', [...project, ...files], { env })
    return counted.passed + counted.failed > 0 ? counted : { ...counted, failed: 1, failures: [`no test in ${name}`] }
  }
}

/** A program of Node that counts as one test. */
function program(file, ...words) {
  return async () => {
    const { code } = await run(process.execPath, { words: [file, ...words] })
    const failed = code === 0 ? 0 : 1
    return { passed: 1 - failed, failed, skipped: 0, failures: failed === 0 ? [] : [[file, ...words].join(' ')] }
  }
}

/** All scenarios, also those that wait. */
async function onServersOf(release) {
  const result = await playRelease(release, [SCENARIOS, ...ON_RELEASES])
  return { ...totalsOf(result), failures: result.failures }
}
