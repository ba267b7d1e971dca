import { context, type HrTime, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { LeaderElection, Lock, WaitTimeoutError, op, Semaphore, SharedLock, MultiLock } from '@zk/recipes'
import { describe, expect, test } from 'vitest'
import { clientOf, ensembleOf, lostWrite, Observed, queued, seconds } from './support.ts'

const parentOf = (span: ReadableSpan | undefined) => span?.parentSpanContext?.spanId

describe('The span of a call', () => {
  test('is a client span of a database call, with the path, the server and the answer', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble)
    await zk.create('/a')
    const [span, ...others] = observed.named('create')
    const [address, port] = ensemble.connectString.split(':')
    expect(others).toEqual([])
    expect(span).toMatchObject({ kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } })
    expect(span!.attributes).toEqual({
      'db.system.name': 'zookeeper',
      'db.operation.name': 'create',
      'db.response.status_code': 'Ok',
      'server.address': address,
      'server.port': Number(port),
      'zk.client': 'app',
      'zk.path': '/a',
      'zk.xid': expect.any(Number) as number,
    })
    expect(span!.instrumentationScope).toMatchObject({ name: '@zk/opentelemetry', version: '0.1.0' })
  })

  test('is a child of the context in which the call was made, also if many calls share the connection', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    const roots = ['/a', '/b', '/c'].map((path) => {
      const root = observed.tracer.startSpan(path)
      return { root, done: context.with(trace.setSpan(context.active(), root), () => zk.exists(path)) }
    })
    await Promise.all(roots.map(({ done }) => done))
    for (const { root } of roots) root.end()
    const calls = observed.named('exists')
    expect(calls.map((span) => [span.attributes['zk.path'], parentOf(span)])).toEqual(
      roots.map(({ root }, index) => [['/a', '/b', '/c'][index], root.spanContext().spanId]),
    )
  })

  test('has an error status with the code if the call fails, and none if its caller aborts it', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    await expect(zk.getData('/none')).rejects.toThrow('NoNode')
    const aborting = new AbortController()
    const aborted = zk.getChildren('/', { signal: aborting.signal })
    aborting.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    expect(observed.named('getData')[0]).toMatchObject({
      status: { code: SpanStatusCode.ERROR, message: expect.stringContaining('/none') as string },
      attributes: { 'db.response.status_code': 'NoNode', 'error.type': 'NoNode' },
    })
    const [span] = observed.named('getChildren')
    expect(span).toMatchObject({
      status: { code: SpanStatusCode.UNSET },
      attributes: { 'db.response.status_code': 'Aborted' },
    })
    expect(span!.attributes).not.toHaveProperty('error.type')
  })

  test('says of a write whose answer was lost that its outcome is unknown', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble)
    await lostWrite(zk, ensemble, '/a')
    expect(observed.named('create')[0]!.attributes).toMatchObject({
      'zk.outcome_unknown': true,
      'error.type': 'ConnectionLoss',
    })
  })

  test('of a multi has the paths and the number of its operations', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    await zk.multi([op.create('/a'), op.create('/a/b')])
    expect(observed.named('multi')[0]!.attributes).toMatchObject({
      'db.operation.batch.size': 2,
      'zk.paths': ['/a', '/a/b'],
    })
  })

  test('has the path in its name only below a prefix that the configuration names', async () => {
    const observed = new Observed({ pathPrefixes: ['/jobs'] })
    const zk = await clientOf(await ensembleOf())
    await zk.create('/jobs/daily/a', '', { parents: true })
    await zk.exists('/other/daily')
    const names = observed.spans.map(({ name }) => name)
    expect(names).toContain('create /jobs/daily')
    expect(names).toContain('exists')
  })
})

