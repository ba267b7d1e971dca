// DoubleBarrier: members begin together and end together.
import { describe, expect, test } from 'vitest'
import { type BarrierEntry, WaitTimeoutError, DoubleBarrier, KeeperError, type ZooKeeper } from '../../src/index.ts'
import { atEveryMoment } from '../support/everywhere.ts'
import { eachFault } from '../support/faults.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'

const PATH = '/app/import'
const T = 4_000
const RECONNECTED = 2_000
const MUCH = 60_000

async function prepared(
  size: number,
  members = 1,
): Promise<{ scene: Scene; clients: ZooKeeper[]; barriers: DoubleBarrier[] }> {
  const scene = new Scene({ members })
  const clients = await scene.clients(size, { sessionTimeout: T })
  return { scene, clients, barriers: clients.map((zk) => new DoubleBarrier(zk, PATH, { size })) }
}

const statuses = (all: readonly Outcome<unknown>[]) => all.map(({ status }) => status)
const pending = (all: readonly unknown[]) => all.map(() => 'pending')
const fulfilled = (all: readonly unknown[]) => all.map(() => 'fulfilled')
const names = (scene: Scene) => scene.ensemble.nodes.get(PATH)?.children ?? []

/** All are inside. */
async function inside(scene: Scene, barriers: readonly DoubleBarrier[]): Promise<BarrierEntry[]> {
  const entering = barriers.map((barrier) => outcome(barrier.enter()))
  await scene.world.settle()
  return entering.map(({ value }) => value)
}

