// Calls that wait keep twice the bytes that `maxWaitingBytes` counts, and 1 MiB, at most: frames that wait give up the memory that
// they share with others.
import { OpCode } from '@zk/wire'
import { expect, test } from 'vitest'
import type { ZooKeeper } from '../../src/index.ts'
import { collector, connected, outcome, VirtualWorld } from '../support/index.ts'

const collect = collector()

/** The collector frees the memory of typed arrays beside the program, a moment later. */
function memoryOver(before = 0): number {
  collect?.()
  return process.memoryUsage().arrayBuffers - before
}

const CALLS = 1_000
const LARGE = 16 * 1_024
/** What all small calls may keep, in bytes: their frames twice, 1 MiB, and the objects around them. */
const SMALL = 2.5 * 2 ** 20

/** How a large call ends whose small neighbour goes on waiting. */
const ends: Record<string, (zk: ZooKeeper, path: string) => () => Promise<unknown>> = {
  'aborted in the same turn': (zk, path) => {
    const abort = new AbortController()
    const large = zk.setData(path, new Uint8Array(LARGE), { signal: abort.signal }).catch(() => {})
    abort.abort()
    return () => large
  },
  'aborted later': (zk, path) => {
    const abort = new AbortController()
    const large = zk.setData(path, new Uint8Array(LARGE), { signal: abort.signal }).catch(() => {})
    return () => {
      abort.abort()
      return large
    }
  },
}

test.each(Object.entries(ends))(
  'a small call that waits does not keep the memory of a large one that was %s',
  async (_, call) => {
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world)
    connection.rst()
    await world.settle()
    const before = memoryOver()
    const small = []
    for (let index = 0; index < CALLS; index++) {
      small.push(outcome(zk.exists(`/small-${index}`, { timeout: 60_000 })))
      const end = call(zk, `/large-${index}`)
      await world.settle()
      await end()
    }
    await expect.poll(() => memoryOver(before)).toBeLessThan(SMALL)
    expect(zk.stats().flow.waiting).toBe(CALLS)
    // They are sent as they were.
    await world.advance(1_000)
    const next = await server.accept()
    const sent = await next.expectAll(...small.map(() => OpCode.exists))
    expect(sent.map(({ body }) => body)).toMatchObject(small.map((_, index) => ({ path: `/small-${index}` })))
  },
)

test('a large call that waits keeps as much memory as it has bytes', async () => {
  const world = new VirtualWorld()
  const { zk, connection } = await connected(world)
  connection.rst()
  await world.settle()
  const before = memoryOver()
  const size = 500_000
  const data = new Uint8Array(size)
  const calls = Array.from({ length: 20 }, () => outcome(zk.setData('/large', data)))
  await world.settle()
  expect(calls.every(({ status }) => status === 'pending')).toBe(true)
  await expect.poll(() => memoryOver(before)).toBeLessThan((calls.length + 5) * size)
})
