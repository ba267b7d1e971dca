// A session that its client resumes elsewhere, while the server before still has something of it.
import { setImmediate as immediate } from 'node:timers/promises'
import { connect } from '@zk/client'
import { expect, test } from 'vitest'
import { TestEnsemble } from '../src/index.ts'

test('ZooKeeper that goes on elsewhere is not disturbed by what the server before has kept of it (S10)', async () => {
  await using ensemble = await TestEnsemble.start({ members: 3 })
  const leader = (await ensemble.serving()).name
  const followers = ensemble.followers
  const connectString = followers.map(({ address }) => address).join()
  await using zk = await connect(connectString, { sessionTimeout: 10_000 })
  await zk.create('/a', 'before')
  const { session } = zk
  const old = followers.find(({ connections }) => connections.some((each) => each.session === session.id))!
  // What the follower passes on waits there, as TCP would have it.
  ensemble.network.cut(leader, old)
  const late = zk.setData('/a', 'late', { timeout: 60_000 }).catch((error: unknown) => error)
  while (ensemble.history.requests({ op: 'setData' }).length === 0) await immediate()
  for (const connection of old.connections) connection.reset()
  expect(await late).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
  await zk.getData('/a')
  const { connection } = session
  expect([zk.session === session, connection?.server === old.address]).toEqual([true, false])
  // Now it reaches the leader, which knows that the session is another server's.
  ensemble.network.heal(leader, old)
  await ensemble.serving()
  await zk.sync('/a')
  expect(new TextDecoder().decode((await zk.getData('/a')).data)).toBe('before')
  await zk.setData('/a', 'behind', { version: 0 })
  expect([session.connection === connection, session.signal.aborted]).toEqual([true, false])
})
