// The pages of docs/guide show code that is compiled and run.
import type { KeeperErrorCode } from '@zk/client'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  Barrier,
  connect,
  ConnectError,
  Counter,
  DoubleBarrier,
  Group,
  type Held,
  isTransient,
  KeeperError,
  LeaderElection,
  Lock,
  LostError,
  type LostErrorCode,
  RecipeError,
  type RecipeErrorCode,
  SharedLock,
  WaitTimeoutError,
  type WaitTimeoutErrorCode,
  type ZooKeeper,
} from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { ErrorCode } from '@zk/wire'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createOnce, readOrDefault, untilAnswered, whyNot } from '../src/guide/errors.ts'
import { connectWithRetry, followChildren, latch, onExpired } from '../src/guide/migrating.ts'
import { connectSafely, followEvents, handOver, moveMoney, moveServers } from '../src/guide/client.ts'
import { billOnce, reportUntil, type Store } from '../src/guide/production.ts'
import {
  followSettings,
  importTogether,
  lead,
  migrate,
  searchAndRebuild,
  sendReport,
  takeTicket,
  writeInParts,
} from '../src/guide/recipes.ts'
import { connectWithLog } from '../src/guide/logs.ts'
import { billAlone } from '../src/guide/security.ts'
import { logStates } from '../src/guide/states.ts'

const root = new URL('../../', import.meta.url)
const read = (path: string) => readFileSync(new URL(path, root), 'utf8')
const guide = readdirSync(new URL('docs/guide/', root)).map((name) => `docs/guide/${name}`)
/** Their first block is compiled and run by a test of the package. */
const readmes = ['packages/client/README.md', 'packages/recipes/README.md']
/** Their code runs with the packed packages: see test-packages. */
const packed = ['docs/guide/commonjs.md', 'docs/guide/deno.md']
const pages = ['README.md', ...guide, 'docs/recipes.md', ...readmes, 'packages/opentelemetry/README.md']

/** The code between `// #region name` and `// #endregion`. */
function region(path: string, name: string): string | undefined {
  return new RegExp(`^// #region ${name}\\n([^]*?)\\n// #endregion$`, 'm').exec(read(path))?.[1]
}

