// A stopped member does nothing, and catches up when it goes on.
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

test('a session that is expired while its member is frozen: the connection is closed when it thaws', () => {
  const bench = new Bench({ members: 3 })
  const follower = bench.model.members.find(({ role }) => role === 'follower')!
  const client = bench.connect({ member: follower.name })
  follower.freeze()
  bench.model.sessions.expire(client.session)
  bench.pass(50)
  expect([client.closed, follower.connections.length]).toEqual([undefined, 1])
  follower.thaw()
  bench.pass(10)
  expect([client.closed, follower.connections.length]).toEqual(['end', 0])
})

test('a leader that is lost while its follower is frozen: the connections are closed when it thaws', () => {
  const bench = new Bench({ members: 3, tickTime: 100 })
  const follower = bench.model.members.find(({ role }) => role === 'follower')!
  const client = bench.connect({ member: follower.name, timeOut: 2_000 })
  follower.freeze()
  bench.model.leader!.kill()
  bench.pass(30)
  follower.thaw()
  bench.pass(800)
  expect(client.closed).toBe('end')
})

test('a frozen leader does not even expire sessions, until it thaws', () => {
  const bench = new Bench()
  const client = bench.connect()
  client.ask('create', node('/mine', 1))
  const [member] = bench.model.members
  member!.freeze()
  bench.model.sessions.expire(client.session)
  bench.pass(50)
  expect([client.closed, member!.node('/mine')?.children]).toEqual([undefined, []])
  member!.thaw()
  bench.pass(0)
  expect([client.closed, member!.node('/mine')]).toEqual(['end', undefined])
})

test('a frozen member closes no connection of a client that sends nothing', () => {
  const bench = new Bench()
  const silent = bench.dial()!
  const [member] = bench.model.members
  member!.freeze()
  bench.pass(25_000)
  expect([silent.closed, member!.connections.length]).toEqual([undefined, 1])
  member!.thaw()
  bench.pass(0)
  expect([silent.closed, member!.connections.length]).toEqual(['end', 0])
})

test('a request that is delayed into the freeze of its member is done when that thaws', () => {
  const bench = new Bench()
  const client = bench.connect()
  bench.model.faults.delayRequest({ op: 'create', ms: 20 })
  client.ask('create', node('/a'))
  const [member] = bench.model.members
  member!.freeze()
  bench.pass(100)
  expect(member!.node('/a')).toBeUndefined()
  member!.thaw()
  bench.pass(0)
  expect(client.replies).toMatchObject([{ err: 0 }])
})

test('a connection with its own freeze stays frozen when its member thaws, even if it has ended meanwhile', () => {
  const bench = new Bench()
  const client = bench.connect()
  const [member] = bench.model.members
  const [connection] = member!.connections
  connection!.freeze()
  member!.freeze()
  bench.model.sessions.expire(client.session)
  member!.thaw()
  bench.pass(10)
  expect([client.closed, member!.connections.length]).toEqual([undefined, 0])
  connection!.thaw()
  expect(client.closed).toBe('end')
})
