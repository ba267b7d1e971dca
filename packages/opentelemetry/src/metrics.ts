// The metrics. Counters begin with 0 when a client is made, because a series that begins with its first event hides that event.
import type { Attributes, BatchObservableResult, Counter, Histogram, Meter, ObservableGauge } from '@opentelemetry/api'
import type { ClientMessages, KeeperErrorCode, RequestMessage } from '@zk/client'
import type { AcquireMessage, LostErrorCode, RecipeMessages } from '@zk/recipes'
import { callLabels, failureOf, lockLabels } from './attributes.ts'
import type { PathLabels } from './path-labels.ts'

type Client = ClientMessages['zk:client']

/** The codes worth an alert. The series of other codes, such as `NoNode`, starts with the first error. */
const troubles = [
  'ConnectionLoss',
  'RequestTimeout',
  'SessionExpired',
  'SessionMoved',
  'ThrottledOp',
  'QueueFull',
  'RequestTooLarge',
  'ResponseTooLarge',
  'AuthFailed',
  'NoAuth',
  'Closed',
] as const satisfies KeeperErrorCode[]

/** Why locks are lost. A writer that has become a reader has lost nothing, nor has a holder that releases. */
const losses = [
  'LeaseLost',
  'NodeGone',
  'SessionExpired',
  'Disconnected',
  'Closed',
  'Refused',
] as const satisfies LostErrorCode[]

const kinds = ['lock', 'read', 'write', 'multi', 'semaphore', 'latch']

/** In seconds: as the semantic conventions advise for `db.client.operation.duration`. */
const CALL_BUCKETS = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10]
/** In seconds. Work under a lock may take hours. */
const LOCK_BUCKETS = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 300, 1_800, 7_200]

const add = (one: number, other: number) => one + other

/** What is read from the clients when metrics are collected. Clients of the same name have one value. */
const readings: readonly {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly read: (client: Client['zk']) => number
  readonly combine: (one: number, other: number) => number
}[] = [
  {
    name: 'zk.connected',
    description:
      '1 while the client has a session and a connection, 0 otherwise; 0 also if that is so for one of several clients of this name',
    unit: '',
    read: ({ state }) => (state.name === 'connected' ? 1 : 0),
    combine: Math.min,
  },
  {
    name: 'zk.requests.in_flight',
    description: 'Calls that were sent and have no answer yet',
    unit: '{request}',
    read: (zk) => zk.stats().flow.inFlight,
    combine: add,
  },
  {
    name: 'zk.requests.waiting',
    description: 'Calls that wait to be sent',
    unit: '{request}',
    read: (zk) => zk.stats().flow.waiting,
    combine: add,
  },
  {
    name: 'zk.timer.max_late',
    description: 'How late the event loop called a timer, at most, in the last minute or two',
    unit: 's',
    read: (zk) => zk.stats().timer.recentMaxLate / 1_000,
    combine: Math.max,
  },
]

interface Instruments {
  readonly calls: Histogram
  readonly errors: Counter
  readonly reconnections: Counter
  readonly expiries: Counter
  readonly waits: Histogram
  readonly holds: Histogram
  readonly lost: Counter
  readonly waiting: ObservableGauge
  readonly held: ObservableGauge
  readonly longest: ObservableGauge
  readonly readings: readonly ObservableGauge[]
}

export class Metrics {
  readonly #paths: PathLabels
  /** Milliseconds of a steady clock. */
  readonly #now: () => number
  #meter: Meter
  #instruments: Instruments
  readonly #clients = new Set<Client>()
  readonly #waits = new Set<AcquireMessage>()
  /** By the path of the contender's node, whose name has a UUID. */
  readonly #holds = new Map<string, { readonly labels: Attributes; readonly since: number }>()
  readonly #waiting = new Totals(add)
  readonly #held = new Totals(add)
  readonly #longest = new Totals(Math.max)

  constructor(meter: Meter, paths: PathLabels, now: () => number) {
    this.#paths = paths
    this.#now = now
    this.#meter = meter
    this.#instruments = instrumentsOf(meter)
  }