describe('DoubleBarrier', () => {
  test.each([1, 2, 3, 7])(
    'DoubleBarrier lets %i members in together, and out together, again and again',
    async (size) => {
      const { scene, barriers } = await prepared(size)
      for (let round = 0; round < 3; round++) {
        const entering: Outcome<BarrierEntry>[] = []
        for (const barrier of barriers) {
          expect(statuses(entering)).toEqual(pending(entering))
          entering.push(await scene.start(barrier.enter()))
        }
        expect(statuses(entering)).toEqual(fulfilled(entering))
        const leaving: Outcome<void>[] = []
        for (const { value } of entering) {
          expect(statuses(leaving)).toEqual(pending(leaving))
          leaving.push(await scene.start(value.leave()))
        }
        expect(statuses(leaving)).toEqual(fulfilled(leaving))
        expect(names(scene)).toEqual([])
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('DoubleBarrier lets a member enter the next round while slow ones still leave this one (B08)', async () => {
    const { scene, clients, barriers } = await prepared(3)
    const entries = await inside(scene, barriers)
    // The last to learn it hears nothing for a while.
    const slow = clients[2]!
    const leaving = [outcome(entries[2]!.leave())]
    await scene.world.settle()
    scene.freeze(slow, 'replies')
    leaving.push(outcome(entries[0]!.leave()), outcome(entries[1]!.leave()))
    await scene.world.settle()
    const again = [outcome(barriers[0]!.enter()), outcome(barriers[1]!.enter())]
    await scene.world.advance(MUCH)
    expect(statuses(leaving)).toEqual(fulfilled(leaving))
    expect(statuses(again)).toEqual(pending(again))
    const third = await scene.start(barriers[2]!.enter())
    expect(statuses([...again, third])).toEqual(fulfilled([0, 1, 2]))
  })

  test('DoubleBarrier.leave wakes one member for each that leaves, and all others once at the end', async () => {
    const size = 20
    const { scene, barriers } = await prepared(size)
    const entries = await inside(scene, barriers)
    const sorted = [...entries].sort((one, other) => (one.path < other.path ? -1 : 1))
    const since = scene.since()
    const leaving = sorted.map((entry) => outcome(entry.leave()))
    await scene.world.settle()
    expect(statuses(leaving)).toEqual(fulfilled(leaving))
    expect(since.notified.length).toBeLessThan(3 * size)
  })

  test('DoubleBarrier.leave lists a few times only, when 250 members leave in the order in which they are awaited', async () => {
    const size = 250
    const { scene, clients } = await prepared(2)
    const [zk, other] = clients as [ZooKeeper, ZooKeeper]
    await scene.done(other.create(PATH, '', { parents: true }))
    const paths = Array.from({ length: size }, (_, index) => `${PATH}/m${1_000 + index}`)
    await scene.done(Promise.all(paths.map((path) => other.create(path, '', { mode: 'EPHEMERAL' }))))
    const entry = await scene.done(new DoubleBarrier(zk, PATH, { size: 1, name: '0' }).enter())
    const since = scene.since()
    const leaving = await scene.start(entry.leave())
    for (const path of paths.reverse()) {
      expect(leaving.status).toBe('pending')
      await scene.done(other.delete(path))
    }
    expect(leaving.status).toBe('fulfilled')
    // One list for each would be 250.
    const ops = since.ops(zk.session.id)
    expect(ops.filter((each) => each === 'getChildren2').length).toBeLessThan(0.7 * size)
    expect(ops.filter((each) => each === 'exists').length).toBeLessThan(size + 10)
  })

  test('DoubleBarrier.enter costs each member four requests, and one event', async () => {
    const size = 10
    const { scene, barriers } = await prepared(size)
    scene.ensemble.nodes.create(PATH)
    const since = scene.since()
    for (const barrier of barriers) await scene.start(barrier.enter())
    const counted = (name: string) => since.ops().filter((op) => op === name).length
    expect([counted('create2'), counted('getChildren2')]).toEqual([size, size])
    // The members' own node, and `ready`.
    expect(counted('exists')).toBe(2 * size)
    expect(counted('multi')).toBe(1)
    expect(since.notified).toHaveLength(size)
  })

  test('DoubleBarrier gives its nodes the name and the data that it was given', async () => {
    const { scene, clients } = await prepared(2)
    const barrier = new DoubleBarrier(clients[0]!, PATH, { size: 2, name: 'host-1' })
    await scene.start(barrier.enter({ data: 'part 7' }))
    const [name] = names(scene)
    expect(name).toMatch(/^host-1-[0-9a-f-]{36}$/)
    expect(Buffer.from(scene.ensemble.nodes.get(`${PATH}/${name}`)!.data).toString()).toBe('part 7')
  })

  test('DoubleBarrier lets more than its size in, and waits for all of them to leave', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const entries = await inside(scene, barriers)
    const third = await scene.start(new DoubleBarrier(clients[0]!, PATH, { size: 2 }).enter())
    expect(third.status).toBe('fulfilled')
    const leaving = entries.map((entry) => outcome(entry.leave()))
    await scene.world.settle()
    expect(statuses(leaving)).toEqual(pending(leaving))
    const last = await scene.start(third.value.leave())
    expect(statuses([...leaving, last])).toEqual(fulfilled([0, 1, 2]))
    expect(names(scene)).toEqual([])
  })

  test('DoubleBarrier.leave does not wait for a member that came while others left, and waits to enter (B13)', async () => {
    const { scene, barriers } = await prepared(3)
    const entries = await inside(scene, barriers)
    const [first, ...others] = entries.toSorted((one, other) => (one.path < other.path ? -1 : 1))
    const leaving: Outcome<void>[] = []
    for (const entry of others) leaving.push(await scene.start(entry.leave()))
    // Of three only the first is still there, and the new one.
    const coming = await scene.start(new DoubleBarrier(await scene.client(), PATH, { size: 3 }).enter())
    leaving.push(await scene.start(first!.leave()))
    expect(statuses([...leaving, coming])).toEqual([...fulfilled(entries), 'pending'])
    const again = [await scene.start(barriers[0]!.enter()), await scene.start(barriers[1]!.enter())]
    expect(statuses([coming, ...again])).toEqual(fulfilled([0, 1, 2]))
  })

  test('DoubleBarrier keeps the ready node of members that came while others left', async () => {
    const { scene, barriers } = await prepared(2)
    const [first, second] = (await inside(scene, barriers)).toSorted((one, other) => (one.path < other.path ? -1 : 1))
    const leaving = await scene.start(first!.leave())
    const { value: third } = await scene.start(new DoubleBarrier(await scene.client(), PATH, { size: 2 }).enter())
    const slow = await scene.start(second!.leave())
    expect(statuses([leaving, slow])).toEqual(['fulfilled', 'pending'])
    expect(names(scene)).toEqual(expect.arrayContaining(['ready']))
    const last = await scene.start(third.leave())
    expect(statuses([slow, last])).toEqual(fulfilled([0, 1]))
    expect(names(scene)).toEqual([])
  })

  test('DoubleBarrier does not take a ready node of members that have died for its own (B07)', async () => {
    const { scene, clients, barriers } = await prepared(2)
    scene.ensemble.nodes.create(`${PATH}/ready`)
    const first = await scene.start(barriers[0]!.enter())
    expect(first.status).toBe('pending')
    const second = await scene.start(barriers[1]!.enter())
    expect(statuses([first, second])).toEqual(fulfilled([0, 1]))
    const leaving = [first, second].map(({ value }) => outcome(value.leave()))
    await scene.world.settle()
    expect(statuses(leaving)).toEqual(fulfilled(leaving))
    expect(names(scene)).toEqual([])
    expect(clients).toHaveLength(2)
  })

  test('BarrierEntry is an AsyncDisposable: its end leaves', async () => {
    const { scene, barriers } = await prepared(1)
    const [entry] = await inside(scene, barriers)
    await scene.done(entry![Symbol.asyncDispose]())
    expect(names(scene)).toEqual([])
  })
})

describe('A member of a DoubleBarrier that dies', () => {
  test('DoubleBarrier.enter does not count a member that has died: the others wait for another (B05)', async () => {
    const { scene, clients, barriers } = await prepared(3)
    const entering = [outcome(barriers[0]!.enter()), outcome(barriers[1]!.enter())]
    await scene.world.settle()
    await scene.done(clients[0]!.close())
    const third = await scene.start(barriers[2]!.enter())
    expect(statuses([entering[1]!, third])).toEqual(['pending', 'pending'])
    const fourth = await scene.start(new DoubleBarrier(await scene.client(), PATH, { size: 3 }).enter())
    expect(statuses([entering[1]!, third, fourth])).toEqual(fulfilled([0, 1, 2]))
  })

  test('DoubleBarrier.leave does not wait for a member that has died inside, whichever it is', async () => {
    for (const dying of [0, 1, 2]) {
      const { scene, clients, barriers } = await prepared(3)
      const entries = await inside(scene, barriers)
      const sorted = entries.map((entry, index) => ({ entry, zk: clients[index]! }))
      sorted.sort((one, other) => (one.entry.path < other.entry.path ? -1 : 1))
      const leaving = sorted.filter((_, index) => index !== dying).map(({ entry }) => outcome(entry.leave()))
      await scene.world.settle()
      expect(statuses(leaving)).toEqual(pending(leaving))
      await scene.done(sorted[dying]!.zk.close())
      await scene.world.settle()
      expect(statuses(leaving)).toEqual(fulfilled(leaving))
      expect(names(scene)).toEqual([])
    }
  })

  test('BarrierEntry.leave that is called several times at a time waits for all others, in whatever order they go', async () => {
    const size = 3
    for (const leaver of [0, 1, 2]) {
      for (const isReverse of [false, true]) {
        const { scene, clients, barriers } = await prepared(size)
        const entries = await inside(scene, barriers)
        const sorted = entries.map((entry, index) => ({ entry, zk: clients[index]! }))
        sorted.sort((one, other) => (one.entry.path < other.entry.path ? -1 : 1))
        const others = sorted.filter((_, index) => index !== leaver)
        if (isReverse) others.reverse()
        const leaving = [1, 2, 3].map(() => outcome(sorted[leaver]!.entry.leave()))
        await scene.world.settle()
        for (const { zk } of others) {
          expect(statuses(leaving)).toEqual(pending(leaving))
          await scene.done(zk.close())
        }
        expect(statuses(leaving)).toEqual(fulfilled(leaving))
        expect(names(scene)).toEqual([])
      }
    }
  })

  test('BarrierEntry.signal aborts when the session expires inside, and leave rejects with its reason', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const [first, second] = await inside(scene, barriers)
    scene.expire(clients[0]!)
    await scene.world.advance(RECONNECTED)
    // The event of the node may come before the end of the session is known.
    expect(['SessionExpired', 'NoNode']).toContain(first!.signal.reason.code)
    expect((await scene.start(first!.leave())).error).toBe(first!.signal.reason)
    expect(second!.signal.aborted).toBe(false)
    await scene.done(second!.leave())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('BarrierEntry.signal aborts when the node is deleted inside', async () => {
    const { scene, barriers } = await prepared(1)
    const [entry] = await inside(scene, barriers)
    scene.ensemble.nodes.delete(entry!.path)
    await scene.world.settle()
    expect(entry!.signal.reason).toMatchObject({ code: 'NoNode', path: entry!.path })
    expect((await scene.start(entry!.leave())).error).toBe(entry!.signal.reason)
  })

  test('BarrierEntry.signal aborts when the client is closed or detached, and no node stays', async () => {
    for (const end of ['close', 'detach'] as const) {
      const { scene, clients, barriers } = await prepared(1)
      const [entry] = await inside(scene, barriers)
      await scene.done<unknown>(clients[0]![end]())
      expect(['Closed', 'NoNode']).toContain(entry!.signal.reason.code)
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
    }
  })

  test('DoubleBarrier.enter enters anew in the next session, and when its node was deleted (B06)', async () => {
    for (const how of ['expire', 'delete', 'deleteParent'] as const) {
      const { scene, clients, barriers } = await prepared(2)
      const first = await scene.start(barriers[0]!.enter())
      if (how === 'expire') scene.expire(clients[0]!)
      else scene.ensemble.nodes.delete(how === 'delete' ? `${PATH}/${names(scene)[0]}` : PATH)
      await scene.world.advance(RECONNECTED)
      expect(names(scene)).toHaveLength(1)
      const second = await scene.start(barriers[1]!.enter())
      expect(statuses([first, second])).toEqual(fulfilled([0, 1]))
    }
  })

  test('DoubleBarrier.leave goes on in the next session', async () => {
    const { scene, clients, barriers } = await prepared(3)
    const entries = await inside(scene, barriers)
    const leaving = entries.slice(0, 2).map((entry) => outcome(entry.leave()))
    await scene.world.settle()
    for (const zk of clients.slice(0, 2)) scene.expire(zk)
    await scene.world.advance(MUCH)
    expect(statuses(leaving)).toEqual(pending(leaving))
    await scene.done(entries[2]!.leave())
    expect(statuses(leaving)).toEqual(fulfilled(leaving))
    expect(scene.leftovers()).toEqual(nothing)
  })
})

describe('A DoubleBarrier whose answers are lost', () => {
  const ops = ['create2', 'exists', 'getChildren2', 'multi', 'delete'] as const

  test.each(ops.flatMap((op) => eachFault.map(([name, fault]) => [op, name, fault] as const)))(
    'DoubleBarrier lets all in and out where a %s meets %s (B11)',
    async (op, _, fault) => {
      for (const nth of [1, 2, 3]) {
        const { scene, barriers } = await prepared(3)
        fault(scene.ensemble.faults, { op, nth })
        const entering = barriers.map((barrier) => outcome(barrier.enter()))
        await scene.world.advance(MUCH)
        expect(statuses(entering)).toEqual(fulfilled(entering))
        const leaving = entering.map(({ value }) => outcome(value.leave()))
        await scene.world.advance(MUCH)
        expect(statuses(leaving)).toEqual(fulfilled(leaving))
        scene.ensemble.faults.clear()
        expect(names(scene)).toEqual([])
        expect(scene.leftovers()).toEqual(nothing)
      }
    },
  )

  test('DoubleBarrier.enter misses no opening while it has no connection (B09)', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const first = await scene.start(barriers[0]!.enter())
    scene.freeze(clients[0]!)
    const second = await scene.start(barriers[1]!.enter())
    // As if a member of the round before had been slow to delete it.
    scene.ensemble.nodes.delete(`${PATH}/ready`)
    await scene.world.advance(T - 500)
    expect(statuses([first, second])).toEqual(fulfilled([0, 1]))
  })
})

describe('A DoubleBarrier that is given up', () => {
  test('DoubleBarrier.enter rejects with a WaitTimeoutError that says how many were there, and leaves nothing', async () => {
    const { scene, barriers } = await prepared(3)
    const entering = barriers.slice(0, 2).map((barrier) => outcome(barrier.enter({ timeout: 1_000 })))
    await scene.world.advance(1_000)
    for (const { error } of entering) {
      expect(WaitTimeoutError.is(error)).toBe(true)
      expect(error).toMatchObject({ path: PATH })
      expect(String(error)).toMatch(/did not open within 1000 ms: [12] of 3 have entered/)
    }
    await scene.world.settle()
    expect(names(scene)).toEqual([])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('BarrierEntry.leave rejects with a WaitTimeoutError, has left, and waits again when it is called again', async () => {
    for (const index of [0, 1]) {
      const { scene, barriers } = await prepared(2)
      const entries = (await inside(scene, barriers)).sort((one, other) => (one.path < other.path ? -1 : 1))
      const [leaver, stayer] = [entries[index]!, entries[1 - index]!]
      const leaving = outcome(leaver.leave({ timeout: 1_000 }))
      await scene.world.advance(1_000)
      expect(leaving.error).toMatchObject({ name: 'WaitTimeoutError', present: [stayer.path] })
      await scene.world.settle()
      expect(names(scene)).not.toContain(leaver.path.slice(PATH.length + 1))
      const again = await scene.start(leaver.leave())
      expect(again.status).toBe('pending')
      await scene.done(stayer.leave())
      expect(again.status).toBe('fulfilled')
      expect(scene.leftovers()).toEqual(nothing)
    }
  })

  test('DoubleBarrier.enter is aborted at every moment: it rejects with the reason, and leaves nothing (B10)', async () => {
    const played = await atEveryMoment(async (moment) => {
      const { scene, barriers } = await prepared(2)
      const aborting = new AbortController()
      const entering = outcome(barriers[0]!.enter({ signal: aborting.signal }))
      scene.world.interrupt(moment, () => aborting.abort('no'))
      await scene.world.settle()
      if (scene.world.isInterruptionDue) return false
      expect(entering.error).toBe('no')
      await scene.world.advance(RECONNECTED)
      expect(names(scene)).toEqual([])
      expect(scene.leftovers()).toEqual(nothing)
      return true
    })
    expect(played).toBeGreaterThan(5)
  })

  test('BarrierEntry.leave is aborted at every moment: it has left, and leaves nothing', async () => {
    for (const index of [0, 1]) {
      await atEveryMoment(async (moment) => {
        const { scene, barriers } = await prepared(2)
        const entries = (await inside(scene, barriers)).sort((one, other) => (one.path < other.path ? -1 : 1))
        const aborting = new AbortController()
        const leaving = outcome(entries[index]!.leave({ signal: aborting.signal }))
        scene.world.interrupt(moment, () => aborting.abort('no'))
        await scene.world.settle()
        if (scene.world.isInterruptionDue) return false
        expect(leaving.error).toBe('no')
        const other = await scene.start(entries[1 - index]!.leave())
        expect(other.status).toBe('fulfilled')
        expect(scene.leftovers()).toEqual(nothing)
        return true
      })
    }
  })

  test('DoubleBarrier leaves no node in a session that is left, at whatever moment of enter', async () => {
    await atEveryMoment(async (moment) => {
      const { scene, clients, barriers } = await prepared(2)
      const entering = outcome(barriers[0]!.enter())
      let detaching: Outcome<unknown> | undefined
      scene.world.interrupt(moment, () => {
        detaching = outcome(clients[0]!.detach())
      })
      await scene.world.settle()
      if (detaching === undefined) return false
      expect(detaching.status).toBe('fulfilled')
      expect(entering.error).toMatchObject({ code: 'Closed' })
      expect(scene.ensemble.nodes.ephemerals()).toEqual([])
      return true
    })
  })
})

describe('What DoubleBarrier refuses', () => {
  test.each<[string, (zk: ZooKeeper) => unknown, typeof Error]>([
    ['no client', () => new DoubleBarrier({} as ZooKeeper, PATH, { size: 2 }), TypeError],
    ['the root', (zk) => new DoubleBarrier(zk, '/', { size: 2 }), TypeError],
    ['no options', (zk) => new DoubleBarrier(zk, PATH, undefined as never), TypeError],
    ['size 0', (zk) => new DoubleBarrier(zk, PATH, { size: 0 }), RangeError],
    ['a fractional size', (zk) => new DoubleBarrier(zk, PATH, { size: 1.5 }), RangeError],
    ['a size that is too large', (zk) => new DoubleBarrier(zk, PATH, { size: 5_001 }), RangeError],
    ['a name with a slash', (zk) => new DoubleBarrier(zk, PATH, { size: 2, name: 'a/b' }), TypeError],
    ['an unknown option', (zk) => new DoubleBarrier(zk, PATH, { size: 2, members: 2 } as never), TypeError],
    ['data that is none', (zk) => new DoubleBarrier(zk, PATH, { size: 2 }).enter({ data: 7 as never }), TypeError],
    ['a timeout below 0', (zk) => new DoubleBarrier(zk, PATH, { size: 2 }).enter({ timeout: -1 }), RangeError],
  ])('DoubleBarrier refuses %s before anything is sent', async (_, call, type) => {
    const { scene, clients } = await prepared(1)
    const since = scene.since()
    const calling = await scene.start((async () => await call(clients[0]!))())
    expect(calling.error).toBeInstanceOf(type)
    expect(since.ops()).toEqual([])
  })

  test('DoubleBarrier.leave does not wait for a node of no session, which no member made (B12)', async () => {
    const { scene, barriers } = await prepared(1)
    const [entry] = await inside(scene, barriers)
    scene.ensemble.nodes.create(`${PATH}/zzz`)
    await scene.done(entry!.leave())
    expect(names(scene)).toEqual(['zzz'])
  })
})

describe('DoubleBarrier and what its member did before', () => {
  test('DoubleBarrier.enter counts no node of an earlier session of its own', async () => {
    const scene = new Scene()
    const zk = await scene.client({ advanced: { localExpiry: 1 }, sessionTimeout: T })
    const entering = await scene.start(new DoubleBarrier(zk, PATH, { size: 2 }).enter())
    // Twice: the node of the first session may still be there when the second one is over, too.
    const before = zk.session.id
    scene.freeze(zk, 'replies')
    scene.refuse()
    await scene.world.advance(T)
    scene.accept()
    await scene.world.advance(RECONNECTED / 2)
    const second = zk.session.id
    scene.expire(zk)
    for (let ms = 0; [second, 0n].includes(zk.session.id) && ms < T; ms++) await scene.world.advance(1)
    expect(new Set([0n, before, second, zk.session.id]).size).toBe(4)
    await scene.world.advance(3 * T)
    expect(entering.status).toBe('pending')
    const [name, other] = scene.children(PATH)
    expect([scene.ensemble.nodes.get(`${PATH}/${name}`)!.stat.ephemeralOwner, other]).toEqual([
      zk.session.id,
      undefined,
    ])
  })

  test('DoubleBarrier.enter writes the data of the call, also in the next session', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const data = new TextEncoder().encode('one')
    const entering = outcome(new DoubleBarrier(zk, PATH, { size: 2 }).enter({ data }))
    data.fill(33)
    await scene.world.settle()
    scene.expire(zk)
    await scene.world.advance(MUCH)
    const [name] = scene.children(PATH)
    expect(Buffer.from(scene.ensemble.nodes.get(`${PATH}/${name}`)!.data).toString()).toBe('one')
    expect(entering.status).toBe('pending')
  })

  test('BarrierEntry.leave with a signal that is aborted already has left', async () => {
    const { scene, barriers } = await prepared(2)
    const [one, two] = await inside(scene, barriers)
    const leaving = await scene.start(one!.leave({ signal: AbortSignal.abort('no') }))
    expect(leaving.error).toBe('no')
    await scene.done(two!.leave())
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('BarrierEntry.leave that ran out of time before it saw the others waits for them at the next call', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const [one, two] = await inside(scene, barriers)
    scene.ensemble.faults.fail({ op: 'multi', session: clients[0]!.session.id, code: 'ThrottledOp' })
    const leaving = outcome(one!.leave({ timeout: 100 }))
    await scene.world.advance(RECONNECTED)
    expect(WaitTimeoutError.is(leaving.error)).toBe(true)
    const again = await scene.start(one!.leave())
    expect(again.status).toBe('pending')
    await scene.done(two!.leave())
    expect(again.status).toBe('fulfilled')
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('BarrierEntry.leave of the first one deletes ready at a further call, where the last of the others has died', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const entries = await inside(scene, barriers)
    const [first, other] = entries[0]!.path < entries[1]!.path ? [0, 1] : [1, 0]
    const leaving = outcome(entries[first]!.leave({ timeout: 100 }))
    await scene.world.advance(100)
    expect(WaitTimeoutError.is(leaving.error)).toBe(true)
    await scene.done(clients[other]!.close())
    await scene.done(entries[first]!.leave())
    expect(names(scene)).toEqual([])
  })

  test('BarrierEntry.leave of the last one deletes no ready of the next round, where the answer was lost', async () => {
    const { scene, clients, barriers } = await prepared(2)
    const entries = await inside(scene, barriers)
    const [first, other] = entries[0]!.path < entries[1]!.path ? [0, 1] : [1, 0]
    const leaving = outcome(entries[first]!.leave())
    await scene.world.settle()
    const { session } = clients[first]!
    scene.ensemble.faults.loseReply({ op: 'multi', session: session.id, path: `${PATH}/ready`, connection: 'reset' })
    const last = outcome(entries[other]!.leave())
    await scene.world.settle()
    expect(names(scene)).toEqual([])
    if (scene.ensemble.nodes.get(PATH) === undefined) scene.ensemble.nodes.create(PATH)
    scene.ensemble.nodes.create(`${PATH}/ready`)
    await scene.world.advance(RECONNECTED)
    expect([leaving.status, last.status, names(scene)]).toEqual(['fulfilled', 'fulfilled', ['ready']])
  })

  test('DoubleBarrier.enter rejects with NoAuth where a server does not show its own node', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    scene.network.latency = () => 1
    scene.ensemble.nodes.create(PATH)
    const acl = [{ perms: 28, id: { scheme: 'world', id: 'anyone' } }]
    const entering = outcome(new DoubleBarrier(zk, PATH, { size: 2, name: 'own', acl }).enter())
    const own = () => scene.children(PATH).find((name) => name.startsWith('own-'))
    for (let ms = 0; own() === undefined && ms < RECONNECTED; ms++) await scene.world.advance(1)
    scene.ensemble.faults.fail({ op: 'exists', path: `${PATH}/${own()}`, code: 'NoAuth', times: Infinity })
    const { called } = zk.stats().requests
    await scene.world.advance(1_000)
    expect(KeeperError.is(entering.error, 'NoAuth')).toBe(true)
    expect(zk.stats().requests.called - called).toBeLessThan(30)
    expect(scene.leftovers()).toEqual(nothing)
  })
})
