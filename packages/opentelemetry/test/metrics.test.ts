import { readFileSync } from 'node:fs'
import { connect } from '@zk/client'
import { Lock, WaitTimeoutError, MultiLock, SharedLock } from '@zk/recipes'
import { describe, expect, test } from 'vitest'
import { clientOf, ensembleOf, Observed, queued } from './support.ts'

const app = { 'zk.client': 'app' }

describe('From the call of connect on', () => {
  test('zk.connected is 0, before any server has answered, and 1 with a session', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    ensemble.members[0]!.freeze()
    const connecting = connect(ensemble.connectString, { advanced: { name: 'app' } })
    expect(await observed.value('zk.connected', app)).toBe(0)
    ensemble.members[0]!.thaw()
    const zk = await connecting
    expect(await observed.value('zk.connected', app)).toBe(1)
    await zk.close()
    expect(await observed.value('zk.connected', app)).toBe(0)
  })

  test('every counter and every gauge has its series, with 0', async () => {
    const observed = new Observed()
    await clientOf(await ensembleOf())
    const series = await observed.series()
    const zero = (name: string) =>
      series.filter((each) => each.name === name && each.value === 0).map((each) => each.attributes)
    expect(zero('zk.request.errors')).toContainEqual({ ...app, 'error.type': 'ConnectionLoss' })
    expect(zero('zk.locks.lost')).toContainEqual({ ...app, 'zk.lock.loss_reason': 'LeaseLost' })
    expect(zero('zk.reconnections')).toEqual([app])
    expect(zero('zk.sessions.expired')).toEqual([app])
    for (const name of ['zk.locks.held', 'zk.locks.waiting', 'zk.locks.longest_hold']) {
      const kinds = zero(name).map((each) => each['zk.lock.kind'])
      expect(kinds).toEqual(['lock', 'read', 'write', 'multi', 'semaphore', 'latch'])
    }
  })

  test('every metric that the guide alerts on is there', async () => {
    const observed = new Observed()
    await clientOf(await ensembleOf())
    const names = new Set((await observed.series()).map(({ name }) => name.replaceAll('.', '_')))
    const guide = readFileSync(new URL('../../../docs/guide/production.md', import.meta.url), 'utf8')
    const alerts = /\| alert \| when \|\n([^]*?)\n\n/.exec(guide)![1]!
    const named = [...new Set(alerts.match(/\bzk_\w+/g))]
    expect(named.length).toBeGreaterThan(4)
    const unsuffixed = named.map((name) => name.replace(/(_seconds)?(_total)?$/, ''))
    expect(unsuffixed.filter((name) => !names.has(name))).toEqual([])
  })
})

describe('Clients', () => {
  test('have a series each, by their names; a name is the connect string unless one is given', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    await clientOf(ensemble, { advanced: { name: 'one' } })
    await clientOf(ensemble, { advanced: { name: undefined } })
    const connected = (await observed.series()).filter(({ name }) => name === 'zk.connected')
    expect(connected.map(({ attributes, value }) => [attributes, value])).toEqual([
      [{ 'zk.client': 'one' }, 1],
      [{ 'zk.client': ensemble.connectString }, 1],
    ])
  })

  test('of one name have one series: zk.connected is 1 if all of them are connected', async () => {
    const observed = new Observed()
    const [here, there] = [await ensembleOf(), await ensembleOf()]
    await clientOf(here)
    await clientOf(there)
    expect(await observed.value('zk.connected', app)).toBe(1)
    there.members[0]!.refuse()
    there.members[0]!.connections[0]!.reset()
    await expect.poll(() => observed.value('zk.connected', app)).toBe(0)
  })

  test('that have ended without close are not connected until another of their name is made', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble, { renewSession: false })
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => zk.state.name).toBe('expired')
    expect(await observed.value('zk.connected', app)).toBe(0)
    await clientOf(ensemble)
    expect(await observed.value('zk.connected', app)).toBe(1)
  })

  test('count their reconnections and the expiries of their sessions', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble)
    ensemble.members[0]!.connections[0]!.reset()
    await expect.poll(() => observed.value('zk.reconnections', app)).toBe(1)
    const { id } = zk.session
    ensemble.sessions.expire(id)
    await expect.poll(() => observed.value('zk.sessions.expired', app)).toBe(1)
    await expect.poll(() => zk.state.name).toBe('connected')
    expect(await observed.value('zk.reconnections', app)).toBe(1)
  })
})

describe('Calls', () => {
  test('are counted by operation and code, and their errors by code', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    await zk.create('/a')
    await zk.getData('/a')
    await zk.getData('/a')
    await zk.getData('/none').catch(() => {})
    const call = (op: string, code: string) =>
      observed.value('db.client.operation.duration', { 'db.operation.name': op, 'db.response.status_code': code })
    expect([await call('getData', 'Ok'), await call('getData', 'NoNode')]).toEqual([2, 1])
    expect(await observed.value('zk.request.errors', { 'error.type': 'NoNode' })).toBe(1)
    const series = (await observed.series()).find(
      ({ name, sum }) => name === 'db.client.operation.duration' && sum! > 0,
    )
    expect(series!.unit).toBe('s')
    expect(series!.sum).toBeLessThan(5)
  })

  test('that the library expects to fail, or that their caller aborts, are no errors', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    await zk.create('/a/b/c', '', { parents: true })
    const aborting = new AbortController()
    const aborted = zk.exists('/a', { signal: aborting.signal })
    aborting.abort(new Error('enough'))
    await expect(aborted).rejects.toThrow('enough')
    const errors = (await observed.series()).filter(({ name, value }) => name === 'zk.request.errors' && value > 0)
    expect(errors).toEqual([])
  })

  test('in flight and waiting are counted while they are', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble, { advanced: { maxInFlight: 1 } })
    ensemble.members[0]!.freeze()
    const calls = [zk.exists('/a'), zk.exists('/b'), zk.exists('/c')]
    await expect.poll(() => observed.value('zk.requests.in_flight', app)).toBe(1)
    expect(await observed.value('zk.requests.waiting', app)).toBe(2)
    ensemble.members[0]!.thaw()
    await Promise.all(calls)
    expect(await observed.value('zk.requests.waiting', app)).toBe(0)
  })
})

