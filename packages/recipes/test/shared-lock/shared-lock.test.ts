// Read/write locks (catalogue R).
import { describe, expect, test } from 'vitest'
import { type Held, SharedLock, type WriteHeld, type ZooKeeper } from '../../src/index.ts'
import { outcome, type Outcome, SeededRandom } from '../support/outside.ts'
import { nothing, Scene, TICK } from '../support/scene.ts'

const PATH = '/locks/catalogue'

type Kind = 'read' | 'write'
interface Asked {
  readonly kind: Kind
  readonly zk: ZooKeeper
  readonly acquiring: Outcome<Held>
}

/** Contenders of these kinds, one after the other, each of a client of its own. */
async function queue(scene: Scene, ...kinds: Kind[]): Promise<Asked[]> {
  const asked: Asked[] = []
  for (const kind of kinds) {
    const zk = await scene.client()
    asked.push({ kind, zk, acquiring: await scene.start(new SharedLock(zk, PATH)[kind].acquire()) })
  }
  return asked
}

/** Which of them hold, by their place in the queue. */
function holders(asked: readonly Asked[]): number[] {
  return asked.flatMap(({ acquiring }, index) =>
    acquiring.status === 'fulfilled' && acquiring.value.isHeld() ? [index] : [],
  )
}

function watched(scene: Scene, { zk }: Asked): string[] {
  return scene.watches().flatMap(({ session, path }) => (session === zk.session.id ? [path] : []))
}

function paths(scene: Scene): string[] {
  return scene.children(PATH).map((name) => `${PATH}/${name}`)
}

