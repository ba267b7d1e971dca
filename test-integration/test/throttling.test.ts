// Overloaded servers: they answer ThrottledOp to requests that have waited too long, and do not execute them.
import { connect, KeeperError } from '@zk/client'
import { expect, test } from 'vitest'
import { Ensemble } from '../src/ensemble/index.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'

/** Few requests at a time, and none that has waited for more than 10 ms. */
const flags = '-Dzookeeper.request_throttle_max_requests=8 -Dzookeeper.throttled_op_wait_time=10'
const CALLS = 500

describeEnsemble('A server that throttles', () => {
  test('ZooKeeper repeats throttled requests until all are executed: no call fails, and no write happens twice', async () => {
    await using ensemble = await Ensemble.start({ environment: { SERVER_JVMFLAGS: flags } })
    await using zk = await connect(ensemble.connectString)
    await zk.create('/busy', '')
    // On a busy machine the last of them are throttled for longer than a call waits by default.
    const options = { timeout: Infinity }
    const twice = () => Promise.all([zk.setData('/busy', '', options), zk.getData('/busy', options)])
    const versions = (await Promise.all(Array.from({ length: CALLS }, twice))).map(([{ version }]) => version)
    expect([...versions].sort((one, other) => one - other)).toEqual(Array.from({ length: CALLS }, (_, n) => n + 1))
    expect((await zk.exists('/busy'))?.version).toBe(CALLS)
    expect(zk.stats().requests.throttled).toBeGreaterThan(0)
  }, 120_000)

  test('ZooKeeper rejects a throttled call that opts out of repetition, with an error which says that it was not executed', async () => {
    await using ensemble = await Ensemble.start({ environment: { SERVER_JVMFLAGS: flags } })
    await using zk = await connect(ensemble.connectString)
    await zk.create('/busy', '')
    const options = { repeatThrottled: false }
    const calls = Array.from({ length: CALLS }, () => zk.setData('/busy', '', options))
    const settled = await Promise.allSettled(calls)
    const errors = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
    expect(errors.length).toBeGreaterThan(0)
    for (const error of errors) expect(KeeperError.is(error, 'ThrottledOp') && !error.outcomeUnknown).toBe(true)
    expect((await zk.exists('/busy'))?.version).toBe(CALLS - errors.length)
  }, 120_000)
})
