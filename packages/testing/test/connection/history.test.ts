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

test('it says what faults did, where they did it', () => {
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

test('requests and events are found by what a rule would match', () => {
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
  expect(() => history.requests({ member: 'zk9' })).toThrow(RangeError)
})

test('what is too much is forgotten, the oldest first', () => {
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

test('so are frames that are too large together', () => {
  const bench = new Bench({ members: 1, history: { bytes: 10_000 } })
  const client = bench.connect()
  for (let at = 0; at < 10; at++) client.ask('create', { ...node(`/a${at}`), data: new Uint8Array(4_000) })
  expect(bench.model.history.requests({ op: 'create' }).length).toBe(2)
})

test('none is kept where none is wanted', () => {
  const bench = new Bench({ members: 1, history: { entries: 0 } })
  bench.connect().ask('exists', { path: '/a', watch: false })
  expect(bench.model.history.length).toBe(0)
  expect(bench.model.history.toString()).toBe('')
})

test('as text it is a line an entry, and tells neither data nor secrets', () => {
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
    `      0.0 ms  zk1 #1 ${session}  > auth  xid -4`,
    `      0.0 ms  zk1 #1 ${session}  < auth: Ok  xid -4  zxid 0x0`,
    `      0.0 ms  zk1 #1 ${session}  > create /a  xid 1`,
    `      0.0 ms  zk1 #1 ${session}  < create: Ok  xid 1  zxid 0x2`,
    `      0.0 ms  zk1 #1 ${session}  > create /a  xid 2`,
    `      0.0 ms  zk1 #1 ${session}  < create: NodeExists  xid 2  zxid 0x3`,
    `      0.0 ms  zk1 #1 ${session}  > opcode 999  xid 3`,
    `      0.0 ms  zk1 #1 ${session}  < opcode 999: Unimplemented  xid 3  zxid 0xffffffffffffffff`,
    `      0.0 ms  zk1 #1 ${session}  -- closed: opcode 999 is not known`,
  ])
})
