// `zk serve` and `zk conform` as processes: no real server is needed.
import { fileURLToPath } from 'node:url'
import { connect, KeeperError } from '@zk/client'
import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../src/ensemble/index.ts'
import { startZk, type ZkCommand } from './support/zk-command.ts'

const HERE = fileURLToPath(new URL('..', import.meta.url))

function serve(words: string[], input = ''): ZkCommand {
  return startZk([], '/', ['serve', '--tick', '100ms', ...words], input)
}

test('zk serve prints the connect string, obeys lines by HTTP, and ends with 0 when it is told to', async () => {
  const run = serve(['--http', '0', '--release', '3.8'])
  await until('two lines', () => Promise.resolve(run.data().split('\n').length > 2))
  const [connectString = '', url = ''] = run.data().split('\n')
  const post = async (line: string): Promise<unknown> => (await fetch(url, { method: 'POST', body: line })).json()
  await using zk = await connect(connectString)

  expect(await post('lose-reply op=create path=/orders')).toEqual({ version: 1, ok: true, rule: 1 })
  const error = await zk.create('/orders').catch((error: unknown) => error)
  expect(KeeperError.is(error, 'ConnectionLoss')).toBe(true)
  const history = await fetch(`${url}/history?op=create&path=/orders`)
  expect(await history.json()).toMatchObject({
    ok: true,
    entries: [{ op: 'create2', path: '/orders' }, { fault: 'loseReply' }],
  })
  expect(await (await fetch(url)).json()).toMatchObject({ connectString, members: [{}, {}, {}] })
  expect(await post('kill zk9')).toMatchObject({ ok: false, error: expect.stringContaining('zk9') })
  const wrong = await fetch(url, { method: 'POST', body: 'kil zk1' })
  expect([wrong.status, (await fetch(url, { headers: { origin: 'http://x' } })).status]).toEqual([400, 403])
  expect((await fetch(`${url}/other`)).status).toBe(404)

  run.child.kill('SIGTERM')
  expect(await run.ended).toBe(0)
  expect(run.output()).toContain('this is a test double of ZooKeeper')
})

test('zk serve answers each line, and with --until-eof ends when a pipe does', async () => {
  const run = serve(['--members', '1', '--until-eof'], 'members\nkil zk1\nkill zk1\n\nmembers\n')
  expect(await run.ended).toBe(0)
  const [address = '', ...lines] = run.data().split('\n')
  expect(lines).toEqual([
    `zk1 ${address} standalone`,
    'ok',
    'error there is no kil: did you mean kill? (help lists what can be said)',
    'ok',
    `zk1 ${address} down`,
    'ok',
    '',
  ])
})

test('zk serve --json prints a document first, and one for each line', async () => {
  const run = serve(['--members', '1', '--until-eof', '--json'], 'serving\ncreate\n')
  expect(await run.ended).toBe(0)
  const documents = run
    .data()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as object)
  expect(documents).toMatchObject([
    { version: 1, connectString: expect.any(String), members: [{ name: 'zk1' }], pid: run.child.pid },
    { version: 1, ok: true, leader: 'zk1' },
    { version: 1, ok: false, error: 'it needs a path: create PATH [DATA]' },
  ])
})

const WRONG: readonly (readonly [words: string[], message: string])[] = [
  [['host=0.0.0.0'], 'host cannot be given as NAME=VALUE: see zk serve --help'],
  [['--release', '3.4'], 'release must be one of 3.5, 3.6'],
  [['--port', '65534'], '--port is at most 65533 for 3 members, not 65534'],
  [['extendedTypes=true'], 'unknown option extendedTypes'],
]

test('zk serve refuses wrong options', async () => {
  const refused = WRONG.map(async ([words, message]) => {
    const run = serve(words)
    expect(await run.ended).toBe(64)
    expect(run.output()).toContain(message)
  })
  await Promise.all(refused)
})

test('zk conform passes arguments and exit code on, and says how to install it where it is not', async () => {
  const installed = startZk([], '/', ['conform', 'list', 'no-such-chapter'], '', { cwd: HERE })
  expect(await installed.ended).toBe(2)
  expect(installed.output()).toContain("conform: there is no chapter 'no-such-chapter'")
  const unread = startZk([], '/', ['conform', 'list'], '', { cwd: HERE })
  unread.child.stdout?.destroy()
  expect(await unread.ended).toBe(0)
  expect(unread.output()).toBe('')
  // Of the program that has started vitest.
  vi.stubEnv('NODE_PATH', '')
  onTestFinished(() => void vi.unstubAllEnvs())
  const missing = startZk([], '/', ['conform', '--help'], '', { cwd: '/' })
  expect(await missing.ended).toBe(64)
  expect(missing.output()).toBe('zk: @zk/conform is not installed: npm install @zk/conform\n')
})
