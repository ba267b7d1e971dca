// What a client that has worked for long has left behind: nothing. 10^5 requests and more, as the catalogue asks for (S22),
// run with LEAK_REQUESTS=100000.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { ErrorResponse, ExistsResponse, OpCode } from '@zk/wire'
import { expect, onTestFinished, test } from 'vitest'
import { StateFeed } from '../src/telemetry/client-state.ts'
import type { Watched } from '../src/index.ts'
import { collector, type Connected, connected, outcome, someStat, VirtualWorld } from './support/index.ts'

const REQUESTS = Number(process.env['LEAK_REQUESTS'] ?? 4_000)
/** Calls of one turn. */
const BATCH = 100
/** What one request may leave in bytes before it counts as a leak: less than the smallest object. */
const PER_REQUEST = 16
/** What engines keep of their own while code is compiled and tables grow, in bytes. */
const NOISE = 1_500_000

test(
  `ZooKeeper leaves heap, timers and listeners as they were after ${REQUESTS} requests (S22)`,
  { timeout: 60_000 + REQUESTS },
  async () => {
    const followed = () => {}
    subscribe('tracing:zk:request:asyncEnd', followed)
    onTestFinished(() => void unsubscribe('tracing:zk:request:asyncEnd', followed))
    const world = new VirtualWorld()
    const { zk, connection } = await connected(world)
    const signal = listened(new AbortController().signal)
    let answered = 0
    const work = async (requests: number) => {
      for (let count = 0; count < requests; count += BATCH) {
        const calls = Array.from({ length: BATCH }, (_, index) =>
          outcome(zk.exists(`/${index % 7}`, index % 2 === 0 ? { signal } : {})),
        )
        const asked = await connection.expectAll(...calls.map(() => OpCode.exists))
        connection.together(() => {
          for (const [index, request] of asked.entries()) {
            if (index % 10 === 0) connection.fail(request, 'NoAuth')
            else connection.reply(request, ExistsResponse, { stat: someStat })
          }
        })
        // Timers are set and pings come, too.
        await world.advance(100)
        answered += calls.filter(({ status }) => status !== 'pending').length
        // The fake server remembers what it was sent.
        connection.segments.length = 0
      }
    }
    const collect = collector()
    await work(REQUESTS / 2)
    collect?.()
    const before = { timers: world.timers, heap: process.memoryUsage().heapUsed, dials: world.dials.length }
    await work(REQUESTS)
    collect?.()
    const grown = process.memoryUsage().heapUsed - before.heap
    expect(answered).toBe(REQUESTS * 1.5)
    expect([world.timers, world.dials.length, signal.listeners]).toEqual([before.timers, before.dials, 0])
    expect(zk.stats().flow).toEqual({ waiting: 0, waitingBytes: 0, inFlight: 0, inFlightBytes: 0 })
    if (collect !== undefined) expect(grown).toBeLessThan(NOISE + PER_REQUEST * REQUESTS)
  },
)

test.each(['watch', 'getDataAndWatch'] as const)(
  'ZooKeeper.%s that is refused while there is no connection leaves nothing (S22)',
  async (name) => {
    const collect = collector()
    if (collect === undefined) return
    const world = new VirtualWorld()
    const { zk, server, connection } = await connected(world, { advanced: { maxWaiting: 1 } })
    server.refuse()
    connection.rst()
    await world.settle()
    void outcome(zk.exists('/'))
    collect()
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 1_000; i++) {
      const refused = outcome<unknown>(zk[name](`/${String(i).padStart(6, '0').repeat(5_000)}`))
      await world.settle()
      expect(refused.error).toMatchObject({ code: 'QueueFull' })
    }
    collect()
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(2 * NOISE)
  },
)

type Scene = Connected & { readonly world: VirtualWorld }

