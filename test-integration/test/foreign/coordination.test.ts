// Recipes that hold nothing, beside Curator's on the same path.
import { Barrier, type BarrierEntry, connect, Counter, DoubleBarrier } from '@zk/recipes'
import { expect, test } from 'vitest'
import { until } from '../../src/ensemble/index.ts'
import { describeForeign, type Tests, type World } from './world.ts'

/** Changes of each client. */
const CHANGES = 100
/** Times that all enter and leave. */
const ROUNDS = 5
/** How long Curator may wait, in ms. */
const PATIENCE = 30_000

const anywhere: Tests<World> = (world) => {
  test('Counter and DistributedAtomicLong add to one number, and no change is lost or doubled', async () => {
    const { servers, root, zk, curator } = await world()
    const theirs = await Promise.all([curator(), curator()])
    await using other = await connect(servers.connectString + root)
    const [one, two] = [new Counter(zk, '/sum'), new Counter(other, '/sum')]
    const numbers: bigint[] = []
    const ours = async (counter: Counter) => {
      for (let change = 0; change < CHANGES; change++) numbers.push(await counter.add(1n, { timeout: 60_000 }))
    }
    const foreign = async (client: (typeof theirs)[number]) => {
      for (let change = 0; change < CHANGES; change++)
        numbers.push(BigInt(await client.call<number>('count', '/sum', 1)))
    }
    await Promise.all([ours(one), ours(two), ...theirs.map(foreign)])
    const sorted = numbers.sort((first, second) => Number(first - second))
    expect(sorted, root).toEqual(Array.from({ length: 4 * CHANGES }, (_, index) => BigInt(index + 1)))
    await zk.sync('/sum')
    expect(await one.get()).toBe(BigInt(4 * CHANGES))
    expect(await theirs[0].call('count', '/sum', -5)).toBe(4 * CHANGES - 5)
    expect(await one.add(-BigInt(CHANGES))).toBe(BigInt(3 * CHANGES - 5))
    // It compares all bytes of the node.
    expect(await theirs[0].call('compareAndSet', '/sum', 3 * CHANGES - 5, 7)).toBe(true)
    expect(await one.add(1n)).toBe(8n)
  })

  test('Barrier and DistributedBarrier are one barrier', async () => {
    const { curator, zk } = await world()
    const theirs = await curator()
    const barrier = new Barrier(zk, '/closed')
    await barrier.set()
    expect(await theirs.call('waitOnBarrier', '/closed', 100)).toBe(false)
    const waits = theirs.call('waitOnBarrier', '/closed', PATIENCE)
    await barrier.remove()
    expect(await waits).toBe(true)
    await theirs.call('setBarrier', '/closed')
    let isOpen = false
    const waiting = barrier.wait().then(() => (isOpen = true))
    await expect(barrier.wait({ timeout: 200 })).rejects.toThrow('did not open')
    expect(isOpen).toBe(false)
    await theirs.call('removeBarrier', '/closed')
    await waiting
  })

  test('DoubleBarrier and DistributedDoubleBarrier let their members in together and out together', async () => {
    const { servers, root, zk, curator } = await world()
    const theirs = await Promise.all([curator(), curator()])
    await using other = await connect(servers.connectString + root)
    const size = 4
    await zk.create('/double')
    const children = async () => (await zk.getChildren('/double')).children
    for (let round = 0; round < ROUNDS; round++) {
      const entries: BarrierEntry[] = []
      let inside = 0
      const ours = [zk, other].map((client) => async () => {
        entries.push(await new DoubleBarrier(client, '/double', { size }).enter())
        inside++
      })
      const foreign = theirs.map((client) => async () => {
        expect(await client.call('enterBarrier', '/double', size, PATIENCE)).toBe(true)
        inside++
      })
      // Each of them is the last one in some round.
      const members = [...ours, ...foreign]
      const order = members.map((_, index) => members[(index + round) % size]!)
      const entering = order.slice(1).map((enter) => enter())
      await until('all but one to enter', async () => (await children()).length === size - 1)
      expect(inside).toBe(0)
      await Promise.all([order[0]!(), ...entering])
      let left = 0
      const ourLeaving = entries.map((entry) => entry.leave().then(() => left++))
      const leaving = theirs[0].call('leaveBarrier', '/double', PATIENCE)
      await until('one to be left', async () => (await children()).filter((name) => name !== 'ready').length <= 2)
      expect(left).toBe(0)
      expect(await theirs[1].call('leaveBarrier', '/double', PATIENCE)).toBe(true)
      expect(await leaving).toBe(true)
      await Promise.all(ourLeaving)
      await until('nothing to be left', async () => (await children()).length === 0)
    }
  })
}

describeForeign('Counter and barriers beside Curator', 'real servers', { anywhere })
