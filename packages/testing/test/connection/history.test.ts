import { eventName } from '../../src/index.ts'
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

test('every frame is there, decoded, with its time and its session', () => {
  const bench = new Bench()
  bench.pass(5)
  const client = bench.connect()
  client.ask('exists', { path: '/a', watch: true })
  bench.pass(10)
  client.ask('create', node('/a'))
  client.hangUp()
  const { session } = client
  expect([...bench.model.history]).toMatchObject([
    { from: 'connection', what: 'opened', at: 5, member: 'zk1', connection: 1, session: 0n },
    { from: 'client', at: 5, session: 0n, message: { type: 'connect' } },
    { from: 'server', session, message: { type: 'connected', response: { sessionId: session } } },
    { from: 'client', session, message: { type: 'request', op: 'exists', request: { path: '/a', watch: true } } },
    { from: 'server', session, message: { type: 'reply', op: 'exists', err: -101 } },
    { from: 'client', at: 15, message: { type: 'request', op: 'create' } },
    { from: 'server', at: 15, message: { type: 'event', event: { path: '/a' } } },
    { from: 'server', at: 15, message: { type: 'reply', op: 'create', response: { path: '/a' } } },
    { from: 'connection', what: 'closed', reason: 'the client closed it' },
  ])
})

test('it records the effects of faults in their place', () => {
  const bench = new Bench()
  const client = bench.connect()
  bench.model.faults.loseReply({ op: 'create' })
  bench.model.faults.loseRequest({ op: 'exists' })
  client.ask('create', node('/a'))
  const again = bench.connect()
  again.ask('exists', { path: '/a', watch: false })
  const struck = bench.model.history.entries.filter((entry) => 'fault' in entry && entry.fault !== undefined)
  expect(struck).toMatchObject([
    { from: 'server', message: { op: 'create' }, fault: 'loseReply' },
    { from: 'client', message: { op: 'exists' }, fault: 'loseRequest' },
  ])
})

test('requests and events are found by the conditions of rules', () => {
  const bench = new Bench()
  const [one, other] = [bench.connect(), bench.connect()]
  one.ask('exists', { path: '/a/b', watch: true })
  other.ask('create2', node('/a'))
  other.ask('create2', node('/a/b'))
  one.ask('ping', undefined, -2)
  const { history } = bench.model
  expect(history.requests().map(({ message }) => message.op)).toEqual(['exists', 'create2', 'create2'])
  expect(history.requests({ op: 'create', path: '/a/b' })).toHaveLength(1)
  expect(history.requests({ session: one.session })).toHaveLength(1)
  expect(history.requests({ op: 'ping' })).toHaveLength(1)
  expect(history.events({ path: '/a' }).map(({ session }) => session)).toEqual([one.session])
  expect(history.events({ session: other.session })).toEqual([])
  expect(history.events({ path: '/a' }).map(({ message }) => eventName(message.event.type))).toEqual(['NodeCreated'])
  expect(() => history.requests({ member: 'zk9' })).toThrow(RangeError)
})

test('replies are found by their request, lost ones too', () => {
  const bench = new Bench()
  const [one, other] = [bench.connect(), bench.connect()]
  bench.model.faults.loseReply({ op: 'create', path: '/b', connection: 'open' })
  one.ask('create', node('/a'))
  other.ask('create', node('/b'))
  other.ask('exists', { path: '/c', watch: false })
  const { history } = bench.model
  expect(history.replies().map(({ message }) => message.op)).toEqual(['create', 'create', 'exists'])
  expect(history.replies({ path: '/b' })).toMatchObject([{ fault: 'loseReply', message: { err: 0 } }])
  expect(history.replies({ op: 'exists' }).map(({ message }) => message.err)).toEqual([-101])
  expect(history.replies({ session: one.session, path: '/b' })).toEqual([])
})

test('a condition that matches nothing is refused', () => {
  const { history } = new Bench().model
  expect(() => history.requests({ nth: 7, paths: '/a' } as object)).toThrow(
    new TypeError('history.requests: unknown option nth, paths; known are op, path, session, member'),
  )
  expect(() => history.replies({ times: 1 } as object)).toThrow(/history.replies: unknown option times/)
  expect(() => history.events({ op: 'create' } as object)).toThrow(/history.events: unknown option op/)
  expect(() => history.requests({ op: 'event' })).toThrow(/events are found with history.events/)
  expect(() => history.replies({ op: ['create', 'connect'] })).toThrow(/handshakes among the entries/)
  expect(() => history.requests({ path: '/a/' })).toThrow(/path "\/a\/" must not end with '\/'/)
})

test('it has the controls that were used, and the resulting roles', () => {
  const bench = new Bench({ members: 3 })
  const { model } = bench
  const leader = model.leader!
  model.history.clear()
  model.nodes.create('/a', { data: 'secret' })
  leader.kill()
  bench.pass(1_000)
  leader.restart()
  model.network.partition(['zk1', 'zk2'], [model.members[2]!])
  model.network.delay(2)
  const entries = model.history.entries.filter(({ from }) => from === 'member' || from === 'control')
  expect(entries.slice(0, 2)).toEqual([
    { from: 'control', at: 300, what: 'nodes.create(/a)' },
    { from: 'control', at: 300, what: `${leader.name}.kill()` },
  ])
  const roles = entries.flatMap((entry) => (entry.from === 'member' ? [[entry.member, entry.role]] : []))
  expect(roles[0]).toEqual([leader.name, 'down'])
  expect(roles).toContainEqual([model.leader!.name, 'leader'])
  expect(roles.filter(([, role]) => role === 'leader')).toHaveLength(1)
  const text = model.history.toString()
  expect(text).toContain(`    300.0 ms  ${leader.name}  -- down`)
  expect(text).toContain('   1300.0 ms  -- network.partition([zk1, zk2], [zk3])')
  expect(text).not.toContain('secret')
  expect(text.split('\n')).toHaveLength(model.history.length)
})