/** How a watch of a path ends. */
const ends: Record<string, (scene: Scene, path: string) => Promise<void>> = {
  '`unwatch`': async (scene, path) => {
    const { connection } = scene
    const { unwatch } = await watched(scene, path)
    void outcome(unwatch())
    connection.reply(await connection.expect(OpCode.removeWatches))
  },
  '`removeWatches`': async (scene, path) => {
    const { zk, connection } = scene
    await watched(scene, path)
    void outcome(zk.removeWatches(path))
    connection.reply(await connection.expect(OpCode.removeWatches))
  },
  'its event': async (scene, path) => {
    await watched(scene, path)
    scene.connection.event('NodeCreated', path)
  },
  'a refused read': async ({ zk, connection }, path) => {
    void outcome(zk.getDataAndWatch(path))
    connection.fail(await connection.expect(OpCode.getData), 'NoNode')
  },
  'an aborted read': async ({ zk, connection }, path) => {
    const abort = new AbortController()
    void outcome(zk.existsAndWatch(path, { signal: abort.signal }))
    const request = await connection.expect(OpCode.exists)
    abort.abort()
    connection.fail(request, 'NoNode')
    connection.reply(await connection.expect(OpCode.removeWatches))
  },
  '`return` of its loop': async ({ world, zk, connection }, path) => {
    const watching = outcome(Promise.resolve(zk.watch(path)))
    connection.reply(await connection.expect(OpCode.addWatch), ErrorResponse, { err: 0 })
    await world.settle()
    void outcome(watching.value.return())
    connection.reply(await connection.expect(OpCode.removeWatches))
  },
}

async function watched({ world, zk, connection }: Scene, path: string): Promise<Watched> {
  const reading = outcome(zk.existsAndWatch(path))
  connection.fail(await connection.expect(OpCode.exists), 'NoNode')
  await world.settle()
  return reading.value
}

// Each path is so long that whatever keeps it shows.
test.each(Object.entries(ends))('A watch that ends by %s keeps nothing of its path', async (_, end) => {
  const collect = collector()
  if (collect === undefined) return
  const world = new VirtualWorld()
  const scene = { world, ...(await connected(world)) }
  const used = () => {
    collect()
    return process.memoryUsage().heapUsed
  }
  const before = used()
  for (let i = 0; i < 500; i++) {
    await end(scene, `/${String(i).padStart(6, '0').repeat(5_000)}`)
    await world.settle()
    scene.connection.segments.length = 0
  }
  // All paths are 15 MB.
  await expect.poll(() => used() - before).toBeLessThan(5_000_000)
})

test('ZooKeeper.states that is dropped leaves nothing, whether or not a state was taken', async () => {
  const collect = collector()
  if (collect === undefined) return
  const world = new VirtualWorld()
  const { zk } = await connected(world)
  const drop = async () => {
    for (let count = 0; count < 50_000; count++) {
      const states = zk.watchState()
      if (count % 2 === 0) await states.next()
    }
  }
  await drop()
  collect()
  const before = process.memoryUsage().heapUsed
  await drop()
  collect()
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(NOISE)
})

test('StateFeed keeps no follower that does not wait, and one that waits until the next state only', async () => {
  const collect = collector()
  if (collect === undefined) return
  const feed = new StateFeed({ name: 'connecting', since: 0 })
  const [idle, waiting] = await (async () => {
    const followers = [feed.watch(), feed.watch()]
    for (const follower of followers) await follower.next()
    void followers[1]!.next()
    return followers.map((follower) => new WeakRef(follower))
  })()
  const collected = async () => {
    // What was looked at stays until the end of the turn.
    await new Promise(setImmediate)
    collect()
    return [idle!, waiting!].map((follower) => follower.deref() === undefined)
  }
  expect(await collected()).toEqual([true, false])
  feed.enter({ name: 'closed', since: 1 })
  expect(await collected()).toEqual([true, true])
})

/** A signal that counts its listeners. */
function listened(signal: AbortSignal): AbortSignal & { listeners: number } {
  const counted = Object.assign(signal, { listeners: 0 })
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  counted.addEventListener = (...args: Parameters<AbortSignal['addEventListener']>) => {
    counted.listeners++
    add(...args)
  }
  counted.removeEventListener = (...args: Parameters<AbortSignal['removeEventListener']>) => {
    counted.listeners--
    remove(...args)
  }
  return counted
}
