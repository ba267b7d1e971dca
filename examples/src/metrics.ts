// Metrics of a client and of its locks for Prometheus, from `zk.stats()` and from the diagnostics channels.
//
//     node examples/dist/metrics.js host:port,host:port 9464
//     curl localhost:9464/metrics
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { pathToFileURL } from 'node:url'
import type { ClientStats, RequestMessage } from '@zk/client'
import { connect, type LostErrorCode, type RecipeMessages, type ZooKeeper } from '@zk/recipes'
import { Counter, Gauge, Histogram, Registry } from 'prom-client'

type Reading = [name: string, help: string, value: (stats: ClientStats) => number]

/** Values of `stats()` that go up and down. */
const gauges: Reading[] = [
  ['zk_calls_in_flight', 'Calls that were sent and have no answer yet', ({ flow }) => flow.inFlight],
  ['zk_calls_waiting', 'Calls that wait to be sent', ({ flow }) => flow.waiting],
  [
    'zk_since_received_seconds',
    'Time since the last message of a server',
    ({ sinceReceived }) => (sinceReceived ?? Infinity) / 1_000,
  ],
  [
    'zk_timer_max_late_seconds',
    'How late the event loop called a timer, at most, in the last minute or two',
    ({ timer }) => timer.recentMaxLate / 1_000,
  ],
]

/** Values of `stats()` that only go up. */
const counters: Reading[] = [
  [
    'zk_reconnections_total',
    'Connections after the first one of a session',
    ({ connections }) => connections.reconnected,
  ],
  ['zk_sessions_expired_total', 'Sessions that expired', ({ sessions }) => sessions.expired],
  // When the event loop is free again, this almost stops rising. `maxLate` would never fall.
  [
    'zk_timer_late_seconds_total',
    'How late the event loop called timers, in sum',
    // In whole ms, because Prometheus takes any fall for a restart, even one by a rounding error.
    ({ timer }) => Math.round(timer.fired * timer.meanLate) / 1_000,
  ],
]

/** Why locks are lost. (A writer that has become a reader has lost nothing, nor has one that was released.) */
const lossReasons = [
  'LeaseLost',
  'NodeGone',
  'SessionExpired',
  'Disconnected',
  'Closed',
  'Refused',
] as const satisfies LostErrorCode[]

const isLoss = (reason: LostErrorCode) => lossReasons.some((loss) => loss === reason)

/** A lock that is held now. */
interface Holding {
  readonly path: string
  readonly kind: string
  /** The time of the grant, by `performance.now()`. */
  readonly since: number
}

/** The locks that are held now, by the path of the contender's node. */
type Holdings = ReadonlyMap<string, Holding>

/** Adds the metrics of one client, and of all calls and locks of the process. The returned function ends this. */
export function collectMetrics(zk: ZooKeeper, registry: Registry): () => void {
  const registers = [registry]
  for (const [name, help, value] of gauges) {
    const collect = () => gauge.set(value(zk.stats()))
    const gauge: Gauge = new Gauge({ name, help, registers, collect })
  }
  for (const [name, help, value] of counters) {
    const collect = () => {
      counter.reset()
      counter.inc(value(zk.stats()))
    }
    const counter: Counter = new Counter({ name, help, registers, collect })
  }
  const calls = new Histogram({
    name: 'zk_call_seconds',
    help: 'From the call to its answer, by operation and code',
    labelNames: ['op', 'code'],
    buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    registers,
  })
  const waits = new Histogram({
    name: 'zk_lock_wait_seconds',
    help: 'From the call to the grant, by the path of the lock',
    labelNames: ['path', 'kind'],
    buckets: [0.005, 0.05, 0.5, 5, 50],
    registers,
  })
  // Prometheus counts increases. So a series that begins with its first event hides that event: these begin with 0, and have no label
  // whose values are not known yet. The log has the path of each lock.
  const lost = new Counter({
    name: 'zk_locks_lost_total',
    help: 'Locks that were lost, by the reason',
    labelNames: ['reason'],
    registers,
  })
  for (const reason of lossReasons) lost.inc({ reason }, 0)
  const refused = new Counter({
    name: 'zk_calls_queue_full_total',
    help: 'Calls that were refused because too many waited',
    registers,
  })
  const holdings = new Map<string, Holding>()
  collectHoldings(holdings, registers)

  const subscribers: [name: string, subscriber: (message: unknown) => void][] = [
    [
      'tracing:zk:request:asyncEnd',
      (message) => {
        const { op, code = '', duration = 0 } = message as RequestMessage
        calls.observe({ op, code }, duration / 1_000)
        if (code === 'QueueFull') refused.inc()
      },
    ],
    [
      'zk:acquired',
      (message) => {
        const { path, kind, node, waited } = message as RecipeMessages['zk:acquired']
        waits.observe({ path, kind }, waited / 1_000)
        holdings.set(node, { path, kind, since: performance.now() })
      },
    ],
    ['zk:released', (message) => void holdings.delete((message as RecipeMessages['zk:released']).node)],
    [
      'zk:lost',
      (message) => {
        const { node, reason } = message as RecipeMessages['zk:lost']
        holdings.delete(node)
        if (isLoss(reason)) lost.inc({ reason })
      },
    ],
  ]
  for (const [name, subscriber] of subscribers) subscribe(name, subscriber)
  return () => {
    for (const [name, subscriber] of subscribers) unsubscribe(name, subscriber)
  }
}

/** Adds the number of locks that are held now, and how long the oldest has been held. */
function collectHoldings(holdings: Holdings, registers: Registry[]): void {
  const labelNames = ['path', 'kind']
  const count: Gauge = new Gauge({
    name: 'zk_locks_held',
    help: 'Locks that are held now',
    labelNames,
    registers,
    collect() {
      count.reset()
      for (const { path, kind } of holdings.values()) count.inc({ path, kind })
    },
  })
  const longest: Gauge = new Gauge({
    name: 'zk_lock_held_seconds',
    help: 'For how long the oldest of them has been held',
    labelNames,
    registers,
    collect() {
      longest.reset()
      // The newest comes first, so the oldest of each path remains.
      for (const { path, kind, since } of [...holdings.values()].reverse()) {
        longest.set({ path, kind }, (performance.now() - since) / 1_000)
      }
    },
  })
}

async function main(connectString = '127.0.0.1:2181', port = '9464'): Promise<void> {
  const stopping = new AbortController()
  const registry = new Registry()
  const server = createServer((_, response) => {
    registry.metrics().then(
      (metrics) => response.writeHead(200, { 'content-type': registry.contentType }).end(metrics),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  server.listen(Number(port), '127.0.0.1', () => console.log(`metrics at ${JSON.stringify(server.address())}`))
  process.once('SIGTERM', () => {
    server.close()
    stopping.abort()
  })
  // The endpoint already answers before there is a session.
  const zk = await connect(connectString, { signal: stopping.signal })
  collectMetrics(zk, registry)
  stopping.signal.addEventListener('abort', () => void zk.close())
}

if (import.meta.url === pathToFileURL(process.argv[1]!).href) await main(...process.argv.slice(2))