test('it records why a connection was closed', () => {
  const bench = new Bench({ members: 3 })
  const { model } = bench
  const leader = model.leader!
  const [cutOff, other] = model.members.filter(({ role }) => role === 'follower')
  const expired = bench.connect({ member: other!.name })
  const moved = bench.connect({ member: other!.name })
  const resumed = bench.connect({ member: leader.name })
  bench.connect({ member: cutOff!.name, timeOut: 40_000 })
  model.sessions.expire(expired.session)
  model.sessions.move(moved.session, leader)
  moved.ask('create', node('/a'))
  bench.pass(0)
  const again = bench.dial(leader.name)!
  again.handshake({ sessionId: resumed.session, passwd: resumed.connected!.passwd })
  model.network.isolate(cutOff!)
  bench.pass(12_000)
  const reasons = model.history.entries.flatMap((entry) =>
    entry.from === 'connection' && entry.what === 'closed' ? [[entry.connection, entry.reason]] : [],
  )
  expect(reasons).toEqual(
    expect.arrayContaining([
      [1, 'the session has expired'],
      [2, 'the session has moved to another member'],
      [3, 'the session was resumed on another'],
      [4, 'the member has received nothing from its leader for syncLimit'],
    ]),
  )
})

test('it records that a leader has lost its quorum', () => {
  const bench = new Bench({ members: 3 })
  const leader = bench.model.leader!
  bench.connect({ member: leader.name, timeOut: 40_000 })
  bench.model.network.isolate(leader)
  bench.pass(20_000)
  expect(bench.model.history.entries).toContainEqual(
    expect.objectContaining({ what: 'closed', reason: 'the leader is without a quorum' }),
  )
  expect(bench.model.history.entries).toContainEqual(
    expect.objectContaining({ from: 'member', member: leader.name, role: 'looking' }),
  )
})

test('entries over the limit are removed, the oldest first', () => {
  const bench = new Bench({ members: 1, history: { entries: 10 } })
  const client = bench.connect()
  for (let at = 0; at < 100; at++) client.ask('exists', { path: '/a', watch: false })
  const { history } = bench.model
  expect(history.length).toBe(10)
  expect(history.entries).toHaveLength(10)
  expect(history.dropped).toBe(3 + 200 - 10)
  expect(history.entries.at(-1)).toMatchObject({ from: 'server', message: { xid: 100 } })
  history.clear()
  expect([history.length, history.dropped]).toEqual([0, 0])
})

test('so are frames with too many bytes in total', () => {
  const bench = new Bench({ members: 1, history: { bytes: 10_000 } })
  const client = bench.connect()
  for (let at = 0; at < 10; at++) client.ask('create', { ...node(`/a${at}`), data: new Uint8Array(4_000) })
  expect(bench.model.history.requests({ op: 'create' }).length).toBe(2)
})

test('nothing is kept with a limit of 0', () => {
  const bench = new Bench({ members: 1, history: { entries: 0 } })
  bench.connect().ask('exists', { path: '/a', watch: false })
  expect(bench.model.history.length).toBe(0)
  expect(bench.model.history.toString()).toBe('')
})

test('as text it has one line for each entry, without data and secrets', () => {
  const bench = new Bench()
  const client = bench.connect()
  const bytes = new TextEncoder().encode('ann:secret')
  client.ask('auth', { type: 0, scheme: 'digest', auth: bytes }, -4)
  client.ask('create', { ...node('/a'), data: bytes })
  client.ask('create', node('/a'))
  client.say({ type: 'request', op: undefined, opCode: 999, xid: 3, request: undefined })
  const session = `0x${client.session.toString(16)}`
  expect(bench.model.history.toString().split('\n')).toEqual([
    '      0.0 ms  zk1 #1 0x0  -- opened',
    '      0.0 ms  zk1 #1 0x0  > connect 0x0  timeout 4000  zxid 0x0',
    `      0.0 ms  zk1 #1 ${session}  < connected ${session}  timeout 4000`,
    `      0.0 ms  zk1 #1 ${session}  > auth  xid -4  digest`,
    `      0.0 ms  zk1 #1 ${session}  < auth: Ok  xid -4  zxid 0x0`,
    `      0.0 ms  zk1 #1 ${session}  > create /a  xid 1  10 bytes`,
    `      0.0 ms  zk1 #1 ${session}  < create: Ok  xid 1  zxid 0x2  /a`,
    `      0.0 ms  zk1 #1 ${session}  > create /a  xid 2  0 bytes`,
    `      0.0 ms  zk1 #1 ${session}  < create: NodeExists  xid 2  zxid 0x3`,
    `      0.0 ms  zk1 #1 ${session}  > opcode 999  xid 3`,
    `      0.0 ms  zk1 #1 ${session}  < opcode 999: Unimplemented  xid 3  zxid 0xffffffffffffffff`,
    `      0.0 ms  zk1 #1 ${session}  -- closed: opcode 999 is not known`,
  ])
})

test('clear begins to count bytes anew', () => {
  const bench = new Bench({ members: 1, history: { bytes: 4_000 } })
  const client = bench.connect()
  const { history } = bench.model
  for (let each = 0; each < 50; each++) client.ask('create', node(`/${each}`))
  expect(history.dropped).toBeGreaterThan(0)
  history.clear()
  for (let each = 0; each < 5; each++) client.ask('getData', { path: '/0', watch: false })
  expect([history.dropped, history.requests().length]).toEqual([0, 5])
})
