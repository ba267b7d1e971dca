// Locks with `detectDeadlocks`: one member of a cycle rejects, and no other.
import { describe, expect, test } from 'vitest'
import {
  KeeperError,
  LeaderElection,
  Lock,
  MultiLock,
  Perms,
  SharedLock,
  WouldDeadlockError,
  type ZooKeeper,
} from '../src/index.ts'
import { readMarks, withMarks } from '../src/deadlock/marks.ts'
import { atEveryMoment } from './support/everywhere.ts'
import { drop, loseReply, loseRequest } from './support/faults.ts'
import { outcome, type Outcome } from './support/outside.ts'
import { nothing, Scene } from './support/scene.ts'

const A = '/locks/a'
const B = '/locks/b'
const C = '/locks/c'
const detectDeadlocks = true
/** Longer than any pause before a new connection. */
const RECONNECTED = 2_000

async function prepared(count = 3) {
  const scene = new Scene()
  for (const path of ['/locks', A, B, C]) scene.ensemble.nodes.create(path)
  const clients = await scene.clients(count)
  return { scene, clients: clients as [ZooKeeper, ZooKeeper, ZooKeeper] }
}

const lock = (zk: ZooKeeper, path: string, label = '') => new Lock(zk, path, { detectDeadlocks, label })

const statuses = (all: readonly Outcome<unknown>[]) => all.map(({ status }) => status)

/** Each client has one lock, and waits for that of the next. */
async function ring(scene: Scene, clients: readonly ZooKeeper[]) {
  const paths = [A, B, C].slice(0, clients.length)
  const held = []
  for (const [index, zk] of clients.entries())
    held.push(await scene.done(lock(zk, paths[index]!, `has ${index}`).acquire()))
  const waits = []
  for (const [index, zk] of clients.entries()) {
    waits.push(await scene.start(lock(zk, paths[(index + 1) % paths.length]!).acquire()))
  }
  return { held, waits }
}

