import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { describe, expect, onTestFinished, test } from 'vitest'
import { conform } from '../src/command/conform.ts'
import { TestTerminal } from './support/terminal.ts'

async function run(...args: readonly string[]): Promise<{ code: number; output: string; errors: string }> {
  const terminal = new TestTerminal()
  const code = await conform(['client', ...args], terminal)
  return { code, output: terminal.output, errors: terminal.errors }
}

/** A program of Node. Its source contains a word by which its processes can be found. */
function program(source: string): { readonly file: string; readonly isRunning: () => boolean } {
  const folder = mkdtempSync(join(tmpdir(), 'conform-client-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, source)
  return { file, isRunning: () => execFileSync('ps', ['ax', '-o', 'args']).toString().includes(file) }
}

/** A file with an adapter of our client, made from the sources. */
async function bundled(path: string): Promise<string> {
  const { file } = program('')
  const build = await rolldown({
    input: fileURLToPath(new URL(path, import.meta.url)),
    platform: 'node',
    resolve: { conditionNames: ['@zk/source', 'import', 'node'] },
    external: /^node:/,
  })
  await build.write({ file, format: 'esm' })
  await build.close()
  return file
}

/** Sends one handshake of a new session to the first server, and then what is given. */
function plainClient(then: string): string {
  return `
    import { connect } from 'node:net'
    const [host, port] = process.argv[2].split(',')[0].split(':')
    const socket = connect(Number(port), host)
    const hello = Buffer.alloc(49)
    hello.writeInt32BE(45, 0)
    hello.writeInt32BE(2_000, 16)
    hello.writeInt32BE(16, 28)
    socket.on('connect', () => socket.write(hello))
    socket.on('error', () => {})
    ${then}
  `
}

const CALM = ['--situations', 'calm']

describe('conform client', () => {
  test('a client that never pings is found by client/7, without an adapter', async () => {
    const { file, isRunning } = program(plainClient('setInterval(() => {}, 1_000)'))
    const { code, output } = await run(...CALM, '--', 'node', file, '{connect}')
    expect(output).toContain('differs  client/7  MUST: ')
    expect(output).toMatch(/actual {4}calm: connection 1 \(zk1\) was silent from /)
    expect(output).toMatch(/as a client: core \d+ of \d+\n$/)
    expect(code).toBe(1)
    expect(isRunning()).toBe(false)
  })

  test('a baseline knows the clauses of clients', async () => {
    const { file } = program(plainClient('setInterval(() => {}, 1_000)'))
    const baseline = join(file, '..', 'baseline.json')
    const known = { 'client/7': 'it is small', 'client/16': 'it is small' }
    writeFileSync(baseline, JSON.stringify(known))
    const { errors } = await run(...CALM, '--baseline', baseline, '--', 'node', file, '{connect}')
    expect(errors).not.toContain('client/7 differs')
  })

  test('our client as an adapter keeps all that shows', async () => {
    const adapter = await bundled('../adapters/zk-client.mjs')
    const { code, output } = await run('--adapter', '--situations', 'lost write,another session', '--', 'node', adapter)
    expect(output).toMatch(/^as a client: core (\d+) of \1\n$/)
    expect(code).toBe(0)
  })

  test('node-zookeeper-client as an adapter is judged', async () => {
    const adapter = fileURLToPath(new URL('../adapters/node-zookeeper-client.mjs', import.meta.url))
    const { output } = await run('--adapter', ...CALM, '--', 'node', adapter)
    expect(output).toMatch(/as a client: core \d+ of \d+\n$/)
  })

  test.each([
    ['crashes', 'process.exit(7)', 'the adapter ended with exit code 7'],
    [
      'prints text',
      "console.log('hello'); setInterval(() => {}, 1_000)",
      'the adapter printed a line that is not JSON: hello',
    ],
    [
      'answers what was not asked',
      'console.log(\'{"id": 99}\'); setInterval(() => {}, 1_000)',
      'the adapter answered 99',
    ],
  ])('an adapter that %s is named, and leaves no process', async (_, source, message) => {
    const { file, isRunning } = program(source)
    const { code, errors } = await run('--adapter', ...CALM, '--', 'node', file)
    expect(errors).toContain(message)
    expect(code).toBe(4)
    expect(isRunning()).toBe(false)
  })

  test('a program that ignores SIGTERM, and its children, are killed', async () => {
    const { file, isRunning } = program(`
      import { spawn } from 'node:child_process'
      process.on('SIGTERM', () => {})
      if (process.argv[3] === undefined) spawn(process.execPath, [process.argv[1], '', 'child'])
      console.log('no JSON')
      setInterval(() => {}, 1_000)
    `)
    const { code } = await run('--adapter', ...CALM, '--', 'node', file)
    expect(code).toBe(4)
    await expect.poll(isRunning).toBe(false)
  })

  test('a program that ends before it connects is named', async () => {
    const { code, errors } = await run(...CALM, '--', 'node', '-e', 'process.exit(3)', '{connect}')
    expect(errors).toContain('calm: the program ended with exit code 3')
    expect(code).toBe(4)
  })

  test.each([
    [['--', 'node', 'x.js'], 'the command needs {connect}'],
    [['--adapter'], 'it needs a command'],
    [['--', '/no/such/program', '{connect}'], '/no/such/program cannot be run'],
    [['--situations', 'storm', '--', 'node', '{connect}'], "there is no situation 'storm'"],
    [['--situations', 'gap', '--', 'node', '{connect}'], "the situation 'gap' needs --adapter"],
    [['--for', '0', '--', 'node', '{connect}'], '--for must be a number of seconds above 0'],
  ])('%j is wrong usage', async (args, message) => {
    const { code, errors } = await run(...args)
    expect(errors).toContain(message)
    expect(code).toBe(2)
  })
})
