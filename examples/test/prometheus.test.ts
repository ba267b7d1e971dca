// The code of docs/guide/prometheus.md, with prom-client itself.
import { once } from 'node:events'
import { connect, Lock, SharedLock, type ZooKeeper } from '@zk/recipes'
import { TestEnsemble } from '@zk/testing'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { collectMetrics } from '../src/guide/prometheus.ts'

let ensemble: TestEnsemble
let registry: Registry

beforeEach(async () => {
  ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
  registry = new Registry()
  onTestFinished(collectMetrics(registry))
})
afterEach(() => ensemble.close())

async function client(): Promise<ZooKeeper> {
  const zk = await connect(ensemble.connectString, { advanced: { name: 'app' } })
  onTestFinished(() => zk.close())
  return zk
}

describe('collectMetrics', () => {
  test('shows zk_connected from the call of connect on', async () => {
    ensemble.members[0]!.freeze()
    const connecting = client()
    expect(await registry.metrics()).toMatch(/^zk_connected\{client="app"\} 0$/m)
    ensemble.members[0]!.thaw()
    const zk = await connecting
    expect(await registry.metrics()).toMatch(/^zk_connected\{client="app"\} 1$/m)
    await zk.close()
    expect(await registry.metrics()).not.toMatch(/^zk_connected\{/m)
  })

  test('shows zk_connected as 0 after connect has given up', async () => {
    ensemble.members[0]!.freeze()
    await connect(ensemble.connectString, { connectTimeout: 100, advanced: { name: 'app' } }).catch(() => {})
    expect(await registry.metrics()).toMatch(/^zk_connected\{client="app"\} 0$/m)
  })

  test('counts calls by their codes, locks, losses and expiries; losses and expiries from 0 on', async () => {
    const zk = await client()
    await zk.create('/a')
    await zk.getData('/none').catch(() => {})
    const before = await registry.metrics()
    expect(before).toMatch(/^zk_locks_lost_total\{client="app",reason="LeaseLost"\} 0$/m)
    expect(before).toMatch(/^zk_sessions_expired_total\{client="app"\} 0$/m)
    expect(before).toMatch(/^zk_call_duration_seconds_count\{client="app",op="create",code="Ok"\} 1$/m)
    expect(before).toMatch(/^zk_call_duration_seconds_count\{client="app",op="getData",code="NoNode"\} 1$/m)
    const held = await new Lock(zk, '/locks/report').acquire()
    expect(await registry.metrics()).toMatch(/^zk_locks_held\{client="app",kind="lock"\} 1$/m)
    ensemble.sessions.expire(zk.session.id)
    await once(held.signal, 'abort')
    const after = await registry.metrics()
    expect(after).toMatch(/^zk_locks_lost_total\{client="app",reason="(SessionExpired|NodeGone)"\} 1$/m)
    expect(after).toMatch(/^zk_locks_held\{client="app",kind="lock"\} 0$/m)
    await expect.poll(() => registry.metrics()).toMatch(/^zk_sessions_expired_total\{client="app"\} 1$/m)
  })

  test('counts a downgrade as no loss', async () => {
    const zk = await client()
    const writer = await new SharedLock(zk, '/locks/report').write.acquire()
    const reader = await writer.downgrade()
    const text = await registry.metrics()
    expect(text).toMatch(/^zk_locks_held\{client="app",kind="write"\} 0$/m)
    expect(text).toMatch(/^zk_locks_held\{client="app",kind="read"\} 1$/m)
    expect(text).not.toContain('Downgraded')
    await reader.release()
  })
})
