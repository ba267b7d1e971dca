// L20 - L22, R13: the counter of a path is used up. From 3.6 on it sticks, and every contender gets the same number; before,
// it went on with negative ones, as it does here while creates are under way in the leader.
import { describe, expect, test } from 'vitest'
import { type Held, Semaphore, type ZooKeeper } from '../../src/index.ts'
import { PATH, queued } from '../support/every-recipe.ts'
import { countedTo, LAST, numbers, paths } from '../support/counters.ts'
import { outcome, type Outcome } from '../support/outside.ts'
import { nothing } from '../support/scene.ts'
import { rises, turns } from '../support/turns.ts'

const exclusive = queued.filter(({ isExclusive }) => isExclusive)

describe.each(exclusive)('$name at the end of the counter', ({ name, make }) => {
  const acquire = (zk: ZooKeeper) => make(zk).acquire()

  test.each<[string, 'stick' | 'wrap', number[]]>([
    ['sticks (L20)', 'stick', [LAST - 1, LAST, LAST, LAST, LAST, LAST]],
    ['goes on with negative numbers (L22)', 'wrap', [LAST - 1, LAST, -LAST - 1, -LAST, 1 - LAST, 2 - LAST]],
  ])(
    `${name} has one holder at a time, in the order of creation, where it %s`,
    async (_, sequenceOverflow, expected) => {
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow })
      const asked: Outcome<Held>[] = []
      for (const zk of await scene.clients(6)) asked.push(await scene.start(acquire(zk)))
      expect(numbers(scene, PATH)).toEqual(expected)
      const created = paths(scene, PATH)
      const granted = await turns(scene, asked)
      expect(granted.map(({ path }) => path)).toEqual(created)
      expect(rises(granted.map(({ fencingToken }) => fencingToken))).toBe(true)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test.each(['stick', 'wrap'] as const)(
    `${name} has one holder at a time of fifty simultaneous contenders, in the order of creation, where it comes to %s (L21, L22)`,
    async (sequenceOverflow) => {
      // The leader has more than one create under way where a quorum takes its time.
      const scene = countedTo(PATH, LAST - 1, { sequenceOverflow, members: 3 })
      const clients = await scene.clients(10)
      scene.memberLatency = 1
      const asked = Array.from({ length: 50 }, (_, index) => outcome(acquire(clients[index % 10]!)))
      await scene.world.advance(1_000)
      const created = paths(scene, PATH)
      expect(created).toHaveLength(50)
      // Who goes by numbers has it wrong.
      expect(numbers(scene, PATH)).not.toEqual(numbers(scene, PATH).sort((one, other) => one - other))
      const granted = await turns(scene, asked)
      expect(granted.map(({ path }) => path)).toEqual(created)
      expect(rises(granted.map(({ fencingToken }) => fencingToken))).toBe(true)
      expect(scene.leftovers()).toEqual(nothing)
    },
  )

  test(`${name} keeps its order when the counter ends while they wait`, async () => {
    const scene = countedTo(PATH, 5)
    const asked: Outcome<Held>[] = []
    const clients = await scene.clients(6)
    for (const zk of clients.slice(0, 3)) asked.push(await scene.start(acquire(zk)))
    scene.ensemble.nodes.presetCounter(PATH, LAST - 1)
    for (const zk of clients.slice(3)) asked.push(await scene.start(acquire(zk)))
    expect(numbers(scene, PATH)).toEqual([5, 6, 7, LAST - 1, LAST, LAST])
    const created = paths(scene, PATH)
    expect((await turns(scene, asked)).map(({ path }) => path)).toEqual(created)
  })
})

test.each(['stick', 'wrap'] as const)(
  'Semaphore grants a permit to fifty simultaneous contenders in the order of creation, where the counter comes to %s (P15)',
  async (sequenceOverflow) => {
    const queue = `${PATH}/locks`
    const scene = countedTo(queue, LAST - 1, { sequenceOverflow, members: 3 })
    const clients = await scene.clients(10)
    scene.memberLatency = 1
    const asked = Array.from({ length: 50 }, (_, index) =>
      outcome(new Semaphore(clients[index % 10]!, PATH, { permits: 1, label: String(index) }).acquire()),
    )
    await scene.world.advance(1_000)
    const labelOf = (path: string) => Buffer.from(scene.ensemble.nodes.get(path)!.data).toString()
    const waiting = paths(scene, queue).map(labelOf)
    expect(waiting).toHaveLength(49)
    expect(numbers(scene, queue)).not.toEqual(numbers(scene, queue).sort((one, other) => one - other))
    const granted = await turns(scene, asked)
    const labels = granted.map((held) => String(asked.findIndex(({ value }) => value === held)))
    // The first is granted already, and has left the queue.
    expect(labels.slice(1)).toEqual(waiting)
    expect(rises(granted.map(({ fencingToken }) => fencingToken))).toBe(true)
  },
)
