// The messages on `node:diagnostics_channel`.
import { AsyncLocalStorage } from 'node:async_hooks'
import {
  channel,
  subscribe,
  tracingChannel,
  type TracingChannelSubscribers,
  unsubscribe,
} from 'node:diagnostics_channel'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { formatSessionId, type LogFunction } from '@zk/client'
import {
  type AcquireMessage,
  type Held,
  LeaderElection,
  Lock,
  type RecipeMessages,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'
import { report } from '../../src/queue/diagnostics.ts'
import { holdings, PATH } from '../support/every-recipe.ts'
import { outcome } from '../support/outside.ts'
import { Scene } from '../support/scene.ts'

const names = [
  'zk:exhausted',
  'zk:orphan',
  'zk:queued',
  'zk:acquired',
  'zk:suspended',
  'zk:resumed',
  'zk:released',
  'zk:lost',
] as const satisfies (keyof RecipeMessages)[]

let notified: { readonly name: string; readonly message: object }[] = []
const listener = (message: unknown, name: string | symbol) =>
  void notified.push({ name: String(name), message: message as object })

/** Names of the messages so far, and what they say; those before are forgotten. */
function recorded(): [string, object][] {
  const all = notified.map(({ name, message }): [string, object] => [name, message])
  notified = []
  return all
}

describe('Channels', () => {
  beforeEach(() => {
    notified = []
    for (const name of names) subscribe(name, listener)
  })
  afterEach(() => {
    for (const name of names) unsubscribe(name, listener)
  })

  test('zk:acquired and zk:released tell node, token, ms waited, ms held, and what is left of the lease', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    const hold = { client: 'zk1:2181', path: PATH, kind: 'lock', node: held.path, fencingToken: held.fencingToken }
    expect(recorded()).toEqual([['zk:acquired', { ...hold, waited: 0, leaseRemaining: held.leaseRemaining() }]])
    expect(held.leaseRemaining()).toBeGreaterThan(0)
    await scene.world.advance(1_234)
    await scene.done(held.release())
    expect(recorded()).toEqual([['zk:released', { ...hold, held: 1_234 }]])
  })

  test('zk:queued reports the contender ahead, and zk:acquired how long it was waited for', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const first = await scene.done(new Lock(holder, PATH).acquire())
    recorded()
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    expect(recorded()).toEqual([
      ['zk:queued', { client: 'zk1:2181', path: PATH, kind: 'lock', position: 1, ahead: [first.path] }],
    ])
    await scene.world.advance(2_000)
    await scene.done(first.release())
    const messages = recorded()
    expect(messages.map(([name]) => name)).toEqual(['zk:released', 'zk:acquired'])
    expect(messages[1]![1]).toMatchObject({ node: acquiring.value.path, waited: 2_000 })
  })

  test('zk:queued is published again when another contender is right ahead, and in the next session; zk:acquired counts from the call', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    const first = await scene.done(new Lock(holder, PATH).acquire())
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    scene.expire(zk)
    await scene.world.advance(3_000)
    await scene.done(first.release())
    expect(acquiring.value.isHeld()).toBe(true)
    const messages = recorded()
    expect(messages.map(([name]) => name)).toEqual([
      'zk:acquired',
      'zk:queued',
      'zk:queued',
      'zk:released',
      'zk:acquired',
    ])
    expect(messages[4]![1]).toMatchObject({ waited: 3_000 })
  })

  const ways: [string, (zk: ZooKeeper) => Promise<unknown>][] = [
    ...holdings.map(({ call, make }): [string, (zk: ZooKeeper) => Promise<unknown>] => [
      call,
      (zk) => make(zk).acquire(),
    ]),
    ['tryAcquire', (zk) => new Lock(zk, PATH).tryAcquire()],
    ['run', (zk) => new Promise((resolve) => void new Lock(zk, PATH).run(resolve))],
    ['terms', (zk) => new LeaderElection(zk, PATH).terms().next()],
  ]
  test.each(ways)('zk:acquired counts the time of %s from its call to its grant', async (_, acquire) => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.network.latency = () => 10
    await scene.world.advance(100)
    const since = scene.world.now()
    const granted = outcome(acquire(zk).then(() => scene.world.now()))
    await scene.world.advance(1_000)
    expect(granted.value).toBeGreaterThan(since)
    expect(recorded()[0]).toMatchObject(['zk:acquired', { waited: granted.value - since }])
  })

  test('zk:acquired counts the time of a downgrade from its own call', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    await scene.world.advance(1_000)
    recorded()
    scene.network.latency = () => 10
    void write.downgrade()
    await scene.world.advance(100)
    expect(recorded()).toMatchObject([
      ['zk:lost', { kind: 'write', held: 1_000 }],
      ['zk:acquired', { kind: 'read', waited: 10 }],
    ])
  })

  test('zk:suspended reports how long it is held on, and zk:resumed that it is confirmed again', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(100)
    recorded()
    scene.cut(zk)
    await scene.world.settle()
    const [[name, message]] = recorded() as [[string, RecipeMessages['zk:suspended']]]
    expect(name).toBe('zk:suspended')
    expect(message).toEqual({
      client: 'zk1:2181',
      path: PATH,
      kind: 'lock',
      node: held.path,
      fencingToken: held.fencingToken,
      leaseRemaining: held.leaseRemaining(),
    })
    await scene.world.advance(1_500)
    expect(held.isHeld()).toBe(true)
    const resumed = { client: 'zk1:2181', path: PATH, kind: 'lock', node: held.path, fencingToken: held.fencingToken }
    expect(recorded()).toEqual([['zk:resumed', { ...resumed, leaseRemaining: expect.any(Number) as number }]])
  })

  test('zk:acquired comes first, whenever the connection or the session is lost about the grant', async () => {
    for (let hops = 0; hops < 40; hops++) {
      for (const strike of ['cut', 'expire'] as const) {
        const scene = new Scene()
        scene.ensemble.nodes.create('/locks')
        scene.ensemble.nodes.create(PATH)
        const zk = await scene.client()
        scene.world.interrupt({ received: 1, hops }, () => scene[strike](zk))
        const acquiring = outcome(new Lock(zk, PATH, { heldWhile: 'sessionAlive' }).acquire())
        await scene.world.advance(5_000)
        expect(acquiring.status).toBe('fulfilled')
        const messages = recorded()
        expect(messages[0]?.[0], `${strike} ${hops} hops behind the answer`).toBe('zk:acquired')
        // Without a lease it is held on without end.
        const suspensions = messages.filter(([name]) => name === 'zk:suspended')
        for (const [, message] of suspensions) expect(message).toMatchObject({ leaseRemaining: Infinity })
      }
    }
  })

  test('zk:suspended is not reported where the lease was over before the lost connection was noticed', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    let suspensions = 0
    // Another listener takes its time, and comes first.
    zk.session.connection!.signal.addEventListener('abort', () => scene.world.stall(60_000))
    const held = await scene.done(new Lock(zk, PATH).acquire({ onSuspended: () => suspensions++ }))
    scene.cut(zk)
    await scene.world.settle()
    expect(held.isHeld()).toBe(false)
    expect(recorded().map(([name]) => name)).toEqual(['zk:acquired', 'zk:lost'])
    expect(suspensions).toBe(0)
  })

  test('zk:suspended comes before zk:lost, which comes once, and zk:released never', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(1_000)
    recorded()
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(60_000)
    outcome(held.release())
    await scene.world.settle()
    const messages = recorded()
    expect(messages.map(([name]) => name)).toEqual(['zk:suspended', 'zk:lost'])
    const { leaseRemaining } = messages[0]![1] as RecipeMessages['zk:suspended']
    const lost = messages[1]![1] as RecipeMessages['zk:lost']
    expect(lost).toMatchObject({ node: held.path, fencingToken: held.fencingToken, reason: 'LeaseLost' })
    // To the reported time.
    expect(lost.held).toBeCloseTo(1_000 + leaseRemaining)
    expect(lost.leaseEndedAgo).toBeCloseTo(0)
  })

  test('zk:lost says how long ago the lease ended, where the process stood still', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    recorded()
    const remaining = held.leaseRemaining()
    scene.world.stall(remaining + 5_000)
    await scene.world.advance(60_000)
    const [, lost] = recorded().find(([name]) => name === 'zk:lost')!
    expect((lost as RecipeMessages['zk:lost']).leaseEndedAgo).toBeCloseTo(5_000, -1)
  })

  test.each<[string, (scene: Scene, zk: ZooKeeper, held: Held) => unknown]>([
    ['NodeGone', (scene, _, held) => scene.ensemble.nodes.delete(held.path)],
    ['SessionExpired', (scene, zk) => scene.expire(zk)],
    ['Closed', (_, zk) => zk.close()],
  ])('zk:lost reports %s', async (reason, strike) => {
    const scene = new Scene()
    const zk = await scene.client()
    const held = await scene.done(new Lock(zk, PATH).acquire())
    recorded()
    void strike(scene, zk, held)
    await scene.world.advance(5_000)
    expect(recorded().filter(([name]) => name !== 'zk:suspended' && name !== 'zk:resumed')).toMatchObject([
      ['zk:lost', { reason, node: held.path }],
    ])
  })

  test('zk:lost reports Downgraded, zk:acquired and zk:released what it was downgraded to', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    const read = await scene.done(write.downgrade())
    await scene.done(read.release())
    expect(recorded()).toMatchObject([
      ['zk:acquired', { kind: 'write', node: write.path }],
      ['zk:lost', { kind: 'write', node: write.path, reason: 'Downgraded' }],
      ['zk:acquired', { kind: 'read', node: read.path, fencingToken: write.fencingToken }],
      ['zk:released', { kind: 'read', node: read.path }],
    ])
  })

  test('Channels report tryAcquire, readers, writers and candidates', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const held: Held[] = []
    held.push((await scene.done(new Lock(zk, '/locks/a').tryAcquire()))!)
    held.push(await scene.done(new SharedLock(zk, '/locks/b').read.acquire()))
    held.push(await scene.done(new SharedLock(zk, '/locks/c').write.acquire()))
    held.push(await scene.done(new LeaderElection(zk, '/leader').campaign()))
    for (const each of held) await scene.done(each.release())
    const kinds = [
      ['/locks/a', 'lock'],
      ['/locks/b', 'read'],
      ['/locks/c', 'write'],
      ['/leader', 'latch'],
    ]
    expect(recorded()).toMatchObject([
      ...kinds.map(([path, kind]) => ['zk:acquired', { path, kind }]),
      ...kinds.map(([path, kind]) => ['zk:released', { path, kind }]),
    ])
  })

  test('Channels report of a contender that gives up only that it queued', async () => {
    const scene = new Scene()
    const [holder, zk] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(holder, PATH).acquire())
    recorded()
    const acquiring = outcome(new Lock(zk, PATH).acquire({ timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(await scene.done(new Lock(zk, PATH).tryAcquire())).toBeUndefined()
    expect(acquiring.status).toBe('rejected')
    expect(recorded().map(([name]) => name)).toEqual(['zk:queued'])
  })

  test('Channels do not let a subscriber that throws stop a grant', async () => {
    const scene = new Scene()
    const errors: unknown[] = []
    const faulty = () => {
      throw new Error('of the subscriber')
    }
    const uncaught = (error: unknown) => void errors.push(error)
    // Node tells it to the process, in a turn of its own; the runner has a listener of its own.
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException')
    process.on('uncaughtException', uncaught)
    subscribe('zk:acquired', faulty)
    try {
      const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
      expect(held.isHeld()).toBe(true)
      await new Promise((resolve) => void setImmediate(resolve))
      expect(errors).toEqual([new Error('of the subscriber')])
    } finally {
      unsubscribe('zk:acquired', faulty)
      process.removeListener('uncaughtException', uncaught)
      for (const each of others) process.on('uncaughtException', each)
    }
  })
})

