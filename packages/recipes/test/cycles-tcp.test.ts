// L30 again, on real sockets and timers: nothing grows. `ZK_CYCLES=100000` makes it long.
import { once } from 'node:events'
import { connect as dial } from 'node:net'
import { connect, type Runtime, systemRuntime } from '@zk/client'
import { TestServer } from '@zk/testing'
import { expect, test } from 'vitest'
import { Lock } from '../src/index.ts'
import { SeededRandom } from './support/outside.ts'
import { Stages } from './support/stages.ts'

const CYCLES = Number(process.env['ZK_CYCLES'] ?? 200)

test(
  `Lock leaves nodes, watches and timers as they were after ${CYCLES} cycles over TCP, one in ten aborted (L30)`,
  { timeout: 30_000 + 20 * CYCLES },
  async () => {
    const timers = new Set<object>()
    const runtime = counting(timers)
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
    await expect.poll(() => watches(Number(server.connectString.split(':')[1]))).toBe(0)
    expect(timers.size).toBe(idle)
    stages.end('Lock over TCP')
  },
)

/** The timers that are set are kept in the set. */
function counting(timers: Set<object>): Runtime {
  return {
    ...systemRuntime,
    setTimer(delay, callback) {
      const timer = {}
      timers.add(timer)
      const cancel = systemRuntime.setTimer(delay, () => {
        timers.delete(timer)
        callback()
      })
      return () => {
        timers.delete(timer)
        cancel()
      }
    },
  }
}

/** How many the server keeps, as its four-letter word `mntr` tells. */
async function watches(port: number): Promise<number> {
  const socket = dial(port, '127.0.0.1')
  let text = ''
  socket.setEncoding('utf8').on('data', (piece: string) => (text += piece))
  socket.write('mntr')
  await once(socket, 'close')
  return Number(/^zk_watch_count\t(\d+)$/m.exec(text)![1])
}
