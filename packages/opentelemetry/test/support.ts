// The real SDK with exporters in memory, and an ensemble in this process.
import { type Attributes, context, type HrTime } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base'
import { connect, type ConnectOptions } from '@zk/client'
import type { Held, Lock, ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { expect, onTestFinished } from 'vitest'
import { ZooKeeperInstrumentation, type ZooKeeperInstrumentationConfig } from '../src/index.ts'

context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())

export interface Series {
  readonly name: string
  readonly unit: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly description: string
  readonly attributes: Attributes
  /** The value; of a histogram how many values it has. */
  readonly value: number
  /** Of a histogram. */
  readonly sum: number | undefined
}

/** An instrumentation with the real SDK. It ends with the test. */
export class Observed {
  readonly spanExporter = new InMemorySpanExporter()
  readonly tracerProvider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(this.spanExporter)] })
  readonly #metricExporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#metricExporter,
    exportIntervalMillis: 3_600_000,
  })
  readonly meterProvider = new MeterProvider({ readers: [this.#reader] })
  readonly instrumentation: ZooKeeperInstrumentation

  constructor(config?: ZooKeeperInstrumentationConfig) {
    this.instrumentation = new ZooKeeperInstrumentation(config)
    this.instrumentation.setTracerProvider(this.tracerProvider)
    this.instrumentation.setMeterProvider(this.meterProvider)
    onTestFinished(async () => {
      this.instrumentation.disable()
      await this.meterProvider.shutdown()
    })
  }

  get tracer() {
    return this.tracerProvider.getTracer('test')
  }

  /** The spans that have ended. */
  get spans(): ReadableSpan[] {
    return this.spanExporter.getFinishedSpans()
  }

  named(name: string): ReadableSpan[] {
    return this.spans.filter((span) => span.name === name)
  }

  /** All series as they are now. */
  async series(): Promise<Series[]> {
    this.#metricExporter.reset()
    await this.#reader.forceFlush()
    const metrics = this.#metricExporter
      .getMetrics()
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((each) => each.metrics))
    return metrics.flatMap(({ descriptor: { name, unit, description }, ...metric }): Series[] => {
      if (metric.dataPointType === DataPointType.HISTOGRAM) {
        return metric.dataPoints.map(({ attributes, value: { count, sum } }) => {
          return { name, unit, kind: 'histogram' as const, description, attributes, value: count, sum }
        })
      }
      if (metric.dataPointType === DataPointType.EXPONENTIAL_HISTOGRAM) throw new Error('not expected')
      const kind = metric.dataPointType === DataPointType.SUM ? ('counter' as const) : ('gauge' as const)
      return metric.dataPoints.map(({ attributes, value }) => {
        return { name, unit, kind, description, attributes, value, sum: undefined }
      })
    })
  }

  /** The only series with this name whose attributes include these, or undefined. */
  async value(name: string, attributes: Attributes = {}): Promise<number | undefined> {
    const found = (await this.series()).filter(
      (series) =>
        series.name === name && Object.entries(attributes).every(([key, value]) => series.attributes[key] === value),
    )
    if (found.length > 1) throw new Error(`${name} has ${found.length} such series: ${JSON.stringify(found)}`)
    return found[0]?.value
  }
}

/** A server that is closed with the test. */
export async function ensembleOf(tickTime = 100): Promise<TestEnsemble> {
  const ensemble = await TestEnsemble.start({ members: 1, tickTime })
  onTestFinished(() => ensemble.close())
  return ensemble
}

/** A client that is closed with the test. */
export async function clientOf(ensemble: TestEnsemble, options: ConnectOptions = {}): Promise<ZooKeeper> {
  const zk = await connect(ensemble.connectString, { ...options, advanced: { name: 'app', ...options.advanced } })
  onTestFinished(() => zk.close())
  return zk
}

/** Waits for the lock, and resolves when the wait is queued behind another contender. */
export async function queued(lock: Pick<Lock, 'acquire'>, signal?: AbortSignal): Promise<{ acquiring: Promise<Held> }> {
  let acquiring!: Promise<Held>
  await new Promise<void>((resolve) => {
    acquiring = lock.acquire({ signal, onQueued: () => resolve() })
  })
  return { acquiring }
}

/** A create that was sent, and whose answer is lost with the connection. */
export async function lostWrite(zk: ZooKeeper, ensemble: TestEnsemble, path: string): Promise<void> {
  const [member] = ensemble.members
  member!.freeze()
  const writing = zk.create(path)
  await expect.poll(() => zk.stats().flow.inFlight).toBeGreaterThan(0)
  member!.connections[0]!.reset()
  await expect(writing).rejects.toThrow('ConnectionLoss')
  member!.thaw()
}

export const seconds = ([whole, nanos]: HrTime) => whole + nanos / 1e9