test('Lock.acquire is granted where a subscriber throws into the publisher, as not only Node may have it', async () => {
  const thrower = vi.spyOn(channel('zk:acquired'), 'publish').mockImplementation(() => {
    throw new Error('of the subscriber')
  })
  subscribe('zk:acquired', listener)
  onTestFinished(() => {
    unsubscribe('zk:acquired', listener)
    thrower.mockRestore()
  })
  const scene = new Scene()
  const held = await scene.done(new Lock(await scene.client(), PATH).acquire())
  expect(thrower).toHaveBeenCalledOnce()
  expect(held.isHeld()).toBe(true)
})

describe('Channels without a subscriber', () => {
  test.each(names)('%s without a subscriber costs no message', async (name) => {
    const zk = await new Scene().client()
    let made = 0
    const message = () => {
      made++
      return {} as never
    }
    report(zk, name, 'lock', message)
    expect([channel(name).hasSubscribers, made]).toEqual([false, 0])
    subscribe(name, listener)
    report(zk, name, 'lock', message)
    unsubscribe(name, listener)
    report(zk, name, 'lock', message)
    expect(made).toBe(1)
  })
})

describe.each(['alone', 'beside a subscriber of every channel'])('The logger of the client, %s,', (which) => {
  type Line = Parameters<LogFunction>
  beforeEach(() => {
    if (which !== 'alone') for (const name of names) subscribe(name, listener)
  })
  afterEach(() => {
    for (const name of names) unsubscribe(name, listener)
  })

  test('is given what becomes of a lock, each on its level, in data that JSON can hold', async () => {
    const lines: Line[] = []
    const scene = new Scene()
    const zk = await scene.client({ logger: (...line) => void lines.push(line) })
    const other = await scene.client()
    const blocking = await scene.done(new Lock(other, PATH).acquire())
    lines.length = 0
    const acquiring = await scene.start(new Lock(zk, PATH).acquire())
    await scene.done(blocking.release())
    const held = acquiring.value
    await scene.done(held.release())
    const sessionId = formatSessionId(zk.session.id)
    const common = { sessionId, server: 'zk1:2181', path: PATH, kind: 'lock' }
    expect(lines).toEqual([
      ['debug', 'zk: lock queued', { ...common, position: 1, ahead: [blocking.path] }],
      ['info', 'zk: lock acquired', expect.objectContaining({ ...common, node: held.path })],
      [
        'debug',
        'zk: lock released',
        { ...common, node: held.path, fencingToken: `0x${held.fencingToken.toString(16)}`, held: 0 },
      ],
    ])
    expect(() => JSON.stringify(lines)).not.toThrow()
  })

  test('is given why a lock was lost, and that it was suspended', async () => {
    const lines: Line[] = []
    const scene = new Scene()
    const zk = await scene.client({ logger: (...line) => void lines.push(line) })
    await scene.done(new SharedLock(zk, PATH).read.acquire())
    scene.refuse()
    scene.cut(zk)
    await scene.world.advance(60_000)
    const ofLocks = lines.filter(([, message]) => message.startsWith('zk: lock'))
    expect(ofLocks.map(([level, message]) => `${level} ${message}`)).toEqual([
      'debug zk: lock acquired',
      'warn zk: lock suspended: the connection is lost, it is still held',
      'error zk: lock lost',
    ])
    expect(ofLocks.at(-1)![2]).toMatchObject({ path: PATH, kind: 'read', reason: 'LeaseLost' })
  })

  test('is given a downgrade as no loss', async () => {
    const lines: Line[] = []
    const scene = new Scene()
    const zk = await scene.client({ logger: (...line) => void lines.push(line) })
    const write = await scene.done(new SharedLock(zk, PATH).write.acquire())
    await scene.done(write.downgrade())
    const ofLocks = lines.filter(([, message]) => message.startsWith('zk: lock'))
    expect(ofLocks.map(([level, message]) => `${level} ${message}`)).toEqual([
      'debug zk: lock acquired',
      'info zk: lock downgraded',
      'debug zk: lock acquired',
    ])
  })
})

