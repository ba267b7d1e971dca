import { encodeMessage } from '@zk/wire'
import { expect, test } from 'vitest'
import { Bench, node } from '../support/bench.ts'

test('a session without its password is answered as an expired one, and closed', () => {
  const bench = new Bench()
  const first = bench.connect()
  const again = bench.dial()!
  again.handshake({ sessionId: first.session, passwd: null })
  expect(again.connected).toEqual({
    protocolVersion: 0,
    timeOut: 0,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  })
  expect(again.closed).toBe('end')
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
