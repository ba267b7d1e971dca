// The client at an overloaded server.
import { connect, KeeperError } from '@zk/client'
import { expect, test } from 'vitest'
import { TestServer } from '../../src/index.ts'

const paths = Array.from({ length: 6 }, (_, index) => `/${index}`)

test('ZooKeeper reports which requests a busy server has not executed, and repeats them unless configured not to', async () => {
  await using server = await TestServer.start({ requestThrottleMaxRequests: 1, throttledOpWaitTime: 1 })
  await using zk = await connect(server.connectString)
  // A request behind another one waits for longer than 1 ms.
  server.members[0]!.lag(10)
  const outcomes = await Promise.allSettled(paths.map((path) => zk.create(path, '', { repeatThrottled: false })))
  const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as unknown] : []))
  expect(refused.length).toBeGreaterThan(0)
  expect(refused.every((error) => KeeperError.is(error, 'ThrottledOp') && !error.outcomeUnknown)).toBe(true)
  const isThere = paths.map((path) => server.nodes.get(path) !== undefined)
  expect(isThere).toEqual(outcomes.map(({ status }) => status === 'fulfilled'))

  const before = zk.stats().requests.throttled
  const created = await Promise.all(paths.map((path) => zk.create(`${path}-again`)))
  expect(created.map(({ path }) => path)).toEqual(paths.map((path) => `${path}-again`))
  expect(zk.stats().requests.throttled).toBeGreaterThan(before)
})
