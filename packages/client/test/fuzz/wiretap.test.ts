// What the fuzzer goes by: were these to let things pass, it would find nothing.
import {
  ConnectRequest,
  encodeFrame,
  ErrorCode,
  GetDataRequest,
  GetDataResponse,
  OpCode,
  RequestHeader,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { ConnectError, KeeperError, ProtocolError } from '../../src/index.ts'
import { eventFrame, handshakeFrame, nodeData, replyFrame } from '../support/index.ts'
import { sealed, sealsIn } from './seals.ts'
import { strangeness } from './strangeness.ts'
import { Wiretap } from './wiretap.ts'

const LIMIT = 1_000
const good = { timeOut: 30_000, sessionId: 5n, passwd: new Uint8Array(16), readOnly: false }

/** A connection with requests of the xids 1 and 2, about the nodes a and b. */
function tapped(...chunks: Uint8Array[]): Wiretap {
  const tap = new Wiretap()
  tap.sent(encodeFrame((writer) => ConnectRequest.write(writer, handshake)))
  for (const [index, name] of ['a', 'b'].entries()) tap.sent(getDataFrame(index + 1, `/${sealed(name)}`))
  for (const chunk of chunks) tap.received(chunk)
  return tap
}

const handshake = {
  protocolVersion: 0,
  lastZxidSeen: 0n,
  timeOut: 1,
  sessionId: 0n,
  passwd: new Uint8Array(16),
  readOnly: false,
}

function getDataFrame(xid: number, path: string): Uint8Array {
  return encodeFrame((writer) => {
    RequestHeader.write(writer, { xid, type: OpCode.getData })
    GetDataRequest.write(writer, { path, watch: false })
  })
}

const afterHandshake = (...chunks: Uint8Array[]) => tapped(handshakeFrame(good), ...chunks).fault(LIMIT)

describe('Wiretap', () => {
  test('Wiretap.fault finds none where replies come in order, among pings and events, and the last is not whole', () => {
    const [ping, event] = [replyFrame({ xid: -2 }), eventFrame('NodeCreated', '/a')]
    const replies = [replyFrame({ xid: 1, err: 'NoNode' }), event, ping, replyFrame({ xid: 2 })]
    expect(afterHandshake(...replies, ping.subarray(0, 7))).toBeUndefined()
  })

  test.each<[string, Uint8Array[], string]>([
    ['another xid', [replyFrame({ xid: 2 })], 'a reply with xid 2 in place of 1'],
    ['a second reply', [replyFrame({ xid: 1 }), replyFrame({ xid: 1 })], 'a reply with xid 1 in place of 2'],
    ['a reply to nothing', [1, 2, 3].map((xid) => replyFrame({ xid })), 'a reply with xid 3 in place of undefined'],
    ['less than a header', [Uint8Array.of(0, 0, 0, 3, 1, 2, 3)], 'a reply of 3 bytes'],
    ['a negative length', [Uint8Array.of(255, 255, 255, 255)], 'a frame of -1 bytes'],
    ['a length that no reply has', [Uint8Array.of(5, 0, 0, 0)], 'a frame of 83886080 bytes'],
    ['refused credentials', [replyFrame({ xid: -4, err: 'AuthFailed' })], 'credentials refused with -115'],
    ['the end of the session', [replyFrame({ xid: 1, err: 'SessionExpired' })], 'a reply with err -112'],
  ])('Wiretap.fault finds %s', (_, chunks, fault) => {
    expect(afterHandshake(...chunks)).toBe(fault)
  })

  test.each([
    ['short', Uint8Array.of(0, 0, 0, 2, 0, 0), 'a handshake of 2 bytes'],
    ['of an expired session', handshakeFrame({ ...good, timeOut: 0 }), 'the end of the session'],
    ['without a session', handshakeFrame({ ...good, sessionId: 0n }), 'a handshake with session id 0'],
  ])('Wiretap.fault finds a handshake that is %s', (_, handshake, fault) => {
    expect(tapped(handshake).fault(LIMIT)).toBe(fault)
  })

  test('Wiretap.answered tells which request was answered with a seal', () => {
    const reply = replyFrame({ xid: 2 }, GetDataResponse, nodeData(sealed('a')))
    const tap = tapped(handshakeFrame(good), reply)
    expect(tap.answered('b', 'a')).toBe(true)
    expect(tap.answered('a', 'a')).toBe(false)
    expect(tap.answered('b', 'c')).toBe(false)
  })
})

test('sealsIn finds seals wherever they stand, and none that was touched', () => {
  const [one, other] = [sealed('getData /a 1'), sealed('getData /b 2')]
  expect(sealsIn({ data: new TextEncoder().encode(`${one}...`), children: ['x', other] })).toEqual([
    'getData /a 1',
    'getData /b 2',
  ])
  expect(sealsIn(one.replace('/a', '/b'))).toEqual([])
})

describe('strangeness', () => {
  const wrong = new TypeError('Cannot read properties of undefined')

  test.each<[string, unknown]>([
    ['a TypeError', wrong],
    ['one as a cause', new KeeperError('ConnectionLoss', { cause: new Error('x', { cause: wrong }) })],
    ['one at a server', new ConnectError([{ server: 'zk1:2181', attempts: 1, error: wrong }], 1)],
    ['what is no Error', 'x'],
  ])('strangeness finds %s', (_, error) => {
    expect(strangeness(error)).toBeDefined()
  })

  test('strangeness finds nothing in what is documented', () => {
    const broken = new KeeperError('InvalidResponse', { cause: new ProtocolError('a frame cannot have -1 bytes') })
    const refused = new ConnectError([{ server: 'zk1:2181', attempts: 1, error: new Error('ECONNREFUSED') }], 1)
    expect([broken, refused, new KeeperError('Unknown', { number: ErrorCode.NoNode })].map(strangeness)).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })
})
