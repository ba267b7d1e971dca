// L30: nothing grows. `ZK_CYCLES=100000` makes it long, and then the heap is compared too.
import { getEventListeners } from 'node:events'
import { describe, expect, test, vi } from 'vitest'
import { holdings } from '../support/every-recipe.ts'
import { abortListeners } from '../support/abort-listeners.ts'
import { outcome, SeededRandom } from '../support/outside.ts'
import { nothing, Scene } from '../support/scene.ts'
import { Stages } from '../support/stages.ts'

const CYCLES = Number(process.env['ZK_CYCLES'] ?? 200)

// Hundreds of cycles: a busy machine takes its time.
vi.setConfig({ testTimeout: 120_000 + 20 * CYCLES })

describe.each(holdings)('$name again and again', ({ name, make }) => {
  test(`${name} leaves nodes, watches, timers and listeners as they were after ${CYCLES} cycles, one in ten aborted (L30)`, async () => {
    const scene = new Scene()
    const clients = await scene.clients(2)
    const random = new SeededRandom(1)
    // One signal lives as long as the program.
    const program = new AbortController()
    const listeners = abortListeners()
    let before: number | undefined
    const stages = new Stages()
    for (let cycle = 1; cycle <= CYCLES; cycle++) {
      const aborting = new AbortController()
      const isAborted = random.below(10) === 0
      const acquirings = clients.map((zk) =>
        outcome(make(zk).acquire({ signal: isAborted ? aborting.signal : program.signal })),
      )
      if (random.below(2) === 0) await scene.world.settle()
      aborting.abort()
      await scene.world.settle()
      // The first contender that holds lets the second one in.
      for (let turn = 0; turn < 2; turn++) {
        for (const acquiring of acquirings) {
          if (acquiring.status === 'fulfilled' && acquiring.value.isHeld()) await scene.done(acquiring.value.release())
        }
      }
      before ??= listeners()
      // What the servers were asked is kept for the test, and grows.
      await stages.passed(cycle, () => scene.forget())
    }
    expect(scene.leftovers()).toEqual(nothing)
    expect(listeners()).toEqual(before)
    expect(getEventListeners(program.signal, 'abort')).toEqual([])
    stages.end(name)
  })
})
