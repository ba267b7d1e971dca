import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { InstrumentationBase } from '@opentelemetry/instrumentation'
import { checkConfig, type ZooKeeperInstrumentationConfig } from './config.ts'
import { Metrics } from './metrics.ts'
import { PathLabels } from './path-labels.ts'
import { Spans } from './spans.ts'

export type { ZooKeeperInstrumentationConfig } from './config.ts'

const NAME = '@zk/opentelemetry'
/** That of package.json. */
const VERSION = '0.1.0'

type Subscription = readonly [channel: string, subscriber: (message: unknown) => void]

/**
 * Records spans and metrics for all clients of the process, and for their locks. It patches nothing: the packages publish what they do
 * on diagnostics channels.
 *
 *     registerInstrumentations({ instrumentations: [new ZooKeeperInstrumentation({ pathPrefixes: ['/locks'] })] })
 *
 * Create it before the first `connect`. Clients that already exist get spans, counters and histograms, but no gauges such as
 * `zk.connected`.
 */
export class ZooKeeperInstrumentation extends InstrumentationBase<ZooKeeperInstrumentationConfig> {
  readonly #spans: Spans
  readonly #metrics: Metrics
  #subscriptions: readonly Subscription[] = []

  constructor(config: ZooKeeperInstrumentationConfig = {}) {
    // The constructor of the base would call `enable` before the fields of this class exist.
    super(NAME, VERSION, { ...checked(config), enabled: false })
    const paths = new PathLabels(() => this.getConfig().pathPrefixes ?? [])
    this.#spans = new Spans(() => this.tracer, paths)
    // oxlint-disable-next-line no-restricted-globals -- spans and metrics have the time of the SDK, not that of a Runtime
    this.#metrics = new Metrics(this.meter, paths, () => performance.now())
    this.setConfig(config)
    if (this.getConfig().enabled !== false) this.enable()
  }

  /** Throws a `TypeError` for an unknown option or an invalid value. */
  override setConfig(config: ZooKeeperInstrumentationConfig = {}): void {
    super.setConfig(checked(config))
  }

  /** Subscribes to the channels. */
  override enable(): void {
    if (this.#subscriptions.length > 0) return
    const all = [...Object.entries(this.#spans.subscribers), ...Object.entries(this.#metrics.subscribers)]
    this.#subscriptions = all.map(([channel, subscriber]) => [
      channel,
      this.#guarded(subscriber as (_: unknown) => void),
    ])
    for (const [channel, subscriber] of this.#subscriptions) subscribe(channel, subscriber)
    this.#metrics.observe()
  }

  /** Ends all subscriptions, and the spans that are open. */
  override disable(): void {
    for (const [channel, subscriber] of this.#subscriptions) unsubscribe(channel, subscriber)
    this.#subscriptions = []
    this.#metrics.stopObserving()
    this.#metrics.forget()
    this.#guarded(() => this.#spans.stop())(undefined)
  }

  /** There is nothing to patch. */
  protected override init(): undefined {}

  /** Called by the base when it gets another meter. */
  protected override _updateMetricInstruments(): void {
    // The constructor of the base calls this, too.
    if (!(#metrics in this)) return
    this.#metrics.stopObserving()
    this.#metrics.use(this.meter)
    if (this.#subscriptions.length > 0) this.#metrics.observe()
  }

  /** A subscriber that throws would end the process. */
  #guarded(subscriber: (message: unknown) => void): (message: unknown) => void {
    return (message) => {
      try {
        subscriber(message)
      } catch (error) {
        try {
          this._diag.error('a span or a metric was not recorded', error)
        } catch {}
      }
    }
  }
}

function checked(config: ZooKeeperInstrumentationConfig): ZooKeeperInstrumentationConfig {
  checkConfig(config)
  return config
}