  /** The subscribers, by channel. */
  readonly subscribers = {
    'zk:client': (client: Client) => {
      // A client that has ended is reported as not connected until another is made in its place.
      for (const each of this.#clients) if (isOver(each) && each.client === client.client) this.#clients.delete(each)
      this.#clients.add(client)
      this.#begin(client)
    },
    'zk:connection': ({ client, ...message }: ClientMessages['zk:connection']) => {
      if (message.event === 'established' && message.isReconnected) {
        this.#instruments.reconnections.add(1, { 'zk.client': client })
      }
    },
    'zk:session': ({ client, event }: ClientMessages['zk:session']) => {
      if (event === 'expired') this.#instruments.expiries.add(1, { 'zk.client': client })
    },
    'tracing:zk:request:asyncEnd': (message: RequestMessage) => {
      const { client, code, duration = 0 } = message
      const failure = failureOf(message)
      const labels = callLabels(message, this.#paths)
      if (code !== undefined) labels['db.response.status_code'] = code
      if (failure !== undefined) labels['error.type'] = failure
      this.#instruments.calls.record(duration / 1_000, labels)
      if (failure !== undefined) this.#instruments.errors.add(1, { 'zk.client': client, 'error.type': failure })
    },
    'tracing:zk:acquire:start': (message: AcquireMessage) => void this.#waits.add(message),
    'tracing:zk:acquire:asyncEnd': (message: AcquireMessage) => {
      this.#waits.delete(message)
      const { waited = 0, outcome = 'failed' } = message
      const labels = { ...lockLabels(message, this.#paths), 'zk.lock.outcome': outcome }
      this.#instruments.waits.record(waited / 1_000, labels)
    },
    'zk:acquired': (message: RecipeMessages['zk:acquired']) => {
      this.#holds.set(message.node, { labels: lockLabels(message, this.#paths), since: this.#now() })
    },
    'zk:released': (message: RecipeMessages['zk:released']) => this.#ended(message),
    'zk:lost': (message: RecipeMessages['zk:lost']) => {
      const { client, reason } = message
      this.#ended(message)
      if (!losses.some((loss) => loss === reason)) return
      this.#instruments.lost.add(1, { 'zk.client': client, 'zk.lock.loss_reason': reason })
    },
  }

  /** Uses this meter from now on. */
  use(meter: Meter): void {
    this.#meter = meter
    this.#instruments = instrumentsOf(meter)
    for (const client of this.#clients) this.#begin(client)
  }

  /** From now on the gauges are read when metrics are collected. */
  observe(): void {
    this.#meter.addBatchObservableCallback(this.#collect, this.#observables)
  }

  stopObserving(): void {
    this.#meter.removeBatchObservableCallback(this.#collect, this.#observables)
  }

  /** Forgets what is waited for and held: nothing reports its end any more. */
  forget(): void {
    this.#waits.clear()
    this.#holds.clear()
  }

  get #observables(): ObservableGauge[] {
    const { waiting, held, longest, readings } = this.#instruments
    return [waiting, held, longest, ...readings]
  }

  readonly #collect = (result: BatchObservableResult): void => {
    const { waiting, held, longest, readings: gauges } = this.#instruments
    for (const [index, { read, combine }] of readings.entries()) {
      const values = new Totals(combine)
      for (const { client, zk } of this.#clients) values.add({ 'zk.client': client }, read(zk))
      values.observe(result, gauges[index]!)
    }
    for (const totals of [this.#waiting, this.#held, this.#longest]) totals.reset()
    for (const message of this.#waits) this.#waiting.add(lockLabels(message, this.#paths), 1)
    for (const { labels, since } of this.#holds.values()) {
      this.#held.add(labels, 1)
      this.#longest.add(labels, (this.#now() - since) / 1_000)
    }
    this.#waiting.observe(result, waiting)
    this.#held.observe(result, held)
    this.#longest.observe(result, longest)
  }

  /** The series of a client that do not depend on what it will do. */
  #begin({ client }: Client): void {
    const { errors, reconnections, expiries, lost } = this.#instruments
    for (const code of troubles) errors.add(0, { 'zk.client': client, 'error.type': code })
    reconnections.add(0, { 'zk.client': client })
    expiries.add(0, { 'zk.client': client })
    for (const reason of losses) lost.add(0, { 'zk.client': client, 'zk.lock.loss_reason': reason })
    for (const kind of kinds) {
      for (const totals of [this.#waiting, this.#held, this.#longest]) {
        totals.add({ 'zk.client': client, 'zk.lock.kind': kind }, 0)
      }
    }
  }

  #ended(message: RecipeMessages['zk:released']): void {
    this.#holds.delete(message.node)
    this.#instruments.holds.record(message.held / 1_000, lockLabels(message, this.#paths))
  }
}

/** One value for each combination of labels. An SDK goes on exporting the last value of a series, so none is left out later. */
class Totals {
  readonly #combine: (one: number, other: number) => number
  readonly #values = new Map<string, { readonly labels: Attributes; value: number }>()

  constructor(combine: (one: number, other: number) => number) {
    this.#combine = combine
  }

  add(labels: Attributes, value: number): void {
    const key = JSON.stringify(labels)
    const total = this.#values.get(key)
    if (total === undefined) this.#values.set(key, { labels, value })
    else total.value = this.#combine(total.value, value)
  }

  reset(): void {
    for (const total of this.#values.values()) total.value = 0
  }

  observe(result: BatchObservableResult, gauge: ObservableGauge): void {
    for (const { labels, value } of this.#values.values()) result.observe(gauge, value, labels)
  }
}

/** Whether the client has ended, or has no session and opens no other. */
function isOver({ zk }: Client): boolean {
  return zk.state.name === 'closed' || zk.state.name === 'authFailed' || zk.state.name === 'expired'
}

function instrumentsOf(meter: Meter): Instruments {
  const counter = (name: string, unit: string, description: string) => meter.createCounter(name, { unit, description })
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(name, { unit, description })
  const histogram = (name: string, explicitBucketBoundaries: number[], description: string) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries } })
  return {
    readings: readings.map(({ name, unit, description }) => gauge(name, unit, description)),
    calls: histogram(
      'db.client.operation.duration',
      CALL_BUCKETS,
      'From a call to its answer; its count is the number of calls',
    ),
    errors: counter('zk.request.errors', '{request}', 'Calls that failed, by code'),
    reconnections: counter('zk.reconnections', '{connection}', 'Connections after the first one of a session'),
    expiries: counter('zk.sessions.expired', '{session}', 'Sessions that expired'),
    waiting: gauge('zk.locks.waiting', '{lock}', 'Calls that wait for a lock now'),
    held: gauge('zk.locks.held', '{lock}', 'Locks that are held now'),
    longest: gauge('zk.locks.longest_hold', 's', 'How long the oldest lock has been held; 0 while no lock is held'),
    waits: histogram('zk.lock.wait.duration', LOCK_BUCKETS, 'From the call to the grant, or to the end of the wait'),
    holds: histogram('zk.lock.hold.duration', LOCK_BUCKETS, 'From the grant to the release or the loss'),
    lost: counter('zk.locks.lost', '{lock}', 'Locks that were lost, by reason'),
  }
}