describe('SharedLock', () => {
  test('SharedLock lets any number of readers share, and no writer with anyone (R01)', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'read', 'read', 'read', 'write')
    expect(holders(asked)).toEqual([0, 1, 2])
  })

  test('SharedLock makes a reader behind a waiting writer wait (R01)', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'read', 'write', 'read', 'read', 'write')
    const released = new Set<number>()
    const grants: number[][] = []
    while (released.size < asked.length) {
      const holding = holders(asked)
      grants.push(holding)
      for (const index of holding) {
        released.add(index)
        await scene.done(asked[index]!.acquiring.value.release())
      }
    }
    expect(grants).toEqual([[0], [1], [2, 3], [4]])
    expect(scene.leftovers()).toEqual(nothing)
  })

  test('SharedLock wakes a hundred readers when their writer releases, and the next writer after the last of them (R02)', async () => {
    const scene = new Scene()
    const [first] = await queue(scene, 'write')
    const clients = await scene.clients(10)
    const readers: Outcome<Held>[] = []
    for (let each = 0; each < 100; each++) {
      readers.push(await scene.start(new SharedLock(clients[each % 10]!, PATH).read.acquire()))
    }
    const [last] = await queue(scene, 'write')
    await scene.done(first!.acquiring.value.release())
    expect(readers.filter(({ status }) => status === 'fulfilled')).toHaveLength(100)
    for (const reader of readers) {
      expect(last!.acquiring.status).toBe('pending')
      await scene.done(reader.value.release())
    }
    expect(last!.acquiring.value.isHeld()).toBe(true)
  })

  test('SharedLock grants a reader between two writers when the first releases (R04, kazoo#649)', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'write', 'read', 'write')
    // The reader looks only at older writers: it and the last writer do not wait for each other.
    expect(watched(scene, asked[1]!)).toEqual([paths(scene)[0]])
    expect(watched(scene, asked[2]!)).toEqual([paths(scene)[1]])
    await scene.done(asked[0]!.acquiring.value.release())
    expect(holders(asked)).toEqual([1])
    await scene.done(asked[1]!.acquiring.value.release())
    expect(holders(asked)).toEqual([2])
  })

  test('SharedLock has a reader watch the nearest older writer, and a writer the one right before it', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'write', 'write', 'read', 'read', 'write', 'read')
    const all = paths(scene)
    expect(asked.slice(1).map((each) => watched(scene, each))).toEqual([
      [all[0]],
      [all[1]],
      [all[1]],
      [all[3]],
      [all[4]],
    ])
  })

  test('SharedLock wakes only the readers concerned by a release, not those behind later writers', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'write', 'read', 'read', 'write', 'read', 'read')
    const since = scene.since()
    await scene.done(asked[0]!.acquiring.value.release())
    expect(new Set(since.notified.map(({ session }) => session))).toEqual(
      new Set([1, 2].map((index) => asked[index]!.zk.session.id)),
    )
    expect(since.notified).toHaveLength(2)
  })

  test('SharedLock has a reader watch the next older writer when the nearest gives up (R05)', async () => {
    const scene = new Scene()
    const [first] = await queue(scene, 'write')
    const abort = new AbortController()
    outcome(new SharedLock(await scene.client(), PATH).write.acquire({ signal: abort.signal }))
    await scene.world.settle()
    const [reader] = await queue(scene, 'read')
    abort.abort()
    await scene.world.settle()
    expect(reader!.acquiring.status).toBe('pending')
    expect(watched(scene, reader!)).toEqual([first!.acquiring.value.path])
    await scene.done(first!.acquiring.value.release())
    expect(reader!.acquiring.value.isHeld()).toBe(true)
  })

  test.each([1, 2, 3, 4, 5])(
    'SharedLock grants a writer once, after the last of the readers before it (R06, order %i)',
    async (seed) => {
      const scene = new Scene()
      const asked = await queue(scene, 'read', 'read', 'read', 'read', 'write', 'write')
      const random = new SeededRandom(seed)
      const readers = asked.slice(0, 4)
      while (readers.length > 0) {
        expect(holders(asked)).not.toContain(4)
        const [reader] = readers.splice(random.below(readers.length), 1)
        await scene.done(reader!.acquiring.value.release())
      }
      expect(holders(asked)).toEqual([4])
    },
  )

  test("SharedLock grants a writer after the expiry of a reader's session, not before (R07)", async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'read', 'write')
    scene.freeze(asked[0]!.zk)
    scene.refuse()
    await scene.world.advance(asked[0]!.zk.session.timeout - 1)
    expect(asked[1]!.acquiring.status).toBe('pending')
    // The reader knows by then.
    expect(asked[0]!.acquiring.value.isHeld()).toBe(false)
    await scene.world.advance(1 + TICK)
    expect(asked[1]!.acquiring.value.isHeld()).toBe(true)
  })

  test('SharedLock grants a writer within the holds of the readers ahead, however many keep coming (R11)', async () => {
    const scene = new Scene()
    const clients = await scene.clients(4)
    const readers: Outcome<Held>[] = []
    for (let each = 0; each < 3; each++)
      readers.push(await scene.start(new SharedLock(clients[each]!, PATH).read.acquire()))
    const writer = await scene.start(new SharedLock(clients[3]!, PATH).write.acquire())
    // Each reader that leaves comes again at once.
    for (let each = 0; each < 3; each++) {
      expect(writer.status).toBe('pending')
      await scene.done(readers[each]!.value.release())
      const again = await scene.start(new SharedLock(clients[each]!, PATH).read.acquire())
      expect(again.status).toBe('pending')
    }
    expect(writer.value.isHeld()).toBe(true)
  })

  test('SharedLock.tryAcquire tells a reader from a writer', async () => {
    const scene = new Scene()
    const zk = await scene.client()
    const { read, write } = new SharedLock(zk, PATH)
    const reader = await scene.done(read.tryAcquire())
    expect(reader?.isHeld()).toBe(true)
    expect(await scene.done(write.tryAcquire())).toBeUndefined()
    const second = await scene.done(read.tryAcquire())
    expect(second?.isHeld()).toBe(true)
    for (const held of [reader, second]) await scene.done(held!.release())
    const writer = await scene.done(write.tryAcquire())
    expect(writer?.isHeld()).toBe(true)
    expect(await scene.done(read.tryAcquire())).toBeUndefined()
    expect(await scene.done(write.tryAcquire())).toBeUndefined()
    // None of those refused has left a node.
    expect(scene.ensemble.nodes.ephemerals()).toEqual([writer!.path])
  })

  test('SharedLock.tryAcquire of a reader behind a waiting writer is undefined', async () => {
    const scene = new Scene()
    await queue(scene, 'read', 'write')
    expect(await scene.done(new SharedLock(await scene.client(), PATH).read.tryAcquire())).toBeUndefined()
  })

  test('SharedLock.contenders lists readers and writers in order', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'read', 'write', 'read')
    const contenders = await scene.done(new SharedLock(asked[0]!.zk, PATH).contenders())
    expect(contenders.map(({ kind, position }) => [kind, position])).toEqual([
      ['read', 0],
      ['write', 1],
      ['read', 2],
    ])
  })

  test.each(['read', 'write'] as const)(
    'SharedLock.%s.contenders lists the whole line, and who is granted',
    async (mode) => {
      const scene = new Scene()
      const asked = await queue(scene, 'read', 'read', 'write', 'read', 'write')
      const shared = new SharedLock(asked[0]!.zk, PATH)
      const contenders = () => scene.done(shared[mode].contenders())
      const granted = async () =>
        (await contenders()).map(({ kind, isGranted }) => (isGranted ? kind.toUpperCase() : kind))
      expect(await granted()).toEqual(['READ', 'READ', 'write', 'read', 'write'])
      expect(asked.map(({ acquiring }) => acquiring.status === 'fulfilled')).toEqual(
        (await contenders()).map(({ isGranted }) => isGranted),
      )
      for (const { acquiring } of asked.slice(0, 2)) await scene.done(acquiring.value.release())
      expect(await granted()).toEqual(['WRITE', 'read', 'write'])
    },
  )

  test('SharedLock.contenders shows that a downgraded writer and the readers after it hold', async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'write', 'read', 'write')
    await scene.done((asked[0]!.acquiring.value as WriteHeld).downgrade())
    const contenders = await scene.done(new SharedLock(asked[0]!.zk, PATH).contenders())
    expect(contenders.map(({ kind, isGranted }) => [kind, isGranted])).toEqual([
      ['read', true],
      ['read', true],
      ['write', false],
    ])
  })

  test("SharedLock's tokens of writers rise above those of all before them", async () => {
    const scene = new Scene()
    const asked = await queue(scene, 'read', 'write', 'read', 'write')
    const tokens: bigint[] = []
    for (const { acquiring } of asked) {
      tokens.push(acquiring.value.fencingToken)
      await scene.done(acquiring.value.release())
    }
    expect(tokens).toEqual([...tokens].sort((one, other) => (one < other ? -1 : 1)))
  })
})
