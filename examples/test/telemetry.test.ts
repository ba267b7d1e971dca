// The examples of metrics and traces, with the ecosystem's own libraries.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { connect, Lock, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { collectMetrics } from '../src/metrics.ts'
import { traceZooKeeper } from '../src/tracing.ts'

let ensemble: TestEnsemble
let zk: ZooKeeper

beforeEach(async () => {
  ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
  zk = await connect(ensemble.connectString)
})
afterEach(async () => {
  await zk.close()
  await ensemble.close()
})

describe('metrics', () => {
  test('count calls by their codes, locks and sessions', async () => {
    const registry = new Registry()
    onTestFinished(collectMetrics(zk, registry))
    await zk.create('/a')
    await zk.getData('/none').catch(() => {})
    const held = await new Lock(zk, '/locks/report').acquire()
    ensemble.sessions.expire(zk.session.id)
    await once(held.signal, 'abort')
    const text = await registry.metrics()
    expect(text).toMatch(/zk_call_seconds_count\{op="create",code="Ok"\} \d+/)
    expect(text).toContain('zk_call_seconds_count{op="getData",code="NoNode"} 1')
    expect(text).toContain('zk_lock_wait_seconds_count{path="/locks/report",kind="lock"} 1')
    expect(text).toMatch(
      /zk_locks_lost_total\{path="\/locks\/report",kind="lock",reason="(SessionExpired|NodeGone)"\} 1/,
    )
    expect(text).toContain('# TYPE zk_sessions_expired_total counter\nzk_sessions_expired_total 1')
    expect(text).toMatch(/^zk_calls_in_flight \d+$/m)
  })

  test('are served by the program, which ends on SIGTERM', async () => {
    const program = fileURLToPath(new URL('../dist/metrics.js', import.meta.url))
    const child = spawn(process.execPath, [program, ensemble.connectString, '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { port } = JSON.parse(/\{.*\}/.exec(String(line))![0]) as { port: number }
    const response = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(response.headers.get('content-type')).toContain('text/plain')
    expect(await response.text()).toContain('# TYPE zk_since_received_seconds gauge')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })
})

describe('traces', () => {
  const exporter = new InMemorySpanExporter()
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
  trace.setGlobalTracerProvider(provider)

  test('are a span for each call, and for each hold of a lock', async () => {
    onTestFinished(traceZooKeeper())
    await zk.create('/a')
    await zk.getData('/none').catch(() => {})
    await new Lock(zk, '/locks/report').run(() => {})
    const spans = exporter.getFinishedSpans()
    const spanOf = (name: string) => spans.find((span) => span.name === name)
    expect(spanOf('zk create')).toMatchObject({
      attributes: { 'zk.path': '/a', 'zk.code': 'Ok', 'server.address': ensemble.connectString },
      status: { code: SpanStatusCode.UNSET },
    })
    expect(spanOf('zk getData')).toMatchObject({
      attributes: { 'zk.code': 'NoNode', 'zk.outcome_unknown': false },
      status: { code: SpanStatusCode.ERROR, message: expect.stringContaining('/none') as string },
    })
    expect(spanOf('zk hold /locks/report')?.ended).toBe(true)
  })
})
