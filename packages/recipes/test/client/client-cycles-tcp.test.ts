// Requests and watches that come and go, on real sockets and timers, leave nothing behind (S22). `ZK_CYCLES=100000` makes
// it long, and then the heap is compared too: that of the server in this process is in it.
import { getEventListeners } from 'node:events'
import { connect, type ZooKeeper } from '@zk/client'
import { TestServer } from '@zk/testing'
import { expect, onTestFinished, test, vi } from 'vitest'
import { countingRuntime } from '../support/counting-runtime.ts'
import { watchCountOf } from '../support/mntr.ts'
import { Stages } from '../support/stages.ts'
import { createWatched, CYCLES_AT_ONCE, watchCycles } from '../support/watch-cycles.ts'

const CYCLES = Number(process.env['ZK_CYCLES'] ?? 1_000)
/** Batches between two losses of the connection, of which there are few: after each the client pauses for up to a second. */
const CALM = Math.max(7, Math.ceil(CYCLES / CYCLES_AT_ONCE / 20))

vi.setConfig({ testTimeout: 120_000 + 20 * CYCLES })

interface Batch {
  readonly zk: ZooKeeper
  readonly other: ZooKeeper
  readonly signal: AbortSignal
}

/** Calls of one turn: reads and writes, some of which fail, and some are aborted before they leave or when they have. */
async function requests({ zk, signal }: Batch): Promise<void> {
  const [early, late] = [new AbortController(), new AbortController()]
  const signals = [signal, early.signal, signal, signal, late.signal]
  const calls = Array.from({ length: CYCLES_AT_ONCE }, (_, index) => {
    const options = { signal: signals[index % signals.length]! }
    if (index % 3 === 0) return zk.setData('/watched-0-0', 'x'.repeat(index), options)
    return index % 3 === 1 ? zk.getData('/watched-0-0', options) : zk.getChildren('/none', options)
  })
  const settled = Promise.allSettled(calls)
  early.abort()
  await calls[0]!.catch(() => {})
  late.abort()
  await settled
}

test.each([
  ['requests', requests],
  ['cycles of watches', watchCycles],
] as const)(
  `ZooKeeper leaves sockets, timers, listeners, watches and heap as they were after ${CYCLES} %s over TCP (S22)`,
  async (name, batch) => {
    const warnings: Error[] = []
    const warned = (warning: Error): unknown => warnings.push(warning)
    process.on('warning', warned)
    onTestFinished(() => void process.off('warning', warned))
    const timers = new Set<object>()
    const runtime = countingRuntime(timers)
    await using server = await TestServer.start({ history: { entries: 0 } })
    await using zk = await connect(server.connectString, { runtime })
    await using other = await connect(server.connectString, { runtime })
    await createWatched(other)
    const { session } = zk
    // One signal lives as long as the program.
    const { signal } = new AbortController()
    const standing = () => ({
      timers: timers.size,
      sockets: process.getActiveResourcesInfo().filter((kind) => kind === 'TCPSocketWrap').length,
      connections: server.members[0]!.connections.length,
      listeners: [signal, session.signal].map((each) => getEventListeners(each, 'abort').length),
    })
    const before = standing()
    const stages = new Stages()
    for (let turn = 1, cycles = 0; cycles < CYCLES; turn++) {
      const done = batch({ zk, other, signal })
      if (turn % CALM === 0) {
        // Some are answered, some are under way.
        await other.exists('/')
        for (const connection of server.members[0]!.connections)
          if (connection.session === session.id) connection.reset()
      }
      await done
      for (let count = 0; count < CYCLES_AT_ONCE; count++) await stages.passed(++cycles)
    }
    await zk.exists('/')
    // What was aborted goes in the background.
    await expect.poll(() => watchCountOf(server.connectString)).toBe(0)
    await expect.poll(standing).toEqual(before)
    expect(zk.stats().connections.lost).toBeGreaterThan(0)
    expect(zk.stats().flow).toEqual({ waiting: 0, waitingBytes: 0, inFlight: 0, inFlightBytes: 0 })
    expect(zk.session).toBe(session)
    expect(warnings).toEqual([])
    stages.end(`${name} over TCP`)
  },
)