describe.each(pages)('%s', (page) => {
  test('shows code exactly as a compiled file has it', () => {
    if (packed.includes(page)) return
    const blocks = [...read(page).matchAll(/(?:<!-- (\S+)#(\S+) -->\n)?```ts\n([^]*?)\n```/g)]
    if (readmes.includes(page)) blocks.shift()
    for (const [, path, name, shown] of blocks) {
      expect(path, `this block comes from no file:\n${shown}`).toBeDefined()
      expect(shown).toBe(region(path!, name!))
    }
  })

  test('links to files that exist', () => {
    for (const [, target] of read(page).matchAll(/\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)/g)) {
      expect(existsSync(new URL(target!, new URL(page, root))), target).toBe(true)
    }
  })
})

describe('docs/guide/errors.md', () => {
  const rows = read('docs/guide/errors.md')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|'))
  const codesOf = (row: readonly string[]) => [...row[1]!.matchAll(/`(\w+)`/g)].map((match) => match[1]!)

  /** The rows of the section with this title. */
  function rowsOf(title: string): string[] {
    const [, section] = read('docs/guide/errors.md').split(`# ${title}\n`)
    const lines = section!.split('\n## ')[0]!.split('\n')
    return lines.filter((line) => line.startsWith('| `')).flatMap((line) => codesOf(line.split('|')))
  }

  test('has a row for every class, and every code of it', () => {
    const codes = Object.keys(ErrorCode).filter((name) => name !== 'Ok')
    const ours: Record<Exclude<KeeperErrorCode, keyof typeof ErrorCode>, true> = {
      Closed: true,
      QueueFull: true,
      NoUsableServer: true,
      RequestTooLarge: true,
      ResponseTooLarge: true,
      InvalidResponse: true,
      Unknown: true,
    }
    const lost: Record<LostErrorCode, true> = {
      Released: true,
      Downgraded: true,
      LeaseLost: true,
      Disconnected: true,
      SessionExpired: true,
      Closed: true,
      NodeGone: true,
      NameTaken: true,
      Refused: true,
    }
    const waits: Record<WaitTimeoutErrorCode, true> = {
      LockHeld: true,
      SlowAnswers: true,
      BarrierSet: true,
      MembersMissing: true,
      MembersPresent: true,
      NameTaken: true,
    }
    const recipes: Record<RecipeErrorCode, true> = { WouldDeadlock: true, PermitsDiffer: true, MirrorTooLarge: true }
    const unreached: ConnectError['code'] = 'NoServerReached'
    expect(rowsOf('Every code of a KeeperError').sort()).toEqual([...codes, ...Object.keys(ours)].sort())
    expect(rowsOf('Why a lock was lost').sort()).toEqual(Object.keys(lost).sort())
    expect(rowsOf('What a call waited for').sort()).toEqual(Object.keys(waits).sort())
    expect(rowsOf('What a recipe cannot do').sort()).toEqual(Object.keys(recipes).sort())
    for (const { name } of [KeeperError, ConnectError, LostError, WaitTimeoutError, RecipeError])
      expect(rowsOf('Errors')).toContain(name)
    expect(read('docs/guide/errors.md')).toContain(`\`${unreached}\``)
  })

  test('says "yes" for exactly the codes that isTransient knows', () => {
    const ofCodes = rows.filter((row) => row.length === 6)
    for (const row of ofCodes) {
      for (const code of codesOf(row)) {
        const error = new KeeperError(code as KeeperErrorCode)
        expect([code, row[3]!.trim().startsWith('yes')]).toEqual([code, isTransient(error)])
      }
    }
    expect(ofCodes.length).toBeGreaterThan(30)
    expect(isTransient(new Error('ConnectionLoss'))).toBe(false)
  })
})

describe('The guide', () => {
  let ensemble: TestEnsemble
  let zk: ZooKeeper

  beforeEach(async () => {
    ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
    zk = await connect(ensemble.connectString)
  })
  afterEach(async () => {
    await zk.close()
    await ensemble.close()
  })

  test('reads or takes the default', async () => {
    expect(await readOrDefault(zk, '/config')).toBe('the default')
    await zk.create('/config', 'one')
    expect(await readOrDefault(zk, '/config')).toBe('one')
    await expect(readOrDefault(zk, 'config')).rejects.toThrow()
  })

  test('tells why a call failed', async () => {
    await new Lock(zk, '/lock').acquire()
    await new Group(zk, '/group').join({ name: 'a' })
    const error = (calling: Promise<unknown>) => calling.catch((reason: unknown) => reason)
    expect(whyNot(await error(new Lock(zk, '/lock').acquire({ timeout: 0 })))).toBe('busy: 1 ahead')
    expect(whyNot(await error(new Group(zk, '/group').join({ name: 'a', timeout: 0 })))).toMatch(/^in use since 20/)
    expect(whyNot(await error(zk.getData('/missing')))).toBe('failed: NoNode')
    expect(() => whyNot(new Error('other'))).toThrow('other')
  })

  test('takes each ticket once, until they are sold out', async () => {
    const tickets = new Counter(zk, '/tickets')
    await tickets.add(3n)
    const taken = await Promise.all([takeTicket(tickets), takeTicket(tickets), takeTicket(tickets)])
    expect(taken).toEqual([3n, 2n, 1n])
    await expect(takeTicket(tickets)).rejects.toThrow('sold out')
  })

  test('sends the report of a date once', async () => {
    const sent: string[] = []
    const send = (date: string) => sendReport(zk, date, async () => void sent.push(date))
    expect(await send('2026-11-27')).toBe('sent')
    expect(await send('2026-11-27')).toBe('sent by host-1')
    expect(await send('2026-11-28')).toBe('sent')
    expect(sent).toEqual(['2026-11-27', '2026-11-28'])
  })

  test('searches together, and rebuilds alone', async () => {
    const steps: string[] = []
    const step = (name: string) => async () => {
      steps.push(`${name} begins`)
      await zk.sync('/')
      steps.push(`${name} ends`)
    }
    await searchAndRebuild(new SharedLock(zk, '/index'), step('search'), step('rebuild'))
    expect(steps).toHaveLength(6)
    expect(steps.indexOf('rebuild ends') - steps.indexOf('rebuild begins')).toBe(1)
  })

  test('lets nobody pass while it migrates', async () => {
    const barrier = new Barrier(zk, '/migrating')
    const steps: string[] = []
    await migrate(barrier, async () => {
      void barrier.wait().then(() => steps.push('passed'))
      await zk.sync('/')
      steps.push('migrated')
    })
    await expect.poll(() => steps).toEqual(['migrated', 'passed'])
  })

  test('follows settings until its signal aborts', async () => {
    await zk.create('/settings')
    await zk.create('/settings/limit', '1')
    const stopping = new AbortController()
    const used: (readonly (string | undefined)[])[] = []
    const following = followSettings(zk, (...setting) => used.push(setting), stopping.signal)
    await vi.waitFor(() => expect(used).toContainEqual(['/settings/limit', '1']))
    await zk.setData('/settings/limit', '2')
    await vi.waitFor(() => expect(used.at(-1)).toEqual(['/settings/limit', '2']))
    await zk.delete('/settings/limit')
    await vi.waitFor(() => expect(used.at(-1)).toEqual(['/settings/limit']))
    stopping.abort()
    await following
  })

  test('imports together', async () => {
    const steps: string[] = []
    const part = (name: string) =>
      importTogether(new DoubleBarrier(zk, '/import', { size: 2 }), async () => void steps.push(name))
    await Promise.all([part('one'), part('two')])
    expect(steps.sort()).toEqual(['one', 'two'])
    await expect(
      Promise.all(
        [() => Promise.reject(new Error('no')), () => Promise.resolve()].map((work) =>
          importTogether(new DoubleBarrier(zk, '/import', { size: 2 }), work),
        ),
      ),
    ).rejects.toThrow('no')
  })

  const { signal } = new AbortController()

  test('creates once, though the answer is lost', async () => {
    const lost = ensemble.faults.loseReply({ op: 'create', path: '/order' })
    await createOnce(zk, '/order', 'uuid 1', signal)
    expect(lost.count).toBe(1)
    expect(ensemble.nodes.get('/order')?.data).toEqual(new TextEncoder().encode('uuid 1'))
  })

  test('creates once, though the request is lost', async () => {
    ensemble.faults.loseRequest({ op: 'create', path: '/order' })
    await createOnce(zk, '/order', 'uuid 1', signal)
    expect(ensemble.nodes.get('/order')).toBeDefined()
  })

  test('creates once, though the server is busy before and after its answer is lost', async () => {
    ensemble.faults.fail({ op: 'create', path: '/order', code: 'OperationTimeout' })
    const lost = ensemble.faults.loseReply({ op: 'create', path: '/order' })
    const busy = ensemble.faults.fail({ op: 'getData', path: '/order', code: 'OperationTimeout' })
    await createOnce(zk, '/order', 'uuid 1', signal)
    expect([lost.count, busy.count]).toEqual([1, 1])
    expect(ensemble.nodes.get('/order')?.data).toEqual(new TextEncoder().encode('uuid 1'))
  })

  test('reads until there is an answer, or the signal aborts', async () => {
    ensemble.faults.fail({ op: 'getData', path: '/', code: 'OperationTimeout' })
    await untilAnswered(() => zk.getData('/'), signal)
    await expect(untilAnswered(() => zk.getData('/none'), signal)).rejects.toMatchObject({ code: 'NoNode' })
    const stopping = new AbortController()
    const failing = ensemble.faults.fail({ op: 'getData', path: '/', code: 'OperationTimeout', times: Infinity })
    const reading = untilAnswered(() => zk.getData('/'), stopping.signal)
    await failing.fired
    stopping.abort()
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' })
  })

  test.each([
    ['of another program', 'uuid 2'],
    ['with the same data, that was there before', 'uuid 1'],
  ])('does not take a node %s for its own', async (_, data) => {
    await zk.create('/order', data)
    await expect(createOnce(zk, '/order', 'uuid 1', signal)).rejects.toMatchObject({ code: 'NodeExists' })
  })

  test('connects with retries', async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warnings.mockRestore())
    const { signal } = new AbortController()
    const connected = await connectWithRetry(ensemble.connectString, signal)
    await connected.close()
    expect(warnings).not.toHaveBeenCalled()
    await expect(connectWithRetry('no server', signal)).rejects.toThrow(TypeError)
  })

  test('follows children into the next session, and ends when its client is closed', async () => {
    const [latest, path] = [vi.fn(), '/workers']
    await zk.create(path)
    await zk.create(`${path}/mine`, '', { mode: 'EPHEMERAL' })
    const following = followChildren(zk, path, latest)
    await expect.poll(() => latest.mock.lastCall).toEqual([['mine']])
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => latest.mock.lastCall).toEqual([[]])
    await zk.create(`${path}/again`, '', { mode: 'EPHEMERAL' })
    await expect.poll(() => latest.mock.lastCall).toEqual([['again']])
    await zk.close() // deletes the node first, which wakes the loop
    await following
  })

  test('leads again after a loss, as a LeaderLatch does, until it is to close', async () => {
    const steps: string[] = []
    const closing = new AbortController()
    const listener = { isLeader: () => void steps.push('leads'), notLeader: () => void steps.push('ends') }
    const latching = latch(new LeaderElection(zk, '/leader'), listener, closing.signal)
    await expect.poll(() => steps).toEqual(['leads'])
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => steps).toEqual(['leads', 'ends', 'leads'])
    closing.abort()
    await latching
    expect(steps).toEqual(['leads', 'ends', 'leads', 'ends'])
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('logs states', async () => {
    const lines: string[] = []
    const log = (line: unknown) => void lines.push(String(line))
    const spies = [vi.spyOn(console, 'info').mockImplementation(log), vi.spyOn(console, 'warn').mockImplementation(log)]
    onTestFinished(() => {
      for (const spy of spies) spy.mockRestore()
    })
    const logging = logStates(zk)
    for (const { connections } of ensemble.members) for (const connection of connections) connection.reset()
    await expect.poll(() => lines).toHaveLength(3)
    await zk.close()
    await logging
    expect(lines).toEqual(['connected', expect.stringMatching(/^no server: /), 'connected', 'closed'])
  })

  test('logs lines of JSON', async () => {
    const lines = vi.spyOn(console, 'log').mockImplementation(() => {})
    onTestFinished(() => lines.mockRestore())
    await (await connectWithLog(ensemble.connectString)).close()
    const logged = lines.mock.calls.map(([line]) => (JSON.parse(String(line)) as { message: string }).message)
    expect(logged).toContain('zk: session established')
  })

  test('bills once, with a fence, and stops when its lock is lost', async () => {
    const billed: string[] = []
    const fences: string[] = []
    const store: Store = {
      customers: ({ fence }) => {
        fences.push(fence)
        return Promise.resolve(['ann', 'bob'])
      },
      bill: (customer, { fence }) => {
        fences.push(fence)
        billed.push(customer)
        return Promise.resolve()
      },
    }
    await billOnce(zk, store, signal)
    expect(billed).toEqual(['ann', 'bob'])
    expect(fences).toEqual(Array.from({ length: 3 }, () => expect.stringMatching(/^[0-9a-f]{16}$/) as string))

    const stuck: Store = {
      ...store,
      customers: async ({ signal }) => {
        ensemble.sessions.expire(zk.session.id)
        await once(signal, 'abort')
        return ['eve']
      },
    }
    await expect(billOnce(zk, stuck, signal)).rejects.toThrow(LostError)
    expect(billed).toEqual(['ann', 'bob'])
  })

  test('calls the listener with SessionExpired when the session has expired', async () => {
    const expired = vi.fn()
    onExpired(zk, expired)
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => expired.mock.calls).toMatchObject([[{ code: 'SessionExpired' }]])
  })

  test('bills under a lock that a stranger can neither see nor break', async () => {
    const bill = async () => {
      for (const path of ['/locks', '/locks/billing']) {
        await expect(zk.getChildren(path)).rejects.toMatchObject({ code: 'NoAuth' })
        await expect(zk.create(`${path}/x`)).rejects.toMatchObject({ code: 'NoAuth' })
      }
      await expect(new Lock(zk, '/locks/billing').acquire()).rejects.toMatchObject({ code: 'NoAuth' })
    }
    await billAlone(ensemble.connectString, 'secret', bill)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('ends the report when the program stops, and releases its lock', async () => {
    const stopping = new AbortController()
    const signals: AbortSignal[] = []
    const report = async (signal: AbortSignal) => {
      signals.push(signal)
      await once(signal, 'abort')
    }
    const lock = new Lock(zk, '/locks/report')
    const reporting = reportUntil(stopping.signal, lock, report)
    await expect.poll(() => signals).toHaveLength(1)
    const reason = new Error('SIGTERM')
    const waiting = expect(reportUntil(stopping.signal, lock, report)).rejects.toBe(reason)
    await expect.poll(() => ensemble.nodes.get('/locks/report')?.children).toHaveLength(2)
    stopping.abort(reason)
    await Promise.all([reporting, waiting])
    expect(signals).toHaveLength(1)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('changes two nodes, or none', async () => {
    for (const name of ['ann', 'bob']) await zk.create(`/accounts/${name}`, '100', { parents: true })
    await moveMoney(zk, 0, 0)
    await expect(moveMoney(zk, 1, 0)).rejects.toMatchObject({ code: 'BadVersion', index: 1 })
    const balances = ['ann', 'bob'].map((name) => String(ensemble.nodes.get(`/accounts/${name}`)!.data))
    expect(balances).toEqual(['90', '110'].map((text) => String(new TextEncoder().encode(text))))
  })

  test('reads again where events may have been missed', async () => {
    const lines = vi.spyOn(console, 'log').mockImplementation(() => {})
    onTestFinished(() => lines.mockRestore())
    const readAgain = vi.fn(() => Promise.resolve())
    const following = followEvents(zk, readAgain)
    await zk.create('/config/one', '', { parents: true })
    await expect.poll(() => lines.mock.calls).toContainEqual(['NodeCreated', '/config/one'])
    expect(readAgain).not.toHaveBeenCalled()
    for (const connection of ensemble.members[0]!.connections) connection.reset()
    await expect.poll(() => readAgain.mock.calls.length).toBe(1)
    await zk.close()
    await following
  })

  test('stays where it is when no server of another list is of use', async () => {
    const { connection } = zk.session
    // Nothing listens there, and the ensemble's configuration has no address for clients.
    const moving = moveServers(zk, '127.0.0.1:1', new AbortController().signal)
    await expect(moving).rejects.toMatchObject({ code: 'NoUsableServer' })
    expect(zk.session.connection).toBe(connection)
  })

  test('hands its session over', async () => {
    const { id } = zk.session
    await zk.create('/members', '', { mode: 'EPHEMERAL' })
    const next = await handOver(zk, ensemble.connectString)
    expect(next.session.id).toBe(id)
    expect(ensemble.nodes.get('/members')?.stat.ephemeralOwner).toBe(id)
    await next.close()
  })

  test('connects with certificates, and says which file is missing', async () => {
    const connecting = connectSafely(ensemble.connectString, 'secret', { connectTimeout: 100 })
    const error: unknown = await connecting.catch((reason: unknown) => reason)
    expect(ConnectError.is(error) && error.message).toContain("'ca.pem'")
  })

  test('writes in parts while it holds the lock, and releases it', async () => {
    const lock = new Lock(zk, '/locks/parts')
    const parts: Held[] = []
    await writeInParts(lock, (held) => Promise.resolve(parts.push(held) < 3 ? 'more' : 'done'))
    expect(parts).toHaveLength(3)
    expect(ensemble.nodes.ephemerals()).toEqual([])

    const writing = writeInParts(lock, async (held) => {
      ensemble.sessions.expire(zk.session.id)
      await once(held.signal, 'abort')
      return 'more'
    })
    await expect(writing).rejects.toThrow(LostError)
  })

  test('leads until it is to stop', async () => {
    const stopping = new AbortController()
    const work = vi.fn(() => Promise.resolve(stopping.abort()))
    await lead(new LeaderElection(zk, '/leader'), work, stopping.signal)
    expect(work).toHaveBeenCalledTimes(1)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('leads again after a term that was lost with its session', async () => {
    const warnings = vi.spyOn(console, 'warn').mockImplementation(() => {})
    onTestFinished(() => warnings.mockRestore())
    const stopping = new AbortController()
    const terms: Held[] = []
    const work = async (held: Held) => {
      if (terms.push(held) === 2) return stopping.abort()
      ensemble.sessions.expire(zk.session.id)
      await pause(60_000, undefined, { signal: held.signal })
    }
    await lead(new LeaderElection(zk, '/leader'), work, stopping.signal)
    expect(terms.map(({ session }) => session.id)).toEqual([terms[0]!.session.id, zk.session.id])
    expect(terms[0]!.session).not.toBe(terms[1]!.session)
    expect(warnings).toHaveBeenCalledTimes(1)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('resigns when the work of a leader fails, and throws its error', async () => {
    const failed = new Error('the work failed')
    await expect(lead(new LeaderElection(zk, '/leader'), () => Promise.reject(failed), signal)).rejects.toBe(failed)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('reads under a lock what the holder before wrote, at a server that lags', async () => {
    const members = await TestEnsemble.start({ tickTime: 100 })
    const [follower] = members.followers
    const first = await connect(members.leader!.address)
    const second = await connect(follower!.address)
    onTestFinished(async () => {
      await first.close()
      await second.close()
      await members.close()
    })
    await first.create('/stock', 'ten')
    await second.sync('/')
    const held = await new Lock(first, '/locks/stock').acquire()
    follower!.lag(300)
    const next = new Lock(second, '/locks/stock').acquire()
    await expect.poll(() => members.nodes.get('/locks/stock')?.children).toHaveLength(2)
    await first.setData('/stock', 'nine')
    await held.release()
    expect(new TextDecoder().decode(follower!.node('/stock')?.data)).toBe('ten')
    await next
    expect(new TextDecoder().decode((await second.getData('/stock')).data)).toBe('nine')
  })

  test('begins with a whole program', async () => {
    const program = fileURLToPath(new URL('../dist/guide/readme.js', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [program, ensemble.connectString])
    expect(stdout).toMatch(/^written with fence \d+\n$/)
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('answers health checks, ready from the first session on, also while no server answers', async () => {
    const program = fileURLToPath(new URL('../dist/guide/health.js', import.meta.url))
    const child = spawn(process.execPath, [program, ensemble.connectString, '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { port } = JSON.parse(String(line)) as { port: number }
    const ask = async (path: string) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return [response.status, await response.json()] as const
    }
    const server = ensemble.connectString
    await expect.poll(() => ask('/readyz')).toMatchObject([200, { name: 'connected', server, timeout: 2_000 }])
    ensemble.members[0]!.kill()
    await expect
      .poll(() => ask('/readyz'))
      .toMatchObject([200, { name: 'disconnected', error: expect.any(String) as string }])
    expect(await ask('/healthz')).toMatchObject([200, { name: 'disconnected' }])
    ensemble.members[0]!.restart()
    await expect.poll(() => ask('/readyz')).toMatchObject([200, { name: 'connected' }])
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('answers health checks before there is a server to connect to, and stops then, too', async () => {
    const program = fileURLToPath(new URL('../dist/guide/health.js', import.meta.url))
    ensemble.members[0]!.kill()
    const child = spawn(process.execPath, [program, ensemble.connectString, '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { port } = JSON.parse(String(line)) as { port: number }
    const ask = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status
    expect([await ask('/readyz'), await ask('/livez')]).toEqual([503, 200])
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('stops on SIGTERM before there is a server to connect to', async () => {
    const program = fileURLToPath(new URL('../dist/guide/shutdown.js', import.meta.url))
    const [member] = ensemble.members
    await zk.close()
    member!.freeze()
    const child = spawn(process.execPath, [program, ensemble.connectString], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => (output += String(chunk)))
    // It has dialed, and listens to signals since.
    await expect.poll(() => member!.connections.length).toBeGreaterThan(0)
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    expect([code, output]).toEqual([0, 'closed\n'])
  })

  test('resigns and closes on SIGTERM', async () => {
    const program = fileURLToPath(new URL('../dist/guide/shutdown.js', import.meta.url))
    const child = spawn(process.execPath, [program, ensemble.connectString], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => (output += String(chunk)))
    await expect.poll(() => output).toBe('leads\n')
    expect(await new LeaderElection(zk, '/leader').leader()).toMatchObject({ label: `pid ${child.pid}` })
    child.kill('SIGTERM')
    const [code] = (await once(child, 'exit')) as [number | null]
    expect([code, output]).toEqual([0, 'leads\nclosed\n'])
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })

  test('resigns in a NestJS application on SIGTERM, and closes after that', async () => {
    const program = fileURLToPath(new URL('../dist/guide/nestjs.js', import.meta.url))
    const env = { ...process.env, ZOOKEEPER: ensemble.connectString, NO_COLOR: '1' }
    const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    let output = ''
    child.stdout.on('data', (chunk) => (output += String(chunk)))
    while (!/^leads$/m.test(output)) await once(child.stdout, 'data')
    const leader = await new LeaderElection(zk, '/leader').leader()
    child.kill('SIGTERM')
    // Nest ends the process by the same signal when all hooks have run.
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM'])
    expect(output).toMatch(/^stops$/m)
    const ops = ensemble.history.requests({ session: leader!.sessionId }).map(({ message }) => message.op)
    // A hold of more than 50 ms has a watch, which the release removes beside the delete.
    expect(ops.filter((op) => op !== 'removeWatches').slice(-2)).toEqual(['delete', 'closeSession'])
    expect(ensemble.nodes.ephemerals()).toEqual([])
  })
})