describe('The spans of a lock', () => {
  test('are one of the wait and one of the hold, which links to it, both children of the context of the call', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const [zk, other] = [await clientOf(ensemble), await clientOf(ensemble, { advanced: { name: 'other' } })]
    const first = await new Lock(other, '/locks/report').acquire()
    const root = observed.tracer.startSpan('job')
    const inRoot = trace.setSpan(context.active(), root)
    const { acquiring } = await context.with(inRoot, () => queued(new Lock(zk, '/locks/report')))
    await first.release()
    const held = await acquiring
    await held.release()
    root.end()
    const own = (name: string) => observed.named(name).find(({ attributes }) => attributes['zk.client'] === 'app')
    const [wait, hold] = [own('acquire lock'), own('hold lock')]
    expect([parentOf(wait), parentOf(hold)]).toEqual([root.spanContext().spanId, root.spanContext().spanId])
    expect(hold!.links.map((link) => link.context.spanId)).toEqual([wait!.spanContext().spanId])
    const blocking = observed.named('hold lock').find(({ attributes }) => attributes['zk.client'] === 'other')!
    // The SDK takes the start of a span from another clock than its end, which may differ by a millisecond.
    const apart = (one: HrTime, other: HrTime) => seconds(one) - seconds(other)
    expect(apart(blocking.endTime, wait!.startTime)).toBeGreaterThan(-0.002)
    expect(apart(hold!.startTime, blocking.endTime)).toBeGreaterThan(-0.002)
    expect(wait!.attributes).toEqual({
      'zk.client': 'app',
      'zk.lock.kind': 'lock',
      'zk.lock.outcome': 'granted',
      'zk.lock.position': 1,
      'zk.path': '/locks/report',
    })
    expect(hold).toMatchObject({
      kind: SpanKind.INTERNAL,
      status: { code: SpanStatusCode.UNSET },
      attributes: {
        'zk.client': 'app',
        'zk.lock.kind': 'lock',
        'zk.lock.node': held.path,
        'zk.lock.fencing_token': `0x${held.fencingToken.toString(16)}`,
        'zk.path': '/locks/report',
      },
    })
  })

  test('say whether a wait has timed out, was aborted, or found the lock taken', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const [zk, other] = [await clientOf(ensemble), await clientOf(ensemble, { advanced: { name: 'other' } })]
    const first = await new Lock(other, '/locks/report').acquire()
    const lock = new Lock(zk, '/locks/report')
    expect(await lock.tryAcquire()).toBeUndefined()
    await expect(lock.acquire({ timeout: 30 })).rejects.toThrow(WaitTimeoutError)
    const aborting = new AbortController()
    const aborted = lock.acquire({ signal: aborting.signal })
    aborting.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    await first.release()
    const waits = observed.named('acquire lock').filter(({ attributes }) => attributes['zk.client'] === 'app')
    expect(waits.map(({ attributes, status }) => [attributes['zk.lock.outcome'], status.code])).toEqual([
      ['busy', SpanStatusCode.UNSET],
      ['timeout', SpanStatusCode.ERROR],
      ['aborted', SpanStatusCode.UNSET],
    ])
  })

  test('end with an error status and the reason when the lock is lost', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble)
    const held = await new Lock(zk, '/locks/report').acquire()
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => held.isHeld()).toBe(false)
    const [hold] = observed.named('hold lock')
    const reason = hold!.attributes['zk.lock.loss_reason']
    expect(['SessionExpired', 'NodeGone']).toContain(reason)
    expect(hold).toMatchObject({ status: { code: SpanStatusCode.ERROR }, attributes: { 'error.type': reason } })
  })

  test('has events for an outage that the hold survives', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf(1_000)
    const zk = await clientOf(ensemble)
    let onResumed!: () => void
    const resumed = new Promise<void>((resolve) => {
      onResumed = resolve
    })
    const held = await new Lock(zk, '/locks/report').acquire({ onResumed })
    ensemble.members[0]!.connections[0]!.reset()
    await resumed
    await held.release()
    const [hold] = observed.named('hold lock')
    expect(hold!.events.map(({ name }) => name)).toEqual(['zk.lock.suspended', 'zk.lock.resumed'])
    expect(hold!.events[0]!.attributes!['zk.lock.lease_remaining']).toBeGreaterThan(0)
  })

  test('are of every recipe that holds something, by its kind', async () => {
    const observed = new Observed({ pathPrefixes: ['/r'] })
    const zk = await clientOf(await ensembleOf())
    const shared = new SharedLock(zk, '/r/shared')
    await shared.read.run(() => {})
    const writing = await shared.write.acquire()
    const reading = await writing.downgrade()
    await reading.release()
    await new Semaphore(zk, '/r/semaphore', { permits: 2 }).run(() => {})
    await new MultiLock(zk, ['/r/a', '/r/b']).run(() => {})
    await (await new LeaderElection(zk, '/r/leader').campaign()).release()
    const names = observed.spans.filter(({ kind }) => kind === SpanKind.INTERNAL).map(({ name }) => name)
    expect(names).toEqual([
      'acquire read /r/shared',
      'hold read /r/shared',
      'acquire write /r/shared',
      'hold write /r/shared',
      'hold read /r/shared',
      'acquire semaphore /r/semaphore',
      'hold semaphore /r/semaphore',
      'acquire multi',
      'hold multi',
      'acquire latch /r/leader',
      'hold latch /r/leader',
    ])
    const errors = observed.spans.filter(({ status }) => status.code === SpanStatusCode.ERROR)
    expect(errors.map(({ name, status }) => [name, status.message])).toEqual([])
  })

  test('leave the renewal of a lease outside of the trace of the call that has the lock', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf(), { sessionTimeout: 400 })
    const root = observed.tracer.startSpan('job')
    const held = await context.with(trace.setSpan(context.active(), root), () =>
      new Lock(zk, '/locks/report').acquire(),
    )
    const before = observed.spans.length
    await expect.poll(() => observed.named('multi').length).toBeGreaterThan(2)
    const renewals = observed.spans.slice(before).filter(({ name }) => name === 'multi' || name === 'sync')
    expect(renewals.map(parentOf)).toEqual(renewals.map(() => undefined))
    await held.release()
    root.end()
  })
})