test.each([
  [1_000, [1_000]],
  [999, []],
])(
  'The logger of the client is given that work went on for %d ms after the loss of its lock: %j',
  async (late, logged) => {
    const lines: Parameters<LogFunction>[] = []
    const scene = new Scene()
    const zk = await scene.client({ logger: (...line) => void lines.push(line) })
    const working = outcome(
      new Lock(zk, PATH).run(
        ({ signal }) =>
          new Promise<void>((resolve) => {
            signal.addEventListener('abort', () => scene.world.setTimer(late, resolve), { once: true })
          }),
      ),
    )
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(20_000)
    expect(working.error).toMatchObject({ name: 'LostError' })
    const warned = lines.filter(([, message]) => message === 'zk: lock released long after its loss: the work went on')
    expect(warned.map(([level, , fields]) => [level, fields])).toEqual(
      logged.map((after) => ['warn', expect.objectContaining({ path: PATH, kind: 'lock', after })]),
    )
    // It is logged once, however often it is released.
    const lost = await scene.done(new Lock(zk, PATH).acquire())
    scene.expire(zk)
    await scene.world.advance(20_000)
    for (let time = 0; time < 3; time++) {
      await scene.done(lost.release())
      await scene.world.advance(5_000)
    }
    expect(lines.filter(([, message]) => message.includes('long after'))).toHaveLength(logged.length + 1)
    // Nothing is late where there was no loss, nor at a second release.
    const held = await scene.done(new Lock(zk, PATH).acquire())
    await scene.world.advance(5_000)
    await scene.done(held.release())
    await scene.world.advance(5_000)
    await scene.done(held.release())
    expect(lines.filter(([, message]) => message.includes('long after'))).toHaveLength(logged.length + 1)
  },
)

