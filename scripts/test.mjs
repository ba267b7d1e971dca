// The only command for tests: builds, runs every test that this machine can run, and ends with a line of totals.
//
// Tests on a real ensemble need a Docker engine. Without one all other tests run, and the end of the output says what is
// missing. The models in spec/ need SPIN and a C compiler; each of their variants counts as a test. With CI=true nothing may
// be missing: without an engine or SPIN, or with a skipped test, the run fails. The steps of `check` then count as tests.
// All arguments are passed to vitest: `pnpm test -t 'a name'`. If ZK_RELEASES is set, the scenarios that need no waiting,
// and other tests on what differs, are then played on servers of these releases (`pnpm matrix` plays all scenarios).
//
// Without arguments, what waits for real servers runs beside what computes, and computing gives way. Then the tests run that
// need the machine for themselves.

import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { isInterrupted, root, run, runVitest, say, step } from './parts.mjs'
import { ON_RELEASES, playRelease, shortScenarios, totalsOf } from './releases.mjs'

const ci = process.env.CI === 'true'
const args = process.argv.slice(2).filter((argument, index) => !(index === 0 && argument === '--'))
// Runs the projects that the arguments name, or else all projects that this machine can run.
const projectsNamed = args.some((argument) => argument.startsWith('--project'))

const totals = { passed: 0, failed: 0, skipped: 0 }
const remarks = []
// A line for each, repeated at the end: the output of a run is long, and may be cut off.
const failures = []
let vitestRan = 0

// The build checks the types, and the test of the site checks the docs.
const { 'check:types': _, 'check:docs': __, ...checks } = ci ? checkSteps() : {}
await check('build', 'node scripts/build.mjs')

const docker = projectsNamed || (await dockerAnswers())
if (!docker) {
  if (ci) totals.failed++
  remarks.push(
    'NOT RUN: the tests against a real ensemble (test-integration/): no Docker engine answered at ' +
      `${process.env.DOCKER_HOST ?? '/var/run/docker.sock'}.\n` +
      'Start Docker (Debian: apt-get install docker.io, then dockerd), or point DOCKER_HOST at an engine, and run this again.',
  )
}
const releases = docker ? (process.env.ZK_RELEASES ?? '').split(' ').filter(Boolean) : []

if (args.length === 0) await runEverything()
else await runNamed()

if (vitestRan === 0) remarks.push('No test was run.')
if (ci && totals.skipped > 0) remarks.push('With CI=true a skipped test fails the run.')

for (const remark of remarks) console.log(`\n${'!'.repeat(100)}\n${remark}`)
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `✗ ${failure}`).join('\n')}`)
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 || vitestRan === 0 || (ci && totals.skipped > 0) ? 1 : 0

async function runEverything() {
  const computing = [
    tests('unit*', { isUrgent: !docker }),
    inTurn([
      ...Object.entries(checks).map(
        ([name, command]) =>
          () =>
            check(name, command),
      ),
      checkModels,
    ]),
  ]
  if (docker) {
    await Promise.all([tests('integration'), inTurn(releases.map((release) => () => onServersOf(release)))])
    await tests('integration-alone')
  }
  // After the ensembles, which have the processors first: beside them a test of 4 s took 2 min.
  await tests('packages')
  await Promise.all(computing)
}

async function runNamed() {
  const projects = docker ? [] : ['--project', 'unit*', '--project', 'packages']
  await inTurn([
    ...Object.entries(checks).map(
      ([name, command]) =>
        () =>
          check(name, command),
    ),
    () => count(runVitest('tests', [...projects, ...args])),
    ...releases.map((release) => () => onServersOf(release)),
  ])
}

async function inTurn(bodies) {
  for (const body of bodies) if (!isInterrupted()) await body()
}

async function tests(project, { isUrgent } = {}) {
  if (!isInterrupted()) await count(runVitest(project.replace('*', ''), ['--project', project], { isUrgent }))
}

async function count(part) {
  const { passed, failed, skipped, failures: lines } = await part
  vitestRan += passed + failed
  totals.passed += passed
  totals.failed += failed
  totals.skipped += skipped
  failures.push(...lines)
}

/** The steps of `check`, read from package.json, so that they are only listed there. */
function checkSteps() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.fromEntries(Object.entries(scripts).filter(([name]) => name.startsWith('check:')))
}

/** In CI a step counts as a test. */
async function check(name, command) {
  const { code, output } = await step(name, () => run(command, { quiet: true, isUrgent: name === 'build' }))
  if (code !== 0) {
    totals.failed++
    failures.push(name)
    say(`✗ ${name}\n${output}`)
    remarks.push(`${name} failed (${command}): its output is above.`)
  } else if (ci) {
    totals.passed++
    say(`✓ ${name}`)
  }
}

async function onServersOf(release) {
  // With one ensemble, because those of the other tests run beside it.
  const counted = await playRelease(release, [...shortScenarios(), ...ON_RELEASES], { ZK_ENSEMBLES: '1' })
  const { passed, failed, skipped } = totalsOf(counted)
  await count({ passed, failed, skipped, failures: counted.failures.map((failure) => `${release}: ${failure}`) })
  if (failed > 0) remarks.push(`Failed on servers of ${release}: \`pnpm matrix ${release}\` plays just these.`)
}

/** Any HTTP response shows that an engine answers, even an error. */
function dockerAnswers() {
  const engine = process.env.DOCKER_HOST ?? 'unix:///var/run/docker.sock'
  if (!URL.canParse(engine)) return false
  const { protocol, pathname, hostname, port } = new URL(engine)
  const where = protocol === 'unix:' ? { socketPath: pathname } : { host: hostname, port }
  return new Promise((resolve) => {
    const ping = request({ ...where, path: '/_ping', timeout: 2_000 }, (response) => {
      response.resume()
      resolve(true)
    })
    ping.on('timeout', () => ping.destroy(new Error('no answer')))
    ping.on('error', () => resolve(false))
    ping.end()
  })
}

/**
 * Each variant of a model in spec/ counts as a test: its outcome must be the expected one. Only CI also looks for the
 * counterexamples to all rules that lack something: they change with the models only.
 */
async function checkModels() {
  const { code } = await run('spin -V && gcc --version', { quiet: true })
  if (code !== 0) {
    if (ci) totals.failed++
    remarks.push('NOT RUN: the models (spec/): they need spin and gcc (Debian: apt-get install spin gcc libc6-dev).')
    return
  }
  await Promise.all([['lease/', 'semaphore/'], ['queue/']].map(checkModelsOf))
}

/** Checks the models of these folders. */
async function checkModelsOf(folders) {
  const counted = { passed: 0, failed: [] }
  const read = (line) => {
    if (line.startsWith('✓ ')) counted.passed++
    else if (line.startsWith('✗ ')) counted.failed.push(line.slice('✗ '.length))
    else return
    say(`${line.slice(0, 1)} models ${line.slice(2)}`)
  }
  const { output } = await step('models', () =>
    run(process.execPath, {
      words: [join(root, 'scripts', 'spec.mjs'), ...folders, ...(ci ? [] : ['--rules'])],
      quiet: true,
      isUrgent: !docker,
      read,
    }),
  )
  totals.passed += counted.passed
  // No output is also a failure.
  if (counted.passed + counted.failed.length === 0) counted.failed.push(`models: ${output}`)
  totals.failed += counted.failed.length
  failures.push(...counted.failed)
}
