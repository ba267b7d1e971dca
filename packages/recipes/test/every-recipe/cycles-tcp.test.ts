// L30 again, on real sockets and timers: nothing grows. `ZK_CYCLES=100000` makes it long.
import { connect } from '@zk/client'
import { TestServer } from '@zk/testing'
import { expect, test } from 'vitest'
import { Lock } from '../../src/index.ts'
import { countingRuntime } from '../support/counting-runtime.ts'
import { watchCountOf } from '../support/mntr.ts'
import { SeededRandom } from '../support/outside.ts'
import { Stages } from '../support/stages.ts'

const CYCLES = Number(process.env['ZK_CYCLES'] ?? 200)

test(
  `Lock leaves nodes, watches and timers as they were after ${CYCLES} cycles over TCP, one in ten aborted (L30)`,
  { timeout: 30_000 + 20 * CYCLES },
  async () => {
    const timers = new Set<object>()
    const runtime = countingRuntime(timers)
    await using server = await TestServer.start({ history: { entries: 0 } })
    await using one = await connect(server.connectString, { runtime })
    await using other = await connect(server.connectString, { runtime })
    const idle = timers.size
    const random = new SeededRandom(1)
    // One signal lives as long as the program.
    const program = new AbortController()
    const stages = new Stages()
    let aborted = 0
    for (let cycle = 1; cycle <= CYCLES; cycle++) {
      const aborting = new AbortController()
      const isAborted = random.below(10) === 0
      const signal = isAborted ? aborting.signal : program.signal
      const held = await new Lock(one, '/lock').acquire({ signal: program.signal })
      const waiting = new Lock(other, '/lock').acquire({ signal })
      if (random.below(2) === 0) await other.exists('/lock')
      if (isAborted) aborting.abort()
      // Vitest would remember each expectation.
      const granted = waiting.then(
        (next) => next.release(),
        () => aborted++,
      )
      await held.release()
      await granted
      await stages.passed(cycle)
    }
    expect(aborted / CYCLES).toBeCloseTo(0.1, 1)
    // What an aborted one leaves goes in the background.
    await expect.poll(() => server.nodes.ephemerals()).toEqual([])
    await expect.poll(() => watchCountOf(server.connectString)).toBe(0)
    expect(timers.size).toBe(idle)
    stages.end('Lock over TCP')
  },
)
