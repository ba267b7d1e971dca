// The parts of a test run: child processes that run side by side, and how far each is. `scripts/test.mjs` has their order.

import { spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** With no news for so long, a line says what is running; in ms. */
const QUIET = 30_000
/** Least urgent: tests on real servers, which measure times, come first on each core. */
const LEAST_URGENT = 19

const children = new Set()
/** What is running, by its name, and since when. */
const running = new Map()
const begunAt = performance.now()
let newsAt = begunAt
let interrupted = false

// An interrupt reaches the children directly, and SIGTERM is forwarded. In both cases the totals are still printed.
process.on('SIGINT', () => (interrupted = true))
process.on('SIGTERM', () => {
  interrupted = true
  for (const child of children) {
    child.kill()
    // What a shell has started may live on, and would keep these open.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
})
setInterval(() => {
  if (performance.now() - newsAt < QUIET || running.size === 0) return
  const names = [...running].map(([name, since]) => `${name} (${secondsSince(since)} s)`)
  say(`… running: ${names.join(', ')}`)
}, 5_000).unref()

export const isInterrupted = () => interrupted

export function say(line) {
  newsAt = performance.now()
  console.log(`${minutes(newsAt - begunAt)} ${line}`)
}

/**
 * Runs a command. Without `words`, it is a line for the shell, which finds the tools of the workspace by their names. `quiet`
 * collects the output instead of printing it, and passes each line to `read`. `heard` gets the messages of a Node program.
 */
export function run(command, { words, env = {}, quiet = false, isUrgent = true, read = () => {}, heard } = {}) {
  const PATH = [join(root, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const output = quiet ? 'pipe' : 'inherit'
  const child = spawn(command, words ?? [], {
    cwd: root,
    shell: words === undefined,
    env: { ...process.env, PATH, ...env },
    stdio: ['ignore', output, output, ...(heard === undefined ? [] : ['ipc'])],
  })
  children.add(child)
  if (!isUrgent && child.pid !== undefined) setPriority(child.pid, LEAST_URGENT)
  if (heard !== undefined) child.on('message', heard)
  let text = ''
  let line = ''
  const collect = (chunk) => {
    text += chunk
    const lines = (line + chunk).split('\n')
    line = lines.pop()
    for (const each of lines) read(each)
  }
  child.stdout?.setEncoding('utf8').on('data', collect)
  child.stderr?.setEncoding('utf8').on('data', collect)
  return new Promise((resolve) => {
    const settle = (outcome) => {
      children.delete(child)
      resolve(outcome)
    }
    child.on('error', (error) => settle({ code: 1, output: String(error) }))
    child.on('close', (code, signal) => settle({ code: code ?? signal, output: text }))
  })
}

/** Runs a step, and shows that it is running. */
export async function step(name, body) {
  running.set(name, performance.now())
  try {
    return await body()
  } finally {
    running.delete(name)
  }
}

/** Runs vitest as a part with this name. Resolves with its totals, and with a line for each failure. */
export async function runVitest(name, words, { env, isUrgent } = {}) {
  let files = 0
  let done = 0
  let totals
  /** What has ended so far, for a run that is cut short. */
  const ended = { passed: 0, failed: 0, skipped: 0 }
  const failures = []
  const heard = (message) => {
    const label = `${name}: ${message.file}`
    if (message.event === 'files') files = message.count
    if (message.event === 'begun') running.set(label, performance.now())
    if (message.event === 'ended') {
      const { passed, failed, skipped } = message
      for (const key of Object.keys(ended)) ended[key] += message[key]
      failures.push(...message.failures)
      const counts = [
        `${passed + failed + skipped} tests`,
        ...(failed > 0 ? [`${failed} FAILED`] : []),
        ...(skipped > 0 ? [`${skipped} skipped`] : []),
        `${secondsSince(running.get(label) ?? performance.now())} s`,
      ]
      running.delete(label)
      done++
      say(`${failed > 0 ? '✗' : '✓'} ${name} ${done}/${files}: ${message.file} (${counts.join(', ')})`)
    }
    if (message.event === 'totals') totals = message
  }
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const reporter = `--reporter=${join(root, 'scripts/progress-reporter.mjs')}`
  const { code } = await run(process.execPath, { words: [vitest, 'run', reporter, ...words], env, isUrgent, heard })
  for (const label of running.keys()) if (label.startsWith(`${name}: `)) running.delete(label)
  if (totals === undefined) {
    const how = `${name}: vitest ended with ${code} after ${done} of ${files} files`
    return { ...ended, failed: ended.failed + 1, failures: [...failures, how] }
  }
  // A failure that belongs to no test (in a global set-up, or a worker that died) also fails the run.
  if (code !== 0 && totals.failed === 0) {
    return { ...totals, failed: 1, failures: [`${name}: vitest ended with ${code} although no test failed`] }
  }
  return totals
}

function secondsSince(time) {
  return Math.round((performance.now() - time) / 1_000)
}

function minutes(time) {
  const seconds = Math.floor(time / 1_000)
  return `[${String(Math.floor(seconds / 60)).padStart(2)}:${String(seconds % 60).padStart(2, '0')}]`
}
