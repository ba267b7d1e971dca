// The job, the unit and the manifest of docs/guide/operators.md, run as cron, systemd and Kubernetes run them.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestServer } from '@zk/testing'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'

const page = await readFile(new URL('../../docs/guide/operators.md', import.meta.url), 'utf8')
const main = join(inject('consumer'), 'node_modules/@zk/cli/dist/main.js')
/** Processes start slowly on a busy machine. */
const WAIT = { timeout: 30_000 }

let server: TestServer
/** Instead of /usr/bin and /usr/local/bin. */
let folder: string

beforeAll(async () => {
  server = await TestServer.start()
  folder = await mkdtemp(join(tmpdir(), 'zk-operators-'))
  const programs = {
    zk: `exec '${process.execPath}' '${main}' "$@"`,
    backup: 'echo backup runs',
    scheduler: 'echo scheduler runs; while :; do sleep 1; done',
  }
  for (const [name, script] of Object.entries(programs)) {
    await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
    await chmod(join(folder, name), 0o755)
  }
})

afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** Starts a line of the page. */
function start(line: string) {
  const here = line.replaceAll(/\/usr\/(local\/)?bin\//g, `${folder}/`)
  const child = spawn('sh', ['-c', `exec ${here}`], {
    env: { ...process.env, PATH: `${folder}:${process.env['PATH']}`, ZK_CONNECT: server.connectString },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (output += chunk))
  const ended = once(child, 'close').then(([code, signal]) => ({ code: (code ?? signal) as unknown, output }))
  return { child, ended, output: () => output }
}

function found(pattern: RegExp): string {
  return pattern.exec(page)![1]!
}

/** The words of a flow sequence of YAML, for a shell. */
function commandOf(pattern: RegExp): string {
  return found(pattern).replaceAll(',', '')
}

test('the cron job runs on one of two hosts', async () => {
  const job = found(/^0 2 \* \* \* backup (.*)$/m)
  const ends = await Promise.all([start(job).ended, start(job).ended])
  expect(ends.map(({ code }) => code)).toEqual([0, 0])
  expect(ends.filter(({ output }) => output.includes('backup runs'))).toHaveLength(1)
})

test.each([
  ['systemd', () => found(/^ExecStart=(.*)$/m)],
  ['Kubernetes', () => commandOf(/ command: \[('zk', 'elect'.*)\]$/m)],
])('%s runs the program on one of two hosts, and stops it', async (_, line) => {
  const one = start(line())
  await expect.poll(one.output, WAIT).toContain('scheduler runs')
  const other = start(line())
  one.child.kill('SIGTERM')
  expect((await one.ended).code).toBe(Number(found(/^SuccessExitStatus=(.*)$/m)))
  await expect.poll(other.output, WAIT).toContain('scheduler runs')
  other.child.kill('SIGTERM')
  await other.ended
})

test('the probe of the manifest succeeds', async () => {
  const { code, output } = await start(commandOf(/ command: \[('zk', 'health'.*)\]$/m)).ended
  expect(code, output).toBe(0)
})

test('every other command of the page exists, with its options', async () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| ') || line.startsWith('  - run: zk '))
  const lines = rows.flatMap((row) => Array.from(row.matchAll(/(?:`|run: )(zk [^`&]*)/g), ([, line]) => line!))
  expect(lines.length).toBeGreaterThan(8)
  const ends = await Promise.all(lines.map((line) => start(`${line.replace(/[<>].*/, '')} --help`).ended))
  ends.forEach(({ code, output }, index) => expect(code, `${lines[index]}: ${output}`).toBe(0))
})
