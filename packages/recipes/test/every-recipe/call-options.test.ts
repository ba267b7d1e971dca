// What a call does not know it refuses before anything is sent: a misspelled option is never taken for its default.
import { describe, expect, test } from 'vitest'
import { LeaderElection, Lock, MultiLock, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { type CallName, calls, PATH } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const node = 'label, acl, heldWhile, followerRelayDelay'
const waiting = 'signal, onQueued, onSuspended, onResumed'
const looking = 'timeout, signal, repeatThrottled, session'

const constructors: [name: string, make: (zk: ZooKeeper, options: object) => unknown, known: string][] = [
  ['Lock', (zk, options) => new Lock(zk, PATH, options), `${node}, reentrant`],
  ['SharedLock', (zk, options) => new SharedLock(zk, PATH, options), node],
  ['MultiLock', (zk, options) => new MultiLock(zk, [PATH], options), node],
  ['LeaderElection', (zk, options) => new LeaderElection(zk, PATH, options), node],
]

describe.each(constructors)('%s', (name, make, known) => {
  const data = 'data (a contender has a label; a member that joins or enters has data, and so have nodes of your own)'
  test.each([
    [{ heldwhile: 'confirmed' }, 'heldwhile (did you mean heldWhile?)'],
    [{ timeout: 5_000 }, 'timeout (it is an option of the calls)'],
    [{ data: 'host-1' }, data],
    [{ onLost: 'ignore', retries: 3, acls: [] }, 'onLost, retries, acls (did you mean acl?)'],
  ])(`${name} refuses %o`, async (options, unknown) => {
    const zk = await new Scene().client()
    const refused = `new ${name}: unknown option ${unknown}; known are ${known}`
    expect(() => make(zk, options)).toThrow(new TypeError(refused))
  })

  test.each([['host-1'], [5_000], [null]])(`${name} refuses %o in place of options`, async (options) => {
    const zk = await new Scene().client()
    expect(() => make(zk, options as never)).toThrow(/: options must be an object such as \{ heldWhile: 'confirmed' \}/)
  })
})

const known: Partial<Record<CallName, string>> = {
  'Lock.acquire': `timeout, ${waiting}`,
  'Lock.run': `timeout, ${waiting}, onLost`,
  'SharedLock.read.run': `timeout, ${waiting}, onLost`,
  'Lock.tryAcquire': 'timeout, signal, onSuspended, onResumed',
  'Lock.tryRun': 'timeout, signal, onSuspended, onResumed, onLost',
  'Lock.contenders': looking,
  'SharedLock.read.contenders': looking,
  'SharedLock.contenders': looking,
  once: `${node}, slot, every, timeout, signal`,
  'LeaderElection.campaign': `timeout, ${waiting}`,
  'LeaderElection.terms': waiting,
  'LeaderElection.leader': looking,
  'LeaderElection.contenders': looking,
  'LeaderElection.watchLeader': 'signal',
}

describe.each(Object.entries(known) as [CallName, string][])('%s', (call, known) => {
  const name = call.split('.').at(-1)!

  const refused = async (options: unknown) => {
    const scene = new Scene()
    const zk = await scene.client()
    const since = scene.since()
    const { error } = await scene.start(calls[call](zk, options as never))
    expect(since.ops()).toEqual([])
    return error
  }

  test(`${call} refuses an option that it does not know, and sends nothing`, async () => {
    const meant = known.includes('timeout') ? ' (did you mean timeout?)' : ''
    expect(await refused({ timeoutMs: 200 })).toEqual(
      new TypeError(`${name}: unknown option timeoutMs${meant}; known are ${known}`),
    )
  })

  test.each([200, 'now', null, () => {}])(
    `${call} refuses %o in place of options, and sends nothing`,
    async (options) => {
      const error = await refused(options)
      expect(error).toBeInstanceOf(TypeError)
      expect(error).toHaveProperty('message', expect.stringContaining(`${name}: options must be an object such as {`))
    },
  )
})

test.each([{ timeout: -1 }, { timeout: Number.NaN }, { timeout: '5' }, { signal: {} }, { onLost: 'retry' }])(
  'Lock.run refuses %o',
  async (options) => {
    const scene = new Scene()
    const lock = new Lock(await scene.client(), PATH)
    const since = scene.since()
    const { error } = await scene.start(lock.run(() => {}, options as never))
    expect(error).toHaveProperty('message', expect.stringMatching(/^(timeout|signal|onLost) must be /))
    expect(since.ops()).toEqual([])
  },
)

test('WriteHeld.downgrade refuses an option that it does not know, and goes on as a writer', async () => {
  const scene = new Scene()
  const write = await scene.done(new SharedLock(await scene.client(), PATH).write.acquire())
  const { error } = await scene.start(write.downgrade({ timeoutMs: 1 } as never))
  expect(error).toEqual(
    new TypeError('downgrade: unknown option timeoutMs (did you mean timeout?); known are timeout, signal'),
  )
  expect(write.isHeld()).toBe(true)
})

describe('The stack of an error', () => {
  // The name of this function is looked for in stacks.
  async function inTheProgram<T>(call: () => Promise<T>): Promise<T> {
    return await call()
  }

  test('WaitTimeoutError shows the call that waited', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH).acquire())
    const acquiring = outcome(inTheProgram(() => new Lock(zk, PATH).acquire({ timeout: 1_000 })))
    await scene.world.advance(1_000)
    expect((acquiring.error as Error).stack).toContain('inTheProgram')
  })

  test('KeeperError of tryAcquire that was not answered shows the call', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.refuse()
    scene.freeze(zk)
    const acquiring = outcome(inTheProgram(() => new Lock(zk, PATH).tryAcquire({ timeout: 1_000 })))
    await scene.world.advance(1_000)
    expect((acquiring.error as Error).stack).toContain('inTheProgram')
  })

  test('LostError of throwIfLost shows that call, and of run the run', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.done(held.release())
    function asks() {
      held.throwIfLost()
    }
    let error: unknown
    try {
      asks()
    } catch (thrown) {
      error = thrown
    }
    expect(error).toMatchObject({ name: 'LostError', code: 'Released', path: held.path })
    expect((error as Error).stack).toContain('asks')

    const running = await scene.start(inTheProgram(() => new Lock(zk, PATH).run(() => void zk.close())))
    expect(running.error).toMatchObject({ name: 'LostError', code: 'Closed' })
    expect((running.error as Error).stack).toContain('inTheProgram')
  })
})