describe('zk:acquire', () => {
  const contexts = new AsyncLocalStorage<string>()
  type Seen = readonly [event: string, message: AcquireMessage, context: string | undefined]

  /** The events from now to the end of the test. */
  function traced(): Seen[] {
    const seen: Seen[] = []
    const note = (event: string) => (message: object) =>
      void seen.push([event, message as AcquireMessage, contexts.getStore()])
    const subscribers = Object.fromEntries(
      ['start', 'end', 'error', 'asyncStart', 'asyncEnd'].map((event) => [event, note(event)]),
    )
    const calls = tracingChannel<object>('zk:acquire')
    calls.subscribe(subscribers as unknown as TracingChannelSubscribers<object>)
    onTestFinished(() => calls.unsubscribe(subscribers as unknown as TracingChannelSubscribers<object>))
    return seen
  }

  test.each(holdings)(
    '$call is a call of a TracingChannel, which starts in the context of its caller',
    async (holding) => {
      const scene = new Scene()
      const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
      const blocking = await scene.done(holding.block(other))
      const seen = traced()
      const acquiring = contexts.run('the caller', () => outcome(holding.make(zk).acquire()))
      await scene.world.advance(2_000)
      const open = { waited: undefined, outcome: undefined, node: undefined, error: undefined }
      expect(seen.map(([event]) => event)).toEqual(['start', 'end'])
      expect(seen[0]![2]).toBe('the caller')
      expect(seen[0]![1]).toMatchObject({ client: zk.name, position: 1, ...open })
      await scene.done(blocking.release())
      expect(seen.map(([event]) => event)).toEqual(['start', 'end', 'asyncStart', 'asyncEnd'])
      expect(new Set(seen.map(([, message]) => message)).size).toBe(1)
      expect(seen[0]![1]).toMatchObject({ outcome: 'granted', waited: 2_000, node: acquiring.value.path })
    },
  )

  test('ends with the outcome of a call that is not granted', async () => {
    const scene = new Scene()
    const [zk, other] = (await scene.clients(2)) as [ZooKeeper, ZooKeeper]
    await scene.done(new Lock(other, PATH).acquire())
    const lock = new Lock(zk, PATH)
    const seen = traced()
    const aborting = new AbortController()
    const calls = [
      outcome(lock.tryAcquire()),
      outcome(lock.acquire({ timeout: 100 })),
      outcome(lock.acquire({ signal: aborting.signal })),
      outcome(lock.acquire()),
    ]
    await scene.world.advance(200)
    aborting.abort(null)
    await scene.world.settle()
    await scene.done(zk.close())
    const ends = seen.filter(([event]) => event === 'asyncEnd')
    expect(ends.map(([, { outcome, error, node }]) => [outcome, error !== undefined, node])).toEqual([
      ['busy', false, undefined],
      ['timeout', true, undefined],
      ['aborted', true, undefined],
      ['failed', true, undefined],
    ])
    expect(calls.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected'])
    expect(seen.filter(([event]) => event === 'error')).toHaveLength(3)
  })

  test('is published for no call that is refused before it begins', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const seen = traced()
    const never = AbortSignal.abort()
    const calls = [new Lock(zk, PATH).acquire({ signal: never }), new Lock(zk, PATH).tryAcquire({ signal: never })]
    for (const started of calls.map((call) => scene.start<unknown>(call)))
      expect((await started).status).toBe('rejected')
    await scene.done(zk.close())
    expect((await scene.start(new Lock(zk, PATH).tryAcquire())).status).toBe('rejected')
    const starts = seen.filter(([event]) => event === 'start')
    expect(seen.filter(([event]) => event === 'asyncEnd')).toHaveLength(starts.length)
  })
})

