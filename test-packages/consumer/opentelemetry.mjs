// The packed @zk/opentelemetry, with a tracer that only keeps the names of its spans.
import { ZooKeeperInstrumentation } from '@zk/opentelemetry'
import { connect, Lock } from '@zk/recipes'
import { TestServer } from '@zk/testing'

const names = []
const span = { addLink: () => span, setAttributes: () => span, spanContext: () => ({}), end: () => {} }
const tracer = { startSpan: (name) => (names.push(name), span) }
const instrumentation = new ZooKeeperInstrumentation()
instrumentation.setTracerProvider({ getTracer: () => tracer })

const server = await TestServer.start()
const zk = await connect(server.connectString)
await new Lock(zk, '/locks/report').run(() => {})
await zk.close()
await server.close()
instrumentation.disable()
console.log(names.filter((name) => name.includes('lock')).join(', '))
