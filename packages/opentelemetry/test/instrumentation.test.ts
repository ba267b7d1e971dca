import { channel } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import { diag, DiagLogLevel, type Meter, type Tracer } from '@opentelemetry/api'
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { Lock } from '@zk/recipes'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ZooKeeperInstrumentation, type ZooKeeperInstrumentationConfig } from '../src/index.ts'
import { clientOf, ensembleOf, Observed } from './support.ts'

const channels = ['zk:client', 'zk:connection', 'zk:session', 'zk:acquired', 'zk:suspended', 'zk:resumed']
  .concat('zk:released', 'zk:lost')
  .concat(['request', 'acquire'].flatMap((name) => ['start', 'asyncEnd'].map((event) => `tracing:zk:${name}:${event}`)))
const subscribed = () => channels.filter((name) => channel(name).hasSubscribers)

describe('ZooKeeperInstrumentation', () => {
  test.each<[what: string, config: unknown, message: string]>([
    ['an unknown option', { pathPrefix: '/locks' }, 'unknown option pathPrefix; there are enabled, pathPrefixes'],
    ['a prefix that is no path', { pathPrefixes: ['locks'] }, `"locks" is no path; a path is '/' or like '/locks'`],
    ['a prefix that ends with a slash', { pathPrefixes: ['/locks/'] }, `"/locks/" is no path`],
    ['a prefix that is no text', { pathPrefixes: [undefined] }, 'undefined is no path'],
    ['one prefix in place of a list', { pathPrefixes: '/locks' }, "pathPrefixes must be a list, such as ['/locks']"],
    ['enabled as text', { enabled: 'yes' }, 'enabled must be true or false, not yes'],
    ['null', null, 'the configuration must be an object'],
  ])('refuses %s', (_, config, message) => {
    const make = () => new ZooKeeperInstrumentation(config as ZooKeeperInstrumentationConfig)
    expect(make).toThrow(TypeError)
    expect(make).toThrow(message)
    const made = new ZooKeeperInstrumentation({ enabled: false })
    expect(() => made.setConfig(config as ZooKeeperInstrumentationConfig)).toThrow(message)
    expect(subscribed()).toEqual([])
  })

  test('has the version of its package', () => {
    const { name, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
      name: string
      version: string
    }
    const { instrumentationName, instrumentationVersion } = new ZooKeeperInstrumentation({ enabled: false })
    expect([instrumentationName, instrumentationVersion]).toEqual([name, version])
  })

  test('subscribes while it is enabled, once, and to nothing when it is disabled', () => {
    const instrumentation = new ZooKeeperInstrumentation()
    expect(subscribed()).toEqual(channels)
    instrumentation.enable()
    instrumentation.disable()
    expect(subscribed()).toEqual([])
    instrumentation.disable()
    instrumentation.enable()
    expect(subscribed()).toEqual(channels)
    instrumentation.disable()
    expect(subscribed()).toEqual([])
  })

  test('is disabled with enabled: false, until registerInstrumentations or enable', () => {
    const instrumentation = new ZooKeeperInstrumentation({ enabled: false })
    expect(subscribed()).toEqual([])
    const unregister = registerInstrumentations({ instrumentations: [instrumentation] })
    expect(subscribed()).toEqual(channels)
    unregister()
    expect(subscribed()).toEqual([])
  })

  test('when disabled ends the spans that are open, and counts nothing as held', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    const held = await new Lock(zk, '/locks/report').acquire()
    observed.instrumentation.disable()
    expect(observed.named('hold lock')).toHaveLength(1)
    const { length } = observed.spans
    observed.instrumentation.enable()
    expect(await observed.value('zk.locks.held', { 'zk.lock.kind': 'lock' })).toBe(0)
    await held.release()
    const later = observed.spans.slice(length).map(({ name }) => name)
    expect(later).toContain('delete')
    expect(later).not.toContain('hold lock')
  })

  test('records with the providers that it gets later, with the counters of clients from before', async () => {
    const early = new Observed()
    const zk = await clientOf(await ensembleOf())
    const late = new Observed({ enabled: false })
    early.instrumentation.setTracerProvider(late.tracerProvider)
    early.instrumentation.setMeterProvider(late.meterProvider)
    expect(await late.value('zk.reconnections', { 'zk.client': 'app' })).toBe(0)
    expect(await late.value('zk.connected', { 'zk.client': 'app' })).toBe(1)
    await zk.exists('/late')
    expect(late.named('exists')).toHaveLength(1)
    expect(early.named('exists')).toHaveLength(0)
  })

  test('takes a new configuration', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    observed.instrumentation.setConfig({ pathPrefixes: ['/jobs'] })
    await zk.exists('/jobs/one')
    expect(observed.named('exists /jobs/one')).toHaveLength(1)
  })

  test('harms no call if the SDK throws, and says so to the logger of OpenTelemetry', async () => {
    const boom = () => {
      throw new Error('boom')
    }
    const throwing = new Proxy({}, { get: () => boom })
    const instrument = { add: boom, record: boom }
    const meter = new Proxy({}, { get: (_, name) => (String(name).startsWith('create') ? () => instrument : () => {}) })
    const observed = new Observed({ enabled: false })
    const { instrumentation } = observed
    instrumentation.setTracerProvider({ getTracer: () => throwing as Tracer })
    instrumentation.setMeterProvider({ getMeter: () => meter as Meter })
    const error = vi.fn(boom)
    diag.setLogger({ error, warn: () => {}, info: () => {}, debug: () => {}, verbose: () => {} }, DiagLogLevel.ERROR)
    onTestFinished(() => diag.disable())
    const uncaught = vi.fn()
    process.on('uncaughtException', uncaught)
    onTestFinished(() => void process.off('uncaughtException', uncaught))
    instrumentation.enable()
    const zk = await clientOf(await ensembleOf())
    await zk.create('/a')
    await new Lock(zk, '/locks/report').run(() => {})
    await new Promise((resolve) => setImmediate(resolve))
    expect(error).toHaveBeenCalledWith('@zk/opentelemetry', 'a span or a metric was not recorded', expect.any(Error))
    expect(uncaught).not.toHaveBeenCalled()
  })
})
