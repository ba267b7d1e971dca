import { ErrorCode, encode, Reader, ReplyHeader, Stat, Xid } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { readConnectResponse, readIncoming } from '../src/session/protocol/incoming.ts'
import { authReply, bodyOf, connectReply, passwd, pingReply, SESSION_ID } from './support/machine-frames.ts'
import { wireStat } from './support/stat.ts'
import { eventFrame, replyFrame } from './support/frames.ts'

describe('readIncoming', () => {
  test('readIncoming takes xid -2 for the answer to a ping', () => {
    expect(readIncoming(new Reader(bodyOf(pingReply())))).toEqual({ type: 'ping' })
  })

  test('readIncoming takes xid -4 for the answer to a credential', () => {
    expect(readIncoming(new Reader(bodyOf(authReply())))).toEqual({ type: 'auth', err: 0 })
    expect(readIncoming(new Reader(bodyOf(authReply(ErrorCode.AuthFailed))))).toEqual({ type: 'auth', err: -115 })
  })

  test('readIncoming takes xid -1 for an event, and gives its zxid, which servers before 3.9 leave at -1', () => {
    expect(readIncoming(new Reader(bodyOf(eventFrame('NodeDeleted', '/a', { zxid: 7n }))))).toEqual({
      type: 'event',
      event: 'NodeDeleted',
      path: '/a',
      zxid: 7n,
    })
    expect(readIncoming(new Reader(bodyOf(eventFrame('NodeCreated', '/a'))))).toMatchObject({
      event: 'NodeCreated',
      zxid: -1n,
    })
  })

  test('readIncoming gives an event of a type it does not know, without a name', () => {
    expect(readIncoming(new Reader(bodyOf(eventFrame(99, '/a'))))).toMatchObject({
      type: 'event',
      event: undefined,
      path: '/a',
    })
  })

  test('readIncoming takes the null path of a session event for an empty one', () => {
    expect(readIncoming(new Reader(bodyOf(eventFrame('None', null))))).toMatchObject({
      type: 'event',
      event: 'None',
      path: '',
    })
  })

  test.each([1, 2 ** 31 - 1, Xid.setWatches, 0, -3])(
    'readIncoming takes xid %i for a reply, its body unread',
    (xid) => {
      const incoming = readIncoming(new Reader(bodyOf(replyFrame({ xid, zxid: 5n, err: 'NoNode' }, Stat, wireStat))))
      expect(incoming).toMatchObject({ type: 'reply', xid, zxid: 5n, err: -101 })
      expect(Stat.read((incoming as Extract<typeof incoming, { type: 'reply' }>).body)).toEqual(wireStat)
    },
  )

  test('readIncoming refuses a frame that is shorter than its header, and an event that is cut short', () => {
    expect(() => readIncoming(new Reader(new Uint8Array(0)))).toThrow('in ReplyHeader.xid')
    expect(() => readIncoming(new Reader(bodyOf(pingReply()).subarray(0, 15)))).toThrow('in ReplyHeader.err')
    const event = bodyOf(eventFrame('NodeDeleted', '/a'))
    expect(() => readIncoming(new Reader(event.subarray(0, event.byteLength - 1)))).toThrow('in WatcherEvent.path')
  })
})

describe('readConnectResponse', () => {
  test('readConnectResponse gives what the server says, in 37 bytes and in the 36 of a 3.3 server', () => {
    const frame = bodyOf(connectReply({ timeOut: 4_000 }))
    expect(frame).toHaveLength(37)
    const expected = { protocolVersion: 0, timeOut: 4_000, sessionId: SESSION_ID, passwd, readOnly: false }
    expect(readConnectResponse(frame)).toEqual(expected)
    expect(readConnectResponse(frame.subarray(0, 36))).toEqual(expected)
  })

  test('readConnectResponse reads a code in 16 bytes: so a read-only server without local sessions refuses', () => {
    const header = encode(ReplyHeader, { xid: 0, zxid: 0n, err: ErrorCode.NotReadOnly })
    expect(header).toHaveLength(16)
    expect(() => readConnectResponse(header)).toThrow('the handshake was refused with code -119')
  })

  test.each([0, 1, 15, 17, 19])('readConnectResponse refuses %i bytes', (length) => {
    expect(() => readConnectResponse(new Uint8Array(length))).toThrow(
      `a handshake cannot be answered with ${length} bytes`,
    )
  })

  test.each([20, 35])('readConnectResponse says where %i bytes of a longer answer end', (length) => {
    const frame = bodyOf(connectReply()).subarray(0, length)
    expect(() => readConnectResponse(frame)).toThrow('in ConnectResponse.passwd')
  })

  test('readConnectResponse takes a password of no bytes, or none: 20 bytes', () => {
    for (const passwd of [new Uint8Array(0), null]) {
      const frame = bodyOf(connectReply({ passwd })).subarray(0, 20)
      expect(readConnectResponse(frame).passwd).toEqual(passwd)
    }
  })

  test.each([0, -1])('readConnectResponse gives a timeout of %i as it is: the session has expired', (timeOut) => {
    const frame = bodyOf(connectReply({ timeOut, sessionId: 0n }))
    expect(readConnectResponse(frame)).toMatchObject({ timeOut, sessionId: 0n })
  })

  test('readConnectResponse refuses a session with id 0', () => {
    expect(() => readConnectResponse(bodyOf(connectReply({ sessionId: 0n })))).toThrow('with session id 0')
  })

  test('readConnectResponse takes ids of any sign', () => {
    expect(readConnectResponse(bodyOf(connectReply({ sessionId: -5n }))).sessionId).toBe(-5n)
  })

  test('readConnectResponse refuses a read-only server', () => {
    expect(() => readConnectResponse(bodyOf(connectReply({ readOnly: true })))).toThrow('the server is read-only')
  })
})
