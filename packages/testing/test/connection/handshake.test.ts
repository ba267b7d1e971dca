import { encodeMessage, ErrorCode } from '@zk/wire'
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

test('a new session gets an id, a password and the requested timeout', () => {
  const client = new Bench().connect({ timeOut: 5_000 })
  const { sessionId, timeOut, passwd, readOnly, protocolVersion } = client.connected!
  expect(sessionId).not.toBe(0n)
  expect({ timeOut, readOnly, protocolVersion, size: passwd!.length }).toEqual({
    timeOut: 5_000,
    readOnly: false,
    protocolVersion: 0,
    size: 16,
  })
})

test.each([
  [1, 4_000],
  [-1, 4_000],
  [4_000, 4_000],
  [39_999, 39_999],
  [1_000_000, 40_000],
])('a timeout of %i ms becomes %i: between 2 and 20 ticks', (asked, given) => {
  expect(new Bench().connect({ timeOut: asked }).connected!.timeOut).toBe(given)
})

test('a client before 3.4, which sends no readOnly, gets none in the answer', () => {
  const client = new Bench().dial()!
  client.handshake({ readOnly: undefined })
  expect(client.chunks[0]!.length).toBe(4 + 36)
})

test('a session is resumed on another connection, and the one before is closed', () => {
  const bench = new Bench()
  const first = bench.connect()
  const again = bench.dial()!
  again.handshake({ sessionId: first.session, passwd: first.connected!.passwd })
  expect(again.connected).toEqual(first.connected)
  expect(first.closed).toBe('end')
})

test.each([
  ['a wrong password', (passwd: Uint8Array) => passwd.map((byte) => byte ^ 1), 0n],
  ['no password', () => null, 0n],
  ['an unknown id', (passwd: Uint8Array) => passwd, 1n],
])('%s is answered as an expired session, and closed', (_, change, off) => {
  const bench = new Bench()
  const first = bench.connect()
  const again = bench.dial()!
  again.handshake({ sessionId: first.session + off, passwd: change(first.connected!.passwd!) })
  expect(again.connected).toEqual({
    protocolVersion: 0,
    timeOut: 0,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  })
  expect(again.closed).toBe('end')
})

test('a client that has seen more than the member is closed without an answer', () => {
  const bench = new Bench()
  bench.connect()
  const ahead = bench.dial()!
  ahead.handshake({ lastZxidSeen: bench.model.members[0]!.zxid + 1n })
  expect(ahead.messages).toEqual([])
  expect(ahead.closed).toBe('end')
  const equal = bench.dial()!
  equal.handshake({ lastZxidSeen: bench.model.members[0]!.zxid })
  expect(equal.connected!.timeOut).toBe(4_000)
})

test('requests in one chunk with the handshake are executed after it', () => {
  const client = new Bench({ members: 3 }).dial('zk1')!
  client.say(
    {
      type: 'connect',
      request: { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 4_000, sessionId: 0n, passwd: null, readOnly: false },
    },
    { type: 'request', op: 'create', opCode: 1, xid: 1, request: node('/a') },
    { type: 'request', op: 'exists', opCode: 3, xid: 2, request: { path: '/a', watch: false } },
  )
  expect(client.messages.map((message) => message.type)).toEqual(['connected', 'reply', 'reply'])
  expect(client.replies.map(({ xid, err }) => [xid, err])).toEqual([
    [1, 0],
    [2, 0],
  ])
})

test('answers of one turn leave in one piece', () => {
  const client = new Bench().connect()
  const before = client.chunks.length
  client.say(
    { type: 'request', op: 'create', opCode: 1, xid: 1, request: node('/a') },
    { type: 'request', op: 'exists', opCode: 3, xid: 2, request: { path: '/a', watch: false } },
    { type: 'request', op: 'ping', opCode: 11, xid: -2, request: undefined },
  )
  expect(client.replies.map(({ xid }) => xid)).toEqual([1, 2, -2])
  expect(client.chunks.length).toBe(before + 1)
})

test('a handshake byte by byte has the same effect', () => {
  const bench = new Bench()
  const client = bench.dial()!
  const say = (bytes: Uint8Array) => {
    for (const byte of bytes) client.raw(Uint8Array.of(byte))
  }
  const blank = { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 4_000, sessionId: 0n, passwd: null, readOnly: false }
  say(encodeMessage({ type: 'connect', request: blank }))
  expect(client.connected!.timeOut).toBe(4_000)
  client.ask('create', node('/a'))
  say(encodeMessage({ type: 'request', op: 'delete', opCode: 2, xid: 2, request: { path: '/a', version: -1 } }))
  expect(client.replies.map(({ xid, err }) => [xid, err])).toEqual([
    [1, 0],
    [2, 0],
  ])
})

test('closeSession is answered, and the connection closed behind the answer', () => {
  const bench = new Bench()
  const client = bench.connect()
  client.ask('create', node('/mine', 1))
  client.ask('closeSession', undefined)
  expect(client.replies.at(-1)).toMatchObject({ op: 'closeSession', err: ErrorCode.Ok })
  expect(client.closed).toBe('end')
  expect(bench.model.nodes.get('/mine')).toBeUndefined()
  expect(bench.model.sessions.list()).toEqual([])
})

test('a client that has closed its connection keeps its session, until that expires', () => {
  const bench = new Bench()
  const client = bench.connect()
  client.hangUp()
  expect(bench.model.members[0]!.connections).toEqual([])
  bench.pass(4_000)
  expect(bench.model.sessions.list()).toHaveLength(1)
  bench.pass(2_000)
  expect(bench.model.sessions.list()).toEqual([])
})

test('a connection without a handshake is closed after 10 to 20 s', () => {
  const bench = new Bench()
  bench.pass(1_000)
  const client = bench.dial()!
  bench.pass(9_999)
  expect(client.closed).toBeUndefined()
  bench.pass(10_000)
  expect(client.closed).toBe('end')
})

test('with maxClientCnxns, one connection more from the same address is refused', () => {
  const bench = new Bench({ members: 1, maxClientCnxns: 2 })
  const first = bench.dial()!
  expect(bench.dial()).toBeDefined()
  expect(bench.dial()).toBeUndefined()
  expect(bench.dial('zk1', '10.0.0.1')).toBeDefined()
  first.hangUp()
  expect(bench.dial()).toBeDefined()
})
