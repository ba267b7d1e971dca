// Recipes that hold nothing, beside Curator's on the same path.
import { connect, Counter } from '@zk/recipes'
import { expect, test } from 'vitest'
import { describeForeign, type Tests, type TestWorld, type World } from './world.ts'

/** Changes of each client. */
const CHANGES = 100

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
  })
}

const atTestEnsemble: Tests<TestWorld> = () => {}

describeForeign('Counter and barriers beside Curator', anywhere, atTestEnsemble)
