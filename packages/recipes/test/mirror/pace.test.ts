// How fast nodes are compared: no faster than servers answer.
import { describe, expect, test } from 'vitest'
import { WINDOW } from '../../src/kernel/call-each.ts'
import { Mirror } from '../../src/index.ts'
import { Pace } from '../../src/mirror/pace.ts'
import { Scene } from '../support/scene.ts'

/** Compares so many nodes, as many at once as may be, each in so many ms. */
function compare(pace: Pace, count: number, took: number): void {
  for (let done = 0; done < count;) {
    let begun = 0
    while (pace.begin(() => {})) begun++
    for (let each = 0; each < begun; each++) pace.end(took)
    done += begun
  }
}

describe('Pace', () => {
  test('Pace doubles to a whole window while the answers come as fast as ever', () => {
    const pace = new Pace()
    expect(pace.size).toBe(16)
    compare(pace, 16, 5)
    expect(pace.size).toBe(32)
    compare(pace, 1_000, 6)
    expect(pace.size).toBe(WINDOW)
  })

  test('Pace falls to 16 when the answers get slower, and grows again when they are fast', () => {
    const pace = new Pace()
    compare(pace, 1_000, 5)
    compare(pace, 1_000, 50)
    expect(pace.size).toBe(16)
    compare(pace, 1_000, 5)
    expect(pace.size).toBe(WINDOW)
  })

  test('Pace calls each waiter once when there is room, and none that has left', () => {
    const pace = new Pace()
    const told: string[] = []
    const [one, other] = ['one', 'other'].map((name) => () => void told.push(name)) as [() => void, () => void]
    while (pace.begin(one));
    pace.begin(other)
    pace.leave(other)
    pace.end(1)
    pace.cancel()
    expect(told).toEqual(['one'])
    expect([pace.begin(one), pace.begin(one), pace.begin(one)]).toEqual([true, true, false])
  })
})

test('Mirrors of a session compare 16 nodes at once after a reconnection, more while servers keep up', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  const paths = ['/a', '/b', '/c', '/d']
  for (const path of paths) {
    scene.ensemble.nodes.create(path)
    for (let index = 0; index < 200; index++) scene.ensemble.nodes.create(`${path}/${index}`)
  }
  const mirrors = await scene.done(Promise.all(paths.map((path) => new Mirror(zk, path).open())))
  scene.network.latency = () => 10
  scene.cut(zk)
  const most: number[] = []
  for (let ms = 0; ms < 5_000 && (most.length === 0 || mirrors.some(({ isStale }) => isStale)); ms++) {
    await scene.world.advance(1)
    const { inFlight } = zk.stats().flow
    if (inFlight > 8 && inFlight !== most.at(-1)) most.push(inFlight)
  }
  expect(mirrors.every(({ isStale }) => !isStale)).toBe(true)
  expect(most[0]).toBeLessThan(32)
  expect(Math.max(...most)).toBeGreaterThan(128)
  expect(Math.max(...most)).toBeLessThanOrEqual(WINDOW + 8)
})

test('Mirror.open resolves for each of many mirrors of a session, one after the other', async () => {
  const scene = new Scene()
  const zk = await scene.client()
  scene.ensemble.nodes.create('/a')
  // More than the session compares at once at first.
  for (let count = 0; count < 20; count++) await (await scene.done(new Mirror(zk, '/a').open())).close()
})
