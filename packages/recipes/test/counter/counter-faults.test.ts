// Counter when answers are lost, sessions end and servers lag: each change happens once, or its error says that it may have.
import { describe, expect, test } from 'vitest'
import { Counter, KeeperError } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { drop, eachFault, loseReply, loseRequest, type Fault } from '../support/faults.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene, sceneOfTwo } from '../support/scene.ts'

const PATH = '/orders'
const T = 4_000
/** Longer than any pause before a new connection. */
const RECONNECTED = 2_000
const MUCH = 60_000

const prepared = (members?: number) => sceneOfTwo(members, { sessionTimeout: T })

function stored(scene: Scene): bigint {
  return Buffer.from(scene.ensemble.nodes.get(PATH)?.data ?? Buffer.alloc(8)).readBigInt64BE()
}

/** Adds a digit of its own, so that the value shows which changes have happened, and how often. */
class Sum {
  readonly #added: { readonly digit: bigint; readonly adding: Outcome<bigint> }[] = []

  add(counter: Counter, options?: Parameters<Counter['add']>[1]): Outcome<bigint> {
    const digit = 4n ** BigInt(this.#added.length)
    const adding = outcome(counter.add(digit, options))
    this.#added.push({ digit, adding })
    return adding
  }

  /** Every change happened once, or not at all where its error says that it is not known, or that it did not happen. */
  check(scene: Scene): void {
    const value = stored(scene)
    for (const { digit, adding } of this.#added) {
      const times = Number((value / digit) % 4n)
      if (adding.status === 'fulfilled') {
        expect(times).toBe(1)
        expect((adding.value / digit) % 4n).toBe(1n)
      } else {
        const isUnknown = !KeeperError.is(adding.error) || adding.error.outcomeUnknown
        expect([isUnknown, 0, 1]).toContain(times)
        if (!isUnknown) expect(times).toBe(0)
      }
    }
  }
}

describe('A Counter whose answers are lost', () => {
  const ops = ['create2', 'createContainer', 'getData', 'multi', 'delete'] as const

  test.each(ops.flatMap((op) => eachFault.map(([name, fault]) => [op, name, fault] as const)))(
    'Counter.add counts once where its %s meets %s, beside others that add (N01)',
    async (op, _, fault) => {
      for (const nth of [1, 2, 3]) {
        const { scene, zk, other } = await prepared()
        const [mine, theirs] = [new Counter(zk, op === 'createContainer' ? '/a/b' : PATH), new Counter(other, PATH)]
        const sum = new Sum()
        fault(scene.ensemble.faults, { op, nth, session: zk.session.id })
        scene.network.latency = () => 2
        const adding: Outcome<bigint>[] = []
        for (let round = 0; round < 3; round++) {
          adding.push(op === 'createContainer' ? outcome(mine.add(1n)) : sum.add(mine), sum.add(theirs))
          await scene.world.advance(5)
        }
        await scene.world.advance(MUCH)
        expect(adding.map(({ status }) => status)).toEqual(adding.map(() => 'fulfilled'))
        sum.check(scene)
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test.each(['before', 'behind'])(
    'Counter.add whose answer is lost has its own result where another has written %s it (N02)',
    async (when) => {
      const { scene, zk, other } = await prepared()
      const [mine, theirs] = [new Counter(zk, PATH), new Counter(other, PATH)]
      await scene.done(mine.add(1n))
      const lose = when === 'before' ? loseRequest : loseReply
      lose(scene.ensemble.faults, { op: 'multi', session: zk.session.id })
      const adding = await scene.start(mine.add(10n))
      expect(adding.status).toBe('pending')
      expect(await scene.done(theirs.add(100n))).toBe(when === 'before' ? 101n : 111n)
      await scene.world.advance(RECONNECTED)
      expect(adding.value).toBe(when === 'before' ? 111n : 11n)
      expect(stored(scene)).toBe(111n)
    },
  )

  test('Counter.update whose answer is lost is not called again where it has happened', async () => {
    const { scene, zk, other } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(3n))
    loseReply(scene.ensemble.faults, { op: 'multi' })
    const calls: bigint[] = []
    const updating = await scene.start(counter.update((value) => (calls.push(value), value * 2n)))
    await scene.done(new Counter(other, PATH).add(1n))
    await scene.world.advance(RECONNECTED)
    expect([updating.value, calls, stored(scene)]).toEqual([6n, [3n], 7n])
  })

  test('Counter.add whose session moves to a server that lags counts once (N03)', async () => {
    const { scene, zk, other } = await prepared(3)
    const { members, faults } = scene.ensemble
    const sum = new Sum()
    const [mine, theirs] = [new Counter(zk, PATH), new Counter(other, PATH)]
    await scene.done(mine.add(0n))
    for (const member of members) if (member.role === 'follower') member.lag(500)
    for (let round = 0; round < 5; round++) {
      loseReply(faults, { op: 'multi', session: zk.session.id })
      const adding = sum.add(mine, { timeout: MUCH })
      sum.add(theirs)
      await scene.world.advance(10_000)
      expect(adding.status).toBe('fulfilled')
    }
    await scene.world.advance(MUCH)
    sum.check(scene)
  })

  test('Counter.get never goes back, and shows what this client has added', async () => {
    const { scene, zk } = await prepared(3)
    const counter = new Counter(zk, PATH)
    for (const member of scene.ensemble.members) if (member.role === 'follower') member.lag(300)
    let last = 0n
    for (let round = 0; round < 20; round++) {
      const adding = outcome(counter.add(1n, { timeout: MUCH }))
      if (round % 3 === 0) scene.cut(zk)
      await scene.world.advance(10_000)
      const value = await scene.done(counter.get())
      expect(value).toBeGreaterThanOrEqual(adding.value)
      expect(value).toBeGreaterThanOrEqual(last)
      last = value
    }
  })
})

describe('A Counter whose session expires', () => {
  test('Counter.add goes on in the next session where it was not sent', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    scene.refuse()
    scene.expire(zk)
    const adding = await scene.start(counter.add(1n, { timeout: MUCH }))
    scene.accept()
    await scene.world.advance(MUCH)
    expect(adding.value).toBe(2n)
    expect(stored(scene)).toBe(2n)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test.each<[string, Fault, boolean, boolean]>([
    ['has happened', loseReply, false, false],
    ['has happened, and another wrote', loseReply, true, false],
    ['has not happened', loseRequest, false, true],
    ['has not happened, and another wrote', loseRequest, true, false],
  ])(
    'Counter.add without an answer in an expired session, which %s, is never silently lost or doubled (N04)',
    async (_, fault, doesOtherWrite, isKnown) => {
      const { scene, zk, other } = await prepared()
      const [mine, theirs] = [new Counter(zk, PATH), new Counter(other, PATH)]
      await scene.done(mine.add(1n))
      fault(scene.ensemble.faults, { op: 'multi', session: zk.session.id })
      const adding = await scene.start(mine.add(10n, { timeout: MUCH }))
      const behind = outcome(mine.add(1_000n, { timeout: MUCH }))
      if (doesOtherWrite) await scene.done(theirs.add(100n))
      scene.expire(zk)
      await scene.world.advance(MUCH)
      if (isKnown) expect(adding.value).toBe(11n)
      else expect(adding.error).toMatchObject({ code: 'ConnectionLoss', op: 'add', path: PATH, outcomeUnknown: true })
      const happened = isKnown || fault === loseReply
      expect(stored(scene)).toBe(1_001n + (happened ? 10n : 0n) + (doesOtherWrite ? 100n : 0n))
      expect(behind.value).toBe(stored(scene))
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('Counter.add without an answer does not count twice where the servers keep the old session', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    const sum = new Sum()
    sum.add(counter, { timeout: MUCH })
    await scene.world.settle()
    // It is executed, and the client hears nothing until it has given its session up.
    scene.freeze(zk, 'replies')
    const { id } = zk.session
    sum.add(counter, { timeout: MUCH })
    scene.refuse()
    await scene.world.advance(2 * T)
    expect(zk.session.id).not.toBe(id)
    scene.accept()
    await scene.world.advance(MUCH)
    sum.check(scene)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter.add rejects with SessionExpired where no other session follows', async () => {
    const scene = new Scene()
    const zk = await scene.client({ renewSession: false })
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    scene.expire(zk)
    await scene.world.advance(RECONNECTED)
    const adding = await scene.start(counter.add(1n))
    expect(adding.error).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
  })
})

describe('A Counter that is deleted', () => {
  test('Counter.add begins again at 0n, also where as many writes have followed as before (N05)', async () => {
    const { scene, zk, other } = await prepared()
    const [mine, theirs] = [new Counter(zk, PATH), new Counter(other, PATH)]
    expect(await scene.done(mine.add(10n))).toBe(10n)
    scene.ensemble.nodes.delete(PATH)
    // The same version as that which `mine` knows.
    expect(await scene.done(theirs.add(7n))).toBe(7n)
    expect(await scene.done(mine.add(10n))).toBe(17n)
    await scene.world.advance(MUCH)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter.add whose answer is lost counts in the new counter: the old one is gone with it', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    loseReply(scene.ensemble.faults, { op: 'multi' })
    const adding = await scene.start(counter.add(10n))
    scene.ensemble.nodes.delete(PATH)
    await scene.world.advance(RECONNECTED)
    expect([adding.value, stored(scene)]).toEqual([10n, 10n])
  })

  test('Counter.add whose answer is lost, and whose writer node was deleted, says that it is not known (N06)', async () => {
    for (const fault of [loseReply, loseRequest]) {
      const { scene, zk, other } = await prepared()
      const [mine, theirs] = [new Counter(zk, PATH), new Counter(other, PATH)]
      await scene.done(mine.add(1n))
      fault(scene.ensemble.faults, { op: 'multi' })
      const adding = await scene.start(mine.add(10n))
      const [writer] = scene.children(PATH)
      scene.ensemble.nodes.delete(`${PATH}/${writer}`)
      await scene.done(theirs.add(100n))
      await scene.world.advance(RECONNECTED)
      expect(adding.error).toMatchObject({ outcomeUnknown: true, op: 'add', path: PATH })
      expect(stored(scene)).toBe(fault === loseReply ? 111n : 101n)
      expect(await scene.done(mine.add(1_000n))).toBe(stored(scene))
    }
  })

  test('Counter goes on where its writer node was deleted', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    const [writer] = scene.children(PATH)
    scene.ensemble.nodes.delete(`${PATH}/${writer}`)
    expect(await scene.done(counter.add(1n))).toBe(2n)
  })
})

describe('A Counter that is given up', () => {
  test('Counter.add that times out before it was sent has not happened, and never will', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    await scene.world.advance(RECONNECTED)
    scene.refuse()
    scene.cut(zk)
    const adding = outcome(counter.add(1n, { timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(adding.error).toMatchObject({ code: 'RequestTimeout', op: 'add', path: PATH, outcomeUnknown: false })
    scene.accept()
    await scene.world.advance(MUCH)
    expect(stored(scene)).toBe(1n)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter.add that times out when it was sent says that it may have happened', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    scene.freeze(zk, 'replies')
    const adding = outcome(counter.add(1n, { timeout: 1_000 }))
    await scene.world.advance(1_000)
    expect(adding.error).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: true })
    await scene.world.advance(MUCH)
    expect(stored(scene)).toBe(2n)
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('Counter.add that times out while a refused write pauses never happens, and what waits beside it does', async () => {
    const { scene, zk } = await prepared()
    const counter = new Counter(zk, PATH)
    await scene.done(counter.add(1n))
    scene.ensemble.faults.fail({ op: 'multi', code: 'ThrottledOp' })
    const given = outcome(counter.add(10n, { timeout: 100 }))
    const beside = outcome(counter.add(100n))
    await scene.world.advance(100)
    expect(given.error).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: false })
    await scene.world.advance(RECONNECTED)
    expect([beside.value, stored(scene)]).toEqual([101n, 101n])
  })

  // Each fault that keeps the answer away.
  test.each(eachFault.filter(([, fault]) => fault !== drop))(
    'Counter.add whose write meets %s, and is then refused by a busy server, says whenever it times out whether it may have happened',
    async (_, fault) => {
      let late = 0
      for (let timeout = 50; timeout < RECONNECTED; timeout += 250) {
        const { scene, zk } = await prepared()
        const { faults } = scene.ensemble
        const counter = new Counter(zk, PATH)
        await scene.done(counter.add(0n))
        const sum = new Sum()
        const match = { op: 'multi', session: zk.session.id } as const
        // A rule that comes later strikes what the first one has left.
        fault(faults, match)
        faults.fail({ ...match, code: 'ThrottledOp' })
        const adding = sum.add(counter, { timeout })
        sum.add(counter, { timeout: MUCH })
        await scene.world.advance(MUCH)
        if (adding.status === 'rejected') late++
        sum.check(scene)
        expect(scene.leftovers()).toEqual(nothing)
      }
      expect(late).toBeGreaterThan(2)
    },
  )

  test('Counter.add takes the session timeout where none is given', async () => {
    const { scene, zk } = await prepared()
    scene.refuse()
    scene.cut(zk)
    const adding = outcome(new Counter(zk, PATH).add(1n))
    await scene.world.advance(T - 1)
    expect(adding.status).toBe('pending')
    await scene.world.advance(1)
    expect(adding.error).toMatchObject({ code: 'RequestTimeout' })
  })

  test('Counter.add is aborted at every moment: it rejects with the reason, counts once at most, and leaves nothing (N07)', async () => {
    const reason = new Error('changed my mind')
    for (const isNew of [true, false]) {
      const played = await atEveryMoment(async (moment) => {
        const { scene, zk } = await prepared()
        const counter = new Counter(zk, PATH)
        if (!isNew) await scene.done(counter.add(0n))
        const aborting = new AbortController()
        const sum = new Sum()
        const adding = sum.add(counter, { signal: aborting.signal })
        const beside = sum.add(counter)
        scene.world.interrupt(moment, () => aborting.abort(reason))
        await scene.world.settle()
        if (adding.status === 'rejected') expect(adding.error).toBe(reason)
        expect(beside.status).toBe('fulfilled')
        await scene.world.advance(RECONNECTED)
        sum.check(scene)
        expect(scene.leftovers()).toEqual(nothing)
        return adding.status === 'rejected'
      })
      expect(played).toBeGreaterThan(5)
    }
  })

  test('Counter.add with a signal that is aborted already rejects at once and sends nothing', async () => {
    const { scene, zk } = await prepared()
    const since = scene.since()
    const adding = await scene.start(new Counter(zk, PATH).add(1n, { signal: AbortSignal.abort('no') }))
    expect([adding.error, since.ops()]).toEqual(['no', []])
  })

  test('Counter leaves no node in a session that is left, at whatever moment', async () => {
    const played = await atEveryMoment(async (moment) => {
      const { scene, zk } = await prepared()
      const counter = new Counter(zk, PATH)
      const sum = new Sum()
      const adding = [sum.add(counter), sum.add(counter)]
      let detaching: Outcome<unknown> | undefined
      let wasPending = false
      scene.world.interrupt(moment, () => {
        wasPending = adding[0]!.status === 'pending'
        detaching = outcome(zk.detach())
      })
      await scene.world.settle()
      if (detaching === undefined) return false
      expect(detaching.status).toBe('fulfilled')
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
      for (const each of adding) {
        if (each.status === 'rejected') expect(each.error).toMatchObject({ code: 'Closed', outcomeUnknown: false })
        else expect(each.status).toBe('fulfilled')
      }
      sum.check(scene)
      return wasPending
    })
    expect(played).toBeGreaterThan(5)
  })

  test('Counter leaves its node at once in a session that is left while it rests', async () => {
    const { scene, zk } = await prepared()
    await scene.done(new Counter(zk, PATH).add(1n))
    await scene.done(zk.detach())
    expect(scene.ensemble.nodes.ephemerals()).toEqual([])
  })

  test('Counter.add rejects with Closed when the client is closed, at whatever moment, and says whether it may have happened', async () => {
    const played = await atEveryMoment(async (moment) => {
      const { scene, zk } = await prepared()
      const counter = new Counter(zk, PATH)
      const sum = new Sum()
      const adding = sum.add(counter)
      scene.world.interrupt(moment, () => void zk.close())
      await scene.world.settle()
      if (adding.status === 'rejected') expect(adding.error).toMatchObject({ code: 'Closed' })
      else expect(adding.status).toBe('fulfilled')
      sum.check(scene)
      expect(scene.leftovers()).toEqual(nothing)
      return adding.status === 'rejected'
    })
    expect(played).toBeGreaterThan(5)
  })
})

describe('A Counter at servers that cannot write', () => {
  test('Counter.add waits where one call may wait, not two', async () => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { maxWaiting: 1 } })
    const adding = outcome(new Counter(zk, PATH).add(1n))
    await scene.world.advance(5_000)
    expect(adding.value).toBe(1n)
  })

  test('Counter.add waits for a server that takes writes, and Counter.get reads meanwhile (N10)', async () => {
    const scene = new Scene({ members: 3, readOnlyMode: true })
    await scene.world.advance(1_000)
    scene.ensemble.nodes.create(PATH, { data: new Uint8Array([0, 0, 0, 0, 0, 0, 0, 9]) })
    for (const member of scene.ensemble.members.slice(1)) member.kill()
    await scene.world.advance(5_000)
    const counter = new Counter(await scene.client({ readOnly: true }), PATH)
    const adding = outcome(counter.add(1n, { timeout: MUCH }))
    await scene.world.advance(10_000)
    expect([adding.status, await scene.done(counter.get())]).toEqual(['pending', 9n])
    for (const member of scene.ensemble.members) member.restart()
    await scene.world.advance(20_000)
    expect(adding.value).toBe(10n)
  })
})