describe('zk:request below the recipes', () => {
  const uses: [string, (zk: ZooKeeper, scene: Scene) => Promise<unknown>][] = [
    ['acquire and release on a new path', (zk) => new Lock(zk, PATH).run(() => {})],
    ['acquire on a new path below one that exists', secondPath],
    ['tryAcquire on a new path', async (zk) => (await new Lock(zk, PATH).tryAcquire())!.release()],
    ['contenders of a new path', (zk) => new Lock(zk, PATH).contenders()],
    ['leader of a new path', (zk) => new LeaderElection(zk, PATH).leader()],
    ['leaders of a new path', (zk) => new LeaderElection(zk, PATH).watchLeader().next()],
    ['campaign on a new path', async (zk) => (await new LeaderElection(zk, PATH).campaign()).release()],
    ['a hand-over', handOver],
    ['a downgrade', downgrade],
    ['a node that another client has deleted', deletedNode],
  ]
  async function secondPath(zk: ZooKeeper): Promise<void> {
    await zk.create('/locks')
    await new Lock(zk, PATH).run(() => {})
  }
  async function handOver(zk: ZooKeeper, scene: Scene): Promise<void> {
    const lock = new Lock(zk, PATH)
    const first = await lock.acquire()
    const next = lock.acquire()
    await scene.world.advance(100)
    await first.release()
    await (await next).release()
  }
  async function downgrade(zk: ZooKeeper): Promise<void> {
    const held = await new SharedLock(zk, PATH).write.acquire()
    await (await held.downgrade()).release()
  }
  async function deletedNode(zk: ZooKeeper): Promise<void> {
    const held = await new Lock(zk, PATH).acquire()
    await zk.delete(held.path)
    await held.release().catch(() => {})
  }

  test.each(uses)('zk:request publishes no error for %s: what is missing is an answer', async (_, use) => {
    const scene = new Scene()
    const zk = await scene.client()
    const failures: unknown[] = []
    const note = (message: unknown) => void failures.push(message)
    subscribe('tracing:zk:request:error', note)
    onTestFinished(() => void unsubscribe('tracing:zk:request:error', note))
    const using = outcome(use(zk, scene))
    await scene.world.advance(1_000)
    expect([using.status, failures]).toEqual(['fulfilled', []])
  })
})
