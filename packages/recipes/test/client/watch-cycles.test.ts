// Watches that come and go leave nothing behind. `ZK_CYCLES=100000` makes it long, and then the heap is compared too.
import { getEventListeners } from 'node:events'
import { expect, test, vi } from 'vitest'
import { outcome, SeededRandom } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import { Stages } from '../support/stages.ts'
import { createWatched, CYCLES_AT_ONCE, watchCycles } from '../support/watch-cycles.ts'

const CYCLES = Number(process.env['ZK_CYCLES'] ?? 1_000)
/** Batches between two losses of the connection. */
const CALM = 5
/** In ms: more round trips than a cycle takes. */
const DONE = 100
/** In ms: long enough to be connected again. */
const RECONNECTED = 20_000

vi.setConfig({ testTimeout: 120_000 + 20 * CYCLES })

test(`ZooKeeper leaves watches, timers, listeners and heap as they were after ${CYCLES} cycles of watches, with aborts and lost connections (S22, V11)`, async () => {
  const scene = new Scene()
  const [zk, other] = await scene.clients(2)
  if (zk === undefined || other === undefined) throw new Error('two clients were asked for')
  await scene.done(createWatched(other))
  const random = new SeededRandom(1)
  // One signal lives as long as the program.
  const { signal } = new AbortController()
  const { session } = zk
  const listeners = () => [signal, session.signal].map((each) => getEventListeners(each, 'abort').length)
  const before = listeners()
  // Long enough for connections to be lost at every stage of a cycle.
  scene.network.latency = () => 1
  const stages = new Stages()
  let losses = 0
  for (let batch = 1, cycles = 0; cycles < CYCLES; batch++) {
    const isLost = batch % CALM === 0
    const done = outcome(watchCycles({ zk, other, signal }))
    if (isLost) {
      await scene.world.advance(random.below(8))
      const { connection } = session
      scene.cut(zk)
      await scene.world.advance(RECONNECTED)
      if (session.connection !== connection) losses++
    } else await scene.world.advance(DONE)
    if (done.status !== 'fulfilled') throw new Error(`batch ${batch} is ${done.status}`, { cause: done.error })
    for (let count = 0; count < CYCLES_AT_ONCE; count++) {
      cycles++
      await stages.passed(cycles, () => scene.forget())
    }
  }
  await scene.world.advance(RECONNECTED)
  expect(scene.leftovers()).toEqual(nothing)
  expect(scene.watchCount()).toBe(0)
  expect(listeners()).toEqual(before)
  expect(before[0]).toBe(0)
  expect(zk.session).toBe(session)
  expect(losses).toBeGreaterThan(0)
  expect(zk.stats().flow).toEqual({ waiting: 0, waitingBytes: 0, inFlight: 0, inFlightBytes: 0 })
  stages.end('cycles of watches')
})
