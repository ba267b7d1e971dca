// The examples of metrics and traces, with the ecosystem's own libraries.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { SpanStatusCode, trace } from '@opentelemetry/api'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { connect, Lock, SharedLock, type ZooKeeper } from '@zk/recipes'
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
    const before = await registry.metrics()
    expect(before).toMatch(/^zk_locks_lost_total\{reason="LeaseLost"\} 0$/m)
    expect(before).toMatch(/^zk_calls_queue_full_total 0$/m)
    const held = await new Lock(zk, '/locks/report').acquire()
    ensemble.sessions.expire(zk.session.id)
    await once(held.signal, 'abort')
    const text = await registry.metrics()
    expect(text).toMatch(/zk_call_seconds_count\{op="create",code="Ok"\} \d+/)
    expect(text).toContain('zk_call_seconds_count{op="getData",code="NoNode"} 1')
    expect(text).toContain('zk_lock_wait_seconds_count{path="/locks/report",kind="lock"} 1')
    expect(text).toMatch(/zk_locks_lost_total\{reason="(SessionExpired|NodeGone)"\} 1/)
    expect(text).toContain('# TYPE zk_sessions_expired_total counter\nzk_sessions_expired_total 1')
    expect(text).toMatch(/^zk_calls_in_flight \d+$/m)
  })

  test('show which locks are held now, and for how long, until they are released or lost', async () => {
    const registry = new Registry()
    onTestFinished(collectMetrics(zk, registry))
    const held = async () => (await registry.metrics()).split('\n').filter((line) => /^zk_locks?_held.*\{/.test(line))
    const writer = await new SharedLock(zk, '/locks/report').write.acquire()
    const reader = await writer.downgrade()
    const other = await new SharedLock(zk, '/locks/report').read.acquire()
    const labels = '{path="/locks/report",kind="read"}'
    expect(await held()).toEqual([
      `zk_locks_held${labels} 2`,
      expect.stringMatching(/^zk_lock_held_seconds\{[^}]+\} 0\.\d+$/),
    ])
    await other.release()
    expect(await held()).toContain(`zk_locks_held${labels} 1`)
    ensemble.sessions.expire(zk.session.id)
    await once(reader.signal, 'abort')
    expect(await held()).toEqual([])
    expect(await registry.metrics()).not.toContain('Downgraded')
  })

  test('show that the event loop was blocked, in a number that rises no more afterwards', async () => {
    const registry = new Registry()
    const client = await connect(ensemble.connectString, { sessionTimeout: 300 })
    onTestFinished(() => client.close())
    onTestFinished(collectMetrics(client, registry))
    const late = async () => Number(/^zk_timer_late_seconds_total (\S+)$/m.exec(await registry.metrics())![1])
    const fired = () => client.stats().timer.fired
    const before = await late()
    const end = performance.now() + 200
    while (performance.now() < end);
    await expect.poll(late).toBeGreaterThan(before + 0.05)
    // A busy machine makes timers late, too, but not always.
    const growth = async () => {
      const [after, times] = [await late(), fired()]
      await expect.poll(fired).toBeGreaterThan(times + 3)
      return (await late()) - after
    }
    await expect.poll(growth).toBeLessThan(0.1)
  })

  test('are served by the program, which ends on SIGTERM', async () => {
    const program = fileURLToPath(new URL('../dist/metrics.js', import.meta.url))
    const child = spawn(process.execPath, [program, ensemble.connectString, '0'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { port } = JSON.parse(/\{.*\}/.exec(String(line))![0]) as { port: number }
    const ask = () => fetch(`http://127.0.0.1:${port}/metrics`)
    expect((await ask()).headers.get('content-type')).toContain('text/plain')
    await expect.poll(async () => (await ask()).text()).toContain('# TYPE zk_since_received_seconds gauge')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  test('are served before there is a server to connect to, by a program that ends on SIGTERM then, too', async () => {
    const program = fileURLToPath(new URL('../dist/metrics.js', import.meta.url))
    ensemble.members[0]!.freeze()
    const child = spawn(process.execPath, [program, ensemble.connectString, '0'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const { port } = JSON.parse(/\{.*\}/.exec(String(line))![0]) as { port: number }
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200)
    child.kill('SIGTERM')
    await once(child, 'exit')
    ensemble.members[0]!.thaw()
  })
})

test('every counter that the guide alerts on is there, with 0, before anything has happened', async () => {
  const registry = new Registry()
  onTestFinished(collectMetrics(zk, registry))
  const text = await registry.metrics()
  const guide = readFileSync(new URL('../../docs/guide/production.md', import.meta.url), 'utf8')
  const counters = [...new Set(guide.match(/\bzk_\w+_total\b/g))]
  expect(counters.length).toBeGreaterThan(3)
  for (const name of counters) expect(text, name).toMatch(new RegExp(`^${name}(\\{.*\\})? \\d`, 'm'))
  // A histogram by code begins with its first call.
  expect(guide).not.toMatch(/_count\{/)
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