describe('Locks', () => {
  const lock = { ...app, 'zk.lock.kind': 'lock' }

  test('are counted while they are waited for and held, with the age of the oldest', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    const first = await new Lock(zk, '/locks/report').acquire()
    const { acquiring } = await queued(new Lock(zk, '/locks/report'))
    expect(await observed.value('zk.locks.held', lock)).toBe(1)
    expect(await observed.value('zk.locks.waiting', lock)).toBe(1)
    const before = (await observed.value('zk.locks.longest_hold', lock))!
    await expect.poll(() => observed.value('zk.locks.longest_hold', lock)).toBeGreaterThan(before)
    await first.release()
    const second = await acquiring
    expect(await observed.value('zk.locks.waiting', lock)).toBe(0)
    await second.release()
    expect(await observed.value('zk.locks.held', lock)).toBe(0)
    expect(await observed.value('zk.locks.longest_hold', lock)).toBe(0)
    expect(await observed.value('zk.lock.hold.duration', lock)).toBe(2)
    expect(await observed.value('zk.lock.wait.duration', { ...lock, 'zk.lock.outcome': 'granted' })).toBe(2)
  })

  test('that were not granted are counted by the outcome of the wait', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    const first = await new Lock(zk, '/locks/report').acquire()
    expect(await new Lock(zk, '/locks/report').tryAcquire()).toBeUndefined()
    await expect(new Lock(zk, '/locks/report').acquire({ timeout: 20 })).rejects.toThrow(WaitTimeoutError)
    await first.release()
    const outcome = (name: string) => observed.value('zk.lock.wait.duration', { ...lock, 'zk.lock.outcome': name })
    expect([await outcome('granted'), await outcome('busy'), await outcome('timeout')]).toEqual([1, 1, 1])
    expect(await observed.value('zk.locks.waiting', lock)).toBe(0)
  })

  test('that are lost are counted by reason; a downgrade is no loss', async () => {
    const observed = new Observed()
    const ensemble = await ensembleOf()
    const zk = await clientOf(ensemble)
    const writing = await new SharedLock(zk, '/locks/report').write.acquire()
    const reading = await writing.downgrade()
    const lost = async () =>
      (await observed.series())
        .filter(({ name }) => name === 'zk.locks.lost')
        .reduce((sum, { value }) => sum + value, 0)
    expect(await lost()).toBe(0)
    expect(await observed.value('zk.locks.held', { ...app, 'zk.lock.kind': 'read' })).toBe(1)
    ensemble.sessions.expire(zk.session.id)
    await expect.poll(() => reading.isHeld()).toBe(false)
    expect(await lost()).toBe(1)
    expect(await observed.value('zk.locks.held', { ...app, 'zk.lock.kind': 'read' })).toBe(0)
  })
})

describe('Paths', () => {
  const pathsOf = async (observed: Observed) =>
    new Set((await observed.series()).map(({ attributes }) => attributes['zk.path']))

  test('are in no metric unless the configuration names a prefix', async () => {
    const observed = new Observed()
    const zk = await clientOf(await ensembleOf())
    await new Lock(zk, '/locks/report').run(() => {})
    expect(await pathsOf(observed)).toEqual(new Set([undefined]))
  })

  test('are cut one level below the longest prefix that they have', async () => {
    const observed = new Observed({ pathPrefixes: ['/locks', '/jobs', '/jobs/daily'] })
    const zk = await clientOf(await ensembleOf())
    await new Lock(zk, '/locks/report').run(() => {})
    await zk.create('/jobs/daily/one/part', '', { parents: true })
    await zk.create('/jobsite/a', '', { parents: true })
    await new MultiLock(zk, ['/locks/a', '/locks/b']).run(() => {})
    const paths = await pathsOf(observed)
    expect([...paths].filter((path) => String(path).startsWith('/jobs'))).toEqual([
      '/jobs/daily/one',
      '/jobs',
      '/jobs/daily',
    ])
    expect(paths).toContain('/locks/report')
    const held = await new Lock(zk, '/locks/report').acquire()
    const path = { ...app, 'zk.path': '/locks/report' }
    expect(await observed.value('zk.locks.held', path)).toBe(1)
    await held.release()
    expect(await observed.value('zk.locks.held', path)).toBe(0)
    const multi = (await observed.series()).filter(({ attributes }) => attributes['zk.lock.kind'] === 'multi')
    expect(new Set(multi.map(({ attributes }) => attributes['zk.path']))).toEqual(new Set([undefined]))
  })

  test('are at most 100; further ones are one more', async () => {
    const observed = new Observed({ pathPrefixes: ['/'] })
    const zk = await clientOf(await ensembleOf())
    await Promise.all(Array.from({ length: 150 }, (_, index) => zk.exists(`/n${index}`)))
    const paths = await pathsOf(observed)
    expect([...paths].filter((path) => /^\/n\d+$/.test(String(path)))).toHaveLength(100)
    expect(await observed.value('db.client.operation.duration', { 'zk.path': '/*' })).toBe(50)
  })
})
