// The only command for tests: builds, runs every test that this machine can run, and ends with a line of totals.
//
// Tests on a real ensemble need a Docker engine. Without one all other tests run, and the end of the output says what is
// missing. The models in spec/ need SPIN and a C compiler; each of their variants counts as a test. With CI=true nothing may
// be missing: without an engine or SPIN, or with a skipped test, the run fails. The steps of `check` then count as tests.
// All arguments are passed to vitest: `pnpm test -t 'a name'`. If ZK_RELEASES is set, the scenarios that need no waiting,
// and other tests on what differs, are then played on servers of these releases (`pnpm matrix` plays all scenarios).

import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ON_RELEASES, playRelease, shortScenarios, totalsOf } from './releases.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const ci = process.env.CI === 'true'
const args = process.argv.slice(2).filter((argument, index) => !(index === 0 && argument === '--'))
// Runs the projects that the arguments name, or else all projects that this machine can run.
const projectsNamed = args.some((argument) => argument.startsWith('--project'))

const totals = { passed: 0, failed: 0, skipped: 0 }
const remarks = []
// A line for each, repeated at the end: the output of a run is long, and may be cut off.
const failures = []

// An interrupt reaches the child directly, and SIGTERM is forwarded. In both cases the totals are still printed.
let child
let isInterrupted = false
process.on('SIGINT', () => (isInterrupted = true))
process.on('SIGTERM', () => {
  isInterrupted = true
  child?.kill()
})

const steps = ci ? checkSteps() : { build: 'tsc -b' }
for (const [name, command] of Object.entries(steps)) {
  const { code, output } = await run(command, { quiet: true })
  if (code !== 0) {
    totals.failed++
    failures.push(name)
    console.log(output)
    remarks.push(`${name} failed (${command}): its output is at the top.`)
  } else if (ci) {
    totals.passed++
    console.log(`✓ ${name}`)
  }
}

const docker = projectsNamed || (await dockerAnswers())
if (!docker) {
  if (ci) totals.failed++
  remarks.push(
    'NOT RUN: the tests against a real ensemble (test-integration/): no Docker engine answered at ' +
      `${process.env.DOCKER_HOST ?? '/var/run/docker.sock'}.\n` +
      'Start Docker (Debian: apt-get install docker.io, then dockerd), or point DOCKER_HOST at an engine, and run this again.',
  )
}

const vitest = await runVitest(docker ? args : ['--project', 'unit', '--project', 'packages', ...args])
totals.passed += vitest.passed
totals.failed += vitest.failed
totals.skipped += vitest.skipped
failures.push(...vitest.failures)

for (const release of docker ? (process.env.ZK_RELEASES ?? '').split(' ').filter(Boolean) : []) {
  if (isInterrupted) break
  console.log(`\nThe scenarios on servers of ${release}`)
  const files = [...shortScenarios(), ...ON_RELEASES]
  const result = await playRelease(release, files, (started) => (child = started))
  const counted = totalsOf(result)
  totals.passed += counted.passed
  totals.failed += counted.failed
  totals.skipped += counted.skipped
  const failed = result.tests.filter(({ outcome }) => outcome === 'failed')
  failures.push(...failed.map(({ file, subject, title }) => `${release}: ${file} > ${subject} > ${title}`))
  if (counted.failed > 0) remarks.push(`Failed on servers of ${release}: \`pnpm matrix ${release}\` plays just these.`)
}

if (args.length === 0 && !isInterrupted) await checkModels()

const nothingRan = vitest.passed + vitest.failed === 0
if (nothingRan) remarks.push('No test was run.')
if (ci && totals.skipped > 0) remarks.push('With CI=true a skipped test fails the run.')

for (const remark of remarks) console.log(`\n${'!'.repeat(100)}\n${remark}`)
if (failures.length > 0) console.log(`\nFailed:\n${failures.map((failure) => `✗ ${failure}`).join('\n')}`)
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`)
process.exitCode = totals.failed > 0 || nothingRan || (ci && totals.skipped > 0) ? 1 : 0

/** The steps of `check`, read from package.json, so that they are only listed there. */
function checkSteps() {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return Object.fromEntries(Object.entries(scripts).filter(([name]) => name.startsWith('check:')))
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

/** Each variant of a model in spec/ counts as a test: its outcome must be the expected one. */
async function checkModels() {
  const { code } = await run('spin -V && gcc --version', { quiet: true })
  if (code !== 0) {
    if (ci) totals.failed++
    remarks.push('NOT RUN: the models (spec/): they need spin and gcc (Debian: apt-get install spin gcc libc6-dev).')
    return
  }
  console.log('\nThe models')
  const { output } = await run(process.execPath, { words: [join(root, 'scripts', 'spec.mjs')], quiet: true })
  console.log(output)
  const lines = output.split('\n')
  const passed = lines.filter((line) => line.startsWith('✓ ')).length
  const failed = lines.filter((line) => line.startsWith('✗ '))
  totals.passed += passed
  // No output is also a failure.
  totals.failed += passed + failed.length === 0 ? 1 : failed.length
  failures.push(...failed.map((line) => line.slice('✗ '.length)))
}

async function runVitest(extra) {
  const folder = mkdtempSync(join(tmpdir(), 'zk-test-'))
  const file = join(folder, 'totals.json')
  const reporter = join(root, 'scripts', 'totals-reporter.mjs')
  const words = ['run', '--reporter=default', `--reporter=${reporter}`, ...extra]
  const { code } = await run(process.execPath, {
    words: [join(root, 'node_modules/vitest/vitest.mjs'), ...words],
    env: { ZK_TEST_TOTALS: file },
  })
  try {
    const counted = JSON.parse(readFileSync(file, 'utf8'))
    // A failure that belongs to no test (in a global set-up, or a worker that died) also fails the run.
    if (code !== 0 && counted.failed === 0) {
      remarks.push(`vitest ended with ${code} although no test failed.`)
      counted.failed = 1
    }
    return counted
  } catch {
    remarks.push(`vitest ended with ${code} before it had counted anything.`)
    return { passed: 0, failed: 1, skipped: 0, failures: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Without `words`, the command is a line for the shell, which finds the tools of the workspace by their names. */
function run(command, { words, env = {}, quiet = false }) {
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  child = spawn(command, words ?? [], {
    cwd: root,
    shell: words === undefined,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', quiet ? 'pipe' : 'inherit', quiet ? 'pipe' : 'inherit'],
  })
  let output = ''
  child.stdout?.on('data', (chunk) => (output += chunk))
  child.stderr?.on('data', (chunk) => (output += chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output: String(error) }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output }))
  })
}
