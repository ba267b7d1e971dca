// Code of packages/opentelemetry/README.md.

// #region main
import { registerInstrumentations } from '@opentelemetry/instrumentation'
import { ConsoleMetricExporter, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BatchSpanProcessor, ConsoleSpanExporter, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import { ZooKeeperInstrumentation } from '@zk/opentelemetry'
import { connect, Lock } from '@zk/recipes'

const tracerProvider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(new ConsoleSpanExporter())] })
tracerProvider.register() // makes spans children of the span that is active at the call
const meterProvider = new MeterProvider({
  readers: [new PeriodicExportingMetricReader({ exporter: new ConsoleMetricExporter() })],
})
registerInstrumentations({
  tracerProvider,
  meterProvider,
  instrumentations: [new ZooKeeperInstrumentation({ pathPrefixes: ['/locks'] })], // before the first connect
})

const zk = await connect(process.argv[2] ?? '127.0.0.1:2181', { advanced: { name: 'billing' } })
try {
  await new Lock(zk, '/locks/report').run(async () => {
    await zk.create('/reports', '', { parents: true })
  })
} finally {
  await zk.close()
  await tracerProvider.shutdown()
  await meterProvider.shutdown()
}
// #endregion
