// The packed @zk/cli on every runtime, and as a single executable.
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { TestServer } from '@zk/testing'
import { afterAll, beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { runtimes } from '../../test-integration/test/support/runtimes.ts'

const main = join(inject('consumer'), 'node_modules/@zk/cli/dist/main.js')

let server: TestServer
let folder: string
let executable: string | undefined

beforeAll(async () => {
  server = await TestServer.start()
  folder = await mkdtemp(join(tmpdir(), 'zk-executable-'))
  const bun = runtimes.find(({ name }) => name === 'Bun')
  if (bun === undefined) return
  executable = join(folder, 'zk')
  // The command of the README.
  await promisify(execFile)(bun.program, ['build', '--compile', main, '--outfile', executable])
})

afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

const programs = [
  ...runtimes.map(({ name, program, args }) => ({ name, words: () => [program, ...args, main] })),
  ...runtimes
    .filter(({ name }) => name === 'Bun')
    .map(() => ({ name: 'a single executable', words: () => [executable!] })),
]

test('npx runs it, and it is one file of at most 400 kB', async () => {
  const { stdout } = await promisify(execFile)('npx', ['--offline', '@zk/cli', '--help'], { cwd: inject('consumer') })
  expect(stdout).toContain('Usage: zk COMMAND')
  const version = promisify(execFile)(process.execPath, [main, '--version'])
  expect((await version).stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  expect((await stat(main)).size).toBeLessThan(400_000)
})

test.each(programs)('$name: zk lock ends with the exit code of its command', async ({ words }) => {
  const [program = '', ...args] = words()
  const child = spawn(program, [...args, 'lock', '/exit', '-c', server.connectString, '--', 'sh', '-c', 'exit 7'])
  expect(await once(child, 'close')).toEqual([7, null])
})

test.each(programs)('$name: the command ends when zk lock is killed', async ({ name, words }) => {
  const [program = '', ...args] = words()
  const script = 'echo runs; while :; do sleep 1; done'
  const lock = ['lock', `/killed-${name}`, '-c', server.connectString, '--', 'sh', '-c', script]
  const child = spawn(program, [...args, ...lock], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  // The pipe ends with the last process that could write to it.
  await once(child.stdout.resume(), 'end')
})