describe('detectDeadlocks', () => {
  test.each([2, 3])(
    'Lock.acquire that closes a cycle of %i rejects with a WouldDeadlockError that names it',
    async (count) => {
      const { scene, clients } = await prepared(count)
      const { held, waits } = await ring(scene, clients)
      expect(statuses(waits)).toEqual([...waits.slice(1).map(() => 'pending'), 'rejected'])
      const error = waits.at(-1)!.error as WouldDeadlockError
      expect(WouldDeadlockError.is(error)).toBe(true)
      expect(error.path).toBe(A)
      // From the own wait over all others to the own hold.
      expect(error.cycle[0]!.path).toMatch(/^\/locks\/a\//)
      expect(error.cycle.at(-1)!.path).toBe(held.at(-1)!.path)
      expect(error.cycle.map(({ label }) => label)).toContain('has 0')
      expect(error.message).toMatch(/would never be granted: \/locks\/a\/.* waits for .* which this same task holds/)
      expect(JSON.stringify(error)).toContain('"sessionId":"0x')
      // The others go on as soon as the victim releases what it holds.
      await scene.done(held.at(-1)!.release())
      expect(waits.at(-2)!.value.isHeld()).toBe(true)
      await scene.done(waits.at(-2)!.value.release())
      await scene.done(held.at(-2)!.release())
      for (const wait of waits.slice(0, -2)) await scene.done(wait.value.release())
      for (const each of held.slice(0, -2)) await scene.done(each.release())
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test('Lock.acquire of what its own task holds rejects at once', async () => {
    const { scene, clients } = await prepared()
    await scene.done(lock(clients[0], A).acquire())
    const again = await scene.start(lock(clients[0], A).acquire())
    expect(WouldDeadlockError.is(again.error)).toBe(true)
  })

  test('Lock.acquire that waits for a task that goes on does not reject', async () => {
    const { scene, clients } = await prepared()
    const [one, two] = clients
    await scene.done(lock(one, A).acquire())
    const b = await scene.done(lock(two, B).acquire())
    const waiting = await scene.start(lock(one, B).acquire())
    const third = await scene.start(lock(clients[2], A).acquire())
    expect(statuses([waiting, third])).toEqual(['pending', 'pending'])
    await scene.done(b.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('Lock.acquire finds a cycle through a contender that only waits in between', async () => {
    const { scene, clients } = await prepared()
    const [one, two, three] = clients
    await scene.done(lock(one, A).acquire())
    await scene.done(lock(two, B).acquire())
    const between = await scene.start(lock(three, B).acquire())
    const first = await scene.start(lock(one, B).acquire())
    const second = await scene.start(lock(two, A).acquire())
    expect(statuses([between, first, second])).toEqual(['pending', 'pending', 'rejected'])
  })

  test('SharedLock with detectDeadlocks finds two readers that both want to write', async () => {
    const { scene, clients } = await prepared(2)
    const shared = clients.map((zk) => new SharedLock(zk, A, { detectDeadlocks }))
    for (const each of shared) await scene.done(each.read.acquire())
    const writers = []
    for (const each of shared) writers.push(await scene.start(each.write.acquire()))
    // The first waits for the reader of the second, and its own.
    expect(writers.every(({ status }) => status === 'rejected')).toBe(true)
  })

  test('WriteHeld.downgrade keeps its place in a cycle', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    const writer = await scene.done(new SharedLock(one, A, { detectDeadlocks }).write.acquire())
    await scene.done(writer.downgrade())
    await scene.done(lock(two, B).acquire())
    const first = await scene.start(lock(one, B).acquire())
    const second = await scene.start(new SharedLock(two, A, { detectDeadlocks }).write.acquire())
    expect(statuses([first, second])).toEqual(['pending', 'rejected'])
  })

  test.each(['the MultiLock', 'the Lock'])(
    'MultiLock beside locks that are taken one by one: %s that comes last rejects',
    async (last) => {
      const { scene, clients } = await prepared(2)
      const [one, two] = clients
      const held = await scene.done(lock(one, B).acquire())
      const multi = () => new MultiLock(two, [A, B], { detectDeadlocks }).acquire()
      const single = () => lock(one, A).acquire()
      if (last === 'the Lock') {
        const both = await scene.start(multi())
        const second = await scene.start(single())
        expect(statuses([both, second])).toEqual(['pending', 'rejected'])
        await scene.done(held.release())
        expect(both.value.isHeld()).toBe(true)
      } else {
        // It is behind the first at A, and before it at B: that needs one that is there already.
        const before = await scene.done(new Lock(two, A).acquire())
        const both = await scene.start(multi())
        const second = await scene.start(single())
        await scene.done(before.release())
        expect(statuses([both, second])).toEqual(['pending', 'rejected'])
      }
    },
  )

  test('Lock with detectDeadlocks of two tasks of one client takes neither for the other', async () => {
    const { scene, clients } = await prepared(2)
    const [zk, other] = clients
    const [task1, task2] = [{}, {}]
    await scene.done(new Lock(zk, A, { detectDeadlocks: task1 }).acquire())
    const b = await scene.done(lock(other, B).acquire())
    const independent = await scene.start(new Lock(zk, B, { detectDeadlocks: task2 }).acquire())
    const waiting = await scene.start(lock(other, A).acquire())
    expect(statuses([independent, waiting])).toEqual(['pending', 'pending'])
    const closing = await scene.start(new Lock(zk, B, { detectDeadlocks: task1 }).acquire())
    expect(statuses([independent, waiting, closing])).toEqual(['pending', 'pending', 'rejected'])
    await scene.done(b.release())
    expect(independent.value.isHeld()).toBe(true)
  })

  test('Lock with detectDeadlocks finds what was acquired while another acquire of its task already waited', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    await scene.done(lock(two, B).acquire())
    const waiting = await scene.start(lock(one, B).acquire())
    await scene.done(lock(one, A).acquire())
    const closing = await scene.start(lock(two, A).acquire())
    expect(statuses([waiting, closing])).toEqual(['pending', 'rejected'])
  })

  test('Lock without the option ends no cycle: it is not part of one', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    await scene.done(new Lock(one, A).acquire())
    await scene.done(lock(two, B).acquire())
    const first = await scene.start(new Lock(one, B).acquire())
    const second = await scene.start(lock(two, A).acquire())
    expect(statuses([first, second])).toEqual(['pending', 'pending'])
  })

  test('Lock with detectDeadlocks works in views of one client, and across chroots', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    const view = two.withChroot('/locks')
    await scene.done(lock(one, A).acquire())
    await scene.done(lock(view, '/b').acquire())
    const first = await scene.start(lock(one, B).acquire())
    const second = await scene.start(lock(view, '/a').acquire())
    expect(statuses([first, second])).toEqual(['pending', 'rejected'])
    expect((second.error as WouldDeadlockError).cycle[0]!.path).toMatch(/^\/locks\/a\//)
  })

  test.each([
    ['a view', 'its client', '/locks', ''],
    ['its client', 'a view', '', '/locks'],
  ])('Lock.acquire finds a cycle of a task that holds by %s and waits by %s', async (_, _other, holding, waiting) => {
    const { scene, clients } = await prepared(2)
    const [zk, other] = clients
    const by = (chroot: string) => (chroot === '' ? zk : zk.withChroot(chroot))
    const named = (chroot: string, path: string) => path.slice(chroot.length)
    await scene.done(lock(by(holding), named(holding, A)).acquire())
    await scene.done(lock(other, B).acquire())
    const first = await scene.start(lock(other, A).acquire())
    const second = await scene.start(lock(by(waiting), named(waiting, B)).acquire())
    expect(statuses([first, second])).toEqual(['pending', 'rejected'])
    expect(WouldDeadlockError.is(second.error)).toBe(true)
  })

  test('Lock.acquire waits without a search if all that its task would write is too long for a request', async () => {
    const { scene, clients } = await prepared(2)
    const [zk, other] = clients
    const label = 'x'.repeat(60_000)
    for (let number = 0; number < 20; number++) await scene.done(lock(zk, `/locks/many-${number}`, label).acquire())
    const held = await scene.done(lock(other, A).acquire())
    const waiting = await scene.start(lock(zk, A).acquire())
    expect(waiting.status).toBe('pending')
    await scene.done(held.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test('LeaderElection keeps data that looks like marks, and a label of a lock may not look like them', async () => {
    const { scene, clients } = await prepared(2)
    const data = 'host\0waits for ["me"]'
    const election = new LeaderElection(clients[0], '/locks/election', { data })
    const campaign = await scene.start(election.campaign())
    expect(campaign.status).toBe('fulfilled')
    expect(await scene.done(election.leader())).toMatchObject({ label: data })
    expect(() => new Lock(clients[0], A, { label: data })).toThrow(/a label must not contain/)
  })

  test('Lock.contenders and LockTimeoutError show the label alone, while the node says more', async () => {
    const { scene, clients } = await prepared(2)
    const { held } = await ring(scene, clients)
    const data = scene.ensemble.nodes.get(held[0]!.path)!.data
    expect(readMarks(data).waitsFor).toHaveLength(1)
    const [info] = await scene.done(lock(clients[0], A).contenders())
    expect(info).toMatchObject({ label: 'has 0', data: new TextEncoder().encode('has 0') })
    const late = outcome(new Lock(clients[1], A).acquire({ timeout: 100 }))
    await scene.world.advance(200)
    expect(late.error).toMatchObject({ blocker: { label: 'has 0' } })
  })
})

describe('Costs of detectDeadlocks', () => {
  test('Lock with detectDeadlocks is acquired and released as one without, and so is one that waits and holds nothing', async () => {
    const { scene, clients } = await prepared(2)
    const asked: (string | undefined)[][] = []
    for (const option of [false, true]) {
      const locks = clients.map((zk) => new Lock(zk, A, { detectDeadlocks: option }))
      const since = scene.since()
      const held = await scene.done(locks[0]!.acquire())
      const waiting = await scene.start(locks[1]!.acquire())
      await scene.done(held.release())
      await scene.done(waiting.value.release())
      asked.push(since.ops())
    }
    expect(asked[1]).toEqual(asked[0])
  })

  test('Lock with detectDeadlocks that waits while its task holds another one writes once, and reads one list and the nodes ahead', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    await scene.done(lock(one, A).acquire())
    await scene.done(lock(two, B).acquire())
    const since = scene.since()
    await scene.start(lock(one, B).acquire())
    expect(since.ops()).toEqual(['create2', 'getChildren2', 'multi', 'getData', 'getChildren2', 'getData'])
  })
})

describe('detectDeadlocks while something goes wrong', () => {
  test.each([
    ['the transaction that writes', { op: 'multi' }],
    ['the list', { op: 'getChildren2', nth: 2 }],
    ['a read', { op: 'getData', nth: 2 }],
    ['the sync', { op: 'sync' }],
  ] as const)('Lock.acquire rejects one member of the cycle also when %s gets no answer', async (_, match) => {
    for (const fault of [loseRequest, loseReply, drop]) {
      const { scene, clients } = await prepared(2)
      const [one, two] = clients
      const a = await scene.done(lock(one, A).acquire())
      await scene.done(lock(two, B).acquire())
      const first = await scene.start(lock(one, B).acquire())
      fault(scene.ensemble.faults, { ...match, session: two.session.id })
      const second = outcome(lock(two, A).acquire())
      await scene.world.advance(2 * RECONNECTED)
      expect(statuses([first, second]).sort()).toEqual(['pending', 'rejected'])
      const [victim] = [first, second].filter(({ status }) => status === 'rejected')
      expect(WouldDeadlockError.is(victim!.error)).toBe(true)
      expect(a.isHeld()).toBe(true)
    }
  })

  test('Lock.acquire rejects exactly one of two that close the cycle at the same time', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const scene = new Scene({ seed, members: 3 })
      for (const path of ['/locks', A, B, C]) scene.ensemble.nodes.create(path)
      const clients = await scene.clients(3)
      scene.network.latency = () => Math.floor(scene.world.random() * 4)
      const paths = [A, B, C]
      for (const [index, zk] of clients.entries()) {
        const acquiring = outcome(lock(zk, paths[index]!).acquire())
        await scene.world.advance(50)
        expect(acquiring.value.isHeld()).toBe(true)
      }
      const waits = clients.map((zk, index) => outcome(lock(zk, paths[(index + 1) % 3]!).acquire()))
      await scene.world.advance(200)
      expect(statuses(waits).sort()).toEqual(['pending', 'pending', 'rejected'])
    }
  })

  test('Lock.acquire does not reject for a cycle that another member has just left', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    const a = await scene.done(lock(one, A).acquire())
    await scene.done(lock(two, B).acquire())
    const abort = new AbortController()
    const first = await scene.start(lock(one, B).acquire({ signal: abort.signal }))
    // It leaves between the first look of the other and the second.
    const rule = scene.ensemble.faults.delayRequest({ op: 'sync', session: two.session.id, ms: 100 })
    const second = outcome(lock(two, A).acquire())
    await scene.world.advance(50)
    expect(rule.count).toBe(1)
    abort.abort(new Error('enough'))
    await scene.world.advance(200)
    expect(statuses([first, second])).toEqual(['rejected', 'pending'])
    await scene.done(a.release())
    expect(second.value.isHeld()).toBe(true)
  })

  test('Lock.acquire that looks for a deadlock is aborted at every moment, and leaves nothing', async () => {
    const played = await atEveryMoment(
      async (moment) => {
        const { scene, clients } = await prepared(2)
        const [one, two] = clients
        const a = await scene.done(lock(one, A).acquire())
        const b = await scene.done(lock(two, B).acquire())
        const first = await scene.start(lock(one, B).acquire())
        const abort = new AbortController()
        let wasPending = false
        const second = outcome(lock(two, A).acquire({ signal: abort.signal }))
        scene.world.interrupt(moment, () => {
          wasPending = second.status === 'pending'
          abort.abort()
        })
        await scene.world.settle()
        expect(second.status).toBe('rejected')
        await scene.done(b.release())
        await scene.done(first.value.release())
        await scene.done(a.release())
        await scene.world.advance(1_000)
        expect(scene.leftovers()).toEqual(nothing)
        return wasPending
      },
      { stride: 3 },
    )
    expect(played).toBeGreaterThan(5)
  })

  test('Lock.acquire whose nodes may not be written rejects with NoAuth where it would have to say for what it waits', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    const acl = [{ perms: Perms.ALL - Perms.WRITE, id: { scheme: 'world', id: 'anyone' } }]
    await scene.done(new Lock(one, A, { detectDeadlocks, acl }).acquire())
    await scene.done(lock(two, B).acquire())
    const waiting = await scene.start(lock(one, B).acquire())
    expect(KeeperError.is(waiting.error, 'NoAuth')).toBe(true)
    expect((waiting.error as KeeperError).path).toMatch(/^\/locks\/a\//)
  })

  test('Lock.acquire whose node is deleted while it waits queues again, and is found in a cycle', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    await scene.done(lock(one, A).acquire())
    await scene.done(lock(two, B).acquire())
    const first = await scene.start(lock(one, B).acquire())
    await scene.world.advance(100)
    scene.ensemble.nodes.delete(`${B}/${scene.children(B).at(-1)}`)
    await scene.world.settle()
    expect(scene.children(B)).toHaveLength(2)
    const second = await scene.start(lock(two, A).acquire())
    expect(statuses([first, second])).toEqual(['pending', 'rejected'])
  })

  test('Lock with detectDeadlocks waits on in the next session, where it holds nothing', async () => {
    const { scene, clients } = await prepared(2)
    const [one, two] = clients
    await scene.done(lock(one, A).acquire())
    const b = await scene.done(lock(two, B).acquire())
    const waiting = await scene.start(lock(one, B).acquire())
    scene.expire(one)
    await scene.world.advance(RECONNECTED)
    const a = await scene.start(lock(two, A).acquire())
    expect(a.value.isHeld()).toBe(true)
    expect(waiting.status).toBe('pending')
    await scene.done(b.release())
    expect(waiting.value.isHeld()).toBe(true)
  })

  test.each([1, 'yes', null])('Lock refuses detectDeadlocks: %j', async (value) => {
    const { clients } = await prepared(1)
    const options = { detectDeadlocks: value as unknown as boolean }
    expect(() => new Lock(clients[0], A, options)).toThrow(/detectDeadlocks must be/)
    expect(() => new SharedLock(clients[0], A, options)).toThrow(/detectDeadlocks must be/)
    expect(() => new MultiLock(clients[0], [A], options)).toThrow(/detectDeadlocks must be/)
  })
})

describe('Marks', () => {
  const utf8 = new TextEncoder()

  test('readMarks reads what withMarks wrote, behind any label', () => {
    for (const label of ['', 'host-1', '\0', 'ü\0waits for ']) {
      const data = withMarks(label, ['/a/x', '/b/y'])
      expect(readMarks(data as Uint8Array)).toEqual({ label: utf8.encode(label), waitsFor: ['/a/x', '/b/y'] })
      expect(withMarks(label, [])).toBe(label)
    }
  })

  test.each(['', 'plain', '\0waits for ', '\0waits for {', '\0waits for [1]', '\0waits for {"a":1}'])(
    'readMarks takes %j for a label',
    (label) => {
      expect(readMarks(utf8.encode(label))).toEqual({ label: utf8.encode(label), waitsFor: [] })
    },
  )
})
