import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { TestEnsemble } from '@zk/testing'
import { parseReport } from '@zk/conform/internal'
import { conform } from '../src/command/conform.ts'
import { TestTerminal } from './support/terminal.ts'

async function run(...args: readonly string[]): Promise<{ code: number; output: string; errors: string }> {
  const terminal = new TestTerminal()
  const code = await conform(args, terminal)
  return { code, output: terminal.output, errors: terminal.errors }
}

async function newServer(): Promise<TestEnsemble> {
  const server = await TestEnsemble.start({ members: 1 })
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'conform-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

/** The children besides those of ZooKeeper itself. */
function childrenOn(server: TestEnsemble, path = '/'): readonly string[] {
  return server.nodes.get(path)!.children.filter((name) => name !== 'zookeeper')
}

const CLAUSES = ['watches/1', 'watches/2']

describe('conform', () => {
  test('a server that keeps all clauses has exit code 0, and nothing is left on it', async () => {
    const server = await newServer()
    const { code, output } = await run('run', ...CLAUSES, server.connectString)
    expect(output).toMatch(/core 2 of 2\n$/)
    expect(code).toBe(0)
    expect(childrenOn(server)).toEqual([])
    expect(server.sessions.list()).toEqual([])
  })

  test('a difference is named with its clause, and has exit code 1', async () => {
    const server = await newServer()
    server.faults.fail({ op: 'setData', code: 'NotEmpty', times: Infinity })
    const { code, output } = await run('run', ...CLAUSES, server.connectString)
    expect(output).toContain('differs  watches/1  MUST: ')
    expect(output).toContain('expected  NodeDataChanged')
    expect(output).toMatch(/core 1 of 2\n$/)
    expect(code).toBe(1)
  })

  test('Ctrl-C leaves nothing on the server', async () => {
    const server = await newServer()
    const terminal = new TestTerminal()
    terminal.onStatus = () => terminal.interrupt()
    expect(await conform(['--profile', 'core', server.connectString], terminal)).toBe(130)
    expect(terminal.errors).toBe('conform: interrupted; what was created on the server is deleted\n')
    expect(childrenOn(server)).toEqual([])
    expect(server.sessions.list()).toEqual([])
  })

  test('everything is created below the node of the connect string', async () => {
    const server = await newServer()
    server.nodes.create('/tests')
    await run('run', ...CLAUSES, `${server.connectString}/tests`)
    expect(server.nodes.get('/tests')!.stat.cversion).toBeGreaterThan(0)
    expect(childrenOn(server)).toEqual(['tests'])
    expect(childrenOn(server, '/tests')).toEqual([])
  })

  test('reports are written into files', async () => {
    const server = await newServer()
    const folder = newFolder()
    const file = (name: string): string => join(folder, name)
    const reports = ['json', 'junit', 'markdown', 'html'].flatMap((name) => [`--${name}`, file(name)])
    expect((await run('run', ...CLAUSES, server.connectString, ...reports)).code).toBe(0)
    const [first = ''] = readFileSync(file('json'), 'utf8').split('\n')
    expect(JSON.parse(first)).toMatchObject({ type: 'run', schema: 1, at: '2026-01-01T00:00:00.000Z' })
    expect(readFileSync(file('junit'), 'utf8')).toContain(
      '<testsuite name="watches" tests="2" failures="0" skipped="0">',
    )
    expect(readFileSync(file('markdown'), 'utf8')).toContain('Every clause that was tried is kept.')
    expect(readFileSync(file('html'), 'utf8')).toContain('<td class="equal">equal</td>')

    const { code, output } = await run('compare', file('json'), file('json'), '--html', '-')
    expect(code).toBe(0)
    expect(output.match(/<td class="equal">/g)).toHaveLength(4)
  })

  test('a baseline hides known differences, and reports those that are gone', async () => {
    const server = await newServer()
    const fault = server.faults.fail({ op: 'setData', code: 'NotEmpty', times: Infinity })
    const baseline = join(newFolder(), 'baseline.json')
    await run('run', ...CLAUSES, server.connectString, '--write-baseline', baseline)
    expect(readFileSync(baseline, 'utf8')).toBe('{\n  "watches/1": "say why"\n}\n')
    expect((await run('run', ...CLAUSES, server.connectString, '--baseline', baseline)).code).toBe(0)
    fault.remove()
    const { code, errors } = await run('run', ...CLAUSES, server.connectString, '--baseline', baseline)
    expect(errors).toBe('conform: watches/1 does not differ any more: remove it from the baseline\n')
    expect(code).toBe(1)
  })

  test('random programs show a difference, shortened, with the command that shows it again', async () => {
    const server = await newServer()
    server.faults.fail({ op: 'setData', code: 'NotEmpty', times: Infinity })
    const folder = newFolder()
    const names = ['json', 'junit', 'markdown', 'html', 'write-baseline']
    const files = names.map((name) => join(folder, name))
    const reports = names.flatMap((name, index) => [`--${name}`, files[index]!])
    const fuzzed = ['--fuzz', '1', '--seed', '5', '--super', 'super:secret']
    const { code, output } = await run(server.connectString, ...fuzzed, ...reports)
    expect(output).toMatch(/^differs {2}setData: .* → NotEmpty/)
    expect(output).toMatch(/received [0-9a-f]{40}/)
    expect(output).toMatch(/as 3\.9\.6: programs 0 of 1 \(from seed 5\)\n$/)
    expect(output).not.toContain('super:secret')
    expect(code).toBe(1)
    expect(childrenOn(server)).toEqual([])
    expect(server.sessions.list()).toEqual([])

    const [json = '', junit = '', markdown = '', html = '', baseline = ''] = files.map((file) =>
      readFileSync(file, 'utf8'),
    )
    const kind = Object.keys(JSON.parse(baseline) as object)[0]!.replace('programs: ', '')
    expect(parseReport(json).findings[0]).toMatchObject({ kind, program: { steps: expect.any(Array) } })
    expect(junit).toContain('<testsuite name="programs" tests="2" failures="1" skipped="0">')
    expect(markdown).toContain(`## ${kind}`)
    expect(html).toContain('<h2 class="differs">')

    const again = /play it alone: conform (.*)/.exec(output)![1]!.replace('USER:PASS', 'super:secret').split(' ')
    expect((await run(...again)).output).toContain(`differs  ${kind}\n`)
    expect((await run(...again, '--baseline', files.at(-1)!)).code).toBe(0)
  })

  test('Ctrl-C in a random program leaves nothing on the server', async () => {
    const server = await newServer()
    const terminal = new TestTerminal()
    terminal.onStatus = () => terminal.interrupt()
    expect(await conform([server.connectString, '--fuzz', '100'], terminal)).toBe(130)
    expect(childrenOn(server)).toEqual([])
    expect(server.sessions.list()).toEqual([])
  })

  test('two servers are compared with each other', async () => {
    const [one, other] = [await newServer(), await newServer()]
    const { code, output } = await run(one.connectString, '--fuzz', '2', '--oracle', other.connectString)
    expect(output).toMatch(/^as 127\.0\.0\.1:\d+: programs 2 of 2/)
    expect(code).toBe(0)
  })

  test('a server that cannot be reached has exit code 3', async () => {
    const { code, errors } = await run('127.0.0.1:1')
    expect(errors).toContain('nothing accepts connections at 127.0.0.1:1')
    expect(code).toBe(3)
  })

  test('list and explain', async () => {
    expect((await run('list', 'watches')).output).toContain('  watches/1 ')
    expect((await run('explain', 'watches/1')).output).toContain('source    ')
  })

  test.each([
    [[], 'it needs the address of a server'],
    [['--prof', 'core'], 'there is no option --prof: did you mean --profile?'],
    [['a:1', '--profile', 'cor'], "there is no profile 'cor'"],
    [['a:1', '--as', '3.4'], '--as 3.4: it is one of 3.5.10'],
    [['a:1', '--super', 'secret'], '--super needs a name and a password'],
    [['a:1', '--timeout', '0'], '--timeout must be a number of seconds above 0'],
    [['a:1', '--kill', 'kill {n}'], '--kill and --start belong together'],
    [['a:1', '--kill', 'kill', '--start', 'start {n}'], '--kill needs {n}'],
    [['a:1', 'b:2'], "'b:2' is too much"],
    [['a:x'], 'connectString'],
    [['list', 'nothing'], "there is no chapter 'nothing'"],
    [['explain', 'watches/9999'], "there is no clause 'watches/9999'"],
    [['run', 'watches/9999', 'a:1'], "there is no clause 'watches/9999'"],
    [['run', 'a:1'], 'it needs clauses and a server'],
    [['compare', 'none.json', '--html', '-'], 'none.json: ENOENT'],
    [['a:1', '--fuzz', '0'], '--fuzz must be an integer from 1 to 1000000'],
    [['a:1', '--fuzz', '9', '--seed', 'x'], '--seed must be an integer from 0 to 2147483647'],
    [['a:1', '--seed', '1'], '--seed needs --fuzz N'],
    [['a:1', '--oracle', 'b:1'], '--oracle needs --fuzz N'],
    [['a:1', '--fuzz', '2', '--seed', '1', '--only', '3'], '--only is about one program'],
    [['a:1', '--fuzz', '1', '--seed', '1', '--only', '3-'], '--only needs numbers such as 0-2,17'],
    [['a:1', '--fuzz', '9', '--profile', 'core'], '--profile does not go with --fuzz'],
    [['a:1', '--fuzz', '9', '--as', '3.4.1'], '--as 3.4.1: it is one of'],
    [['a:1', '--fuzz', '9', '--super', 'root:x'], 'the superuser of our own servers is called super'],
    [['run', 'watches/1', 'a:1', '--fuzz', '9'], '--fuzz needs the address of a server, and nothing else'],
  ])('%j is wrong usage', async (args, message) => {
    const { code, errors } = await run(...args)
    expect(errors).toContain(message)
    expect(errors).toContain('See `conform --help`.')
    expect(code).toBe(2)
  })

  test.each([
    ['{', 'it is not JSON'],
    ['[]', 'it must be an object'],
    ['{"watches/9999": "x"}', 'there is no clause watches/9999'],
    ['{"watches/1": " "}', 'watches/1 needs a reason'],
  ])('the baseline %s is refused before anything is sent', async (text, message) => {
    const file = join(newFolder(), 'baseline.json')
    writeFileSync(file, text)
    const { code, errors } = await run('127.0.0.1:1', '--baseline', file)
    expect(errors).toContain(message)
    expect(code).toBe(2)
  })
})
