import * as fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type ClientMessage,
  decodeClientFrame,
  decodeServerFrame,
  encode,
  encodeFrame,
  encodeMessage,
  ErrorCode,
  OpCode,
  type OperationName,
  operations,
  ProtocolError,
  ReplyHeader,
  type RequestMessage,
  type ServerMessage,
  Xid,
} from '../src/index.ts'
import { asked, valuesOf } from './arbitraries.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { stat } from './stat.ts'
import { thrownBy } from './thrown.ts'
import { lines, rows } from './vectors/lines.ts'
import { hasSurrogates } from './vectors/values.ts'

const nothingAsked = () => undefined
/** The body of the frame that is spelled in hex. */
const bodyOf = (hex: string) => bytesOf(hex).subarray(4)
const frameOf = (hex: string) => encodeFrame((writer) => writer.raw(bytesOf(hex)))

// Java's surrogates are not UTF-8: they come out as U+FFFD and can never be the same bytes again.
const javas = lines('frame').filter(({ parts }) => !hasSurrogates(parts))

describe.each(rows(javas, ({ what, dir }) => `${what} ${dir}`))('frame %s of Java', (_title, { what, dir, hex }) => {
  const first = what.startsWith('connect') || what === 'session-expired'
  const opCode = Number(what.slice(2))

  test('becomes a message that becomes the same bytes', () => {
    const message =
      dir === 'c2s' ? decodeClientFrame(bodyOf(hex), first) : decodeServerFrame(bodyOf(hex), first, () => ({ opCode }))
    expect(message).not.toHaveProperty('rest')
    expect(hexOf(encodeMessage(message))).toBe(hex)
  })
})

test('83 frames of Java are decoded and encoded', () => {
  expect(javas).toHaveLength(83)
})

describe('decodeClientFrame', () => {
  test('decodeClientFrame reads a ConnectRequest first, and knows whether its readOnly byte is there', () => {
    const hex = '00000000 0000000000000007 00007530 0000000000000000 00000002 beef'
    const request = {
      protocolVersion: 0,
      lastZxidSeen: 7n,
      timeOut: 30_000,
      sessionId: 0n,
      passwd: bytesOf('beef'),
    }
    for (const [byte, readOnly] of [
      ['', undefined],
      ['00', false],
      ['01', true],
    ] as const) {
      const message = decodeClientFrame(bytesOf(hex + byte), true)
      expect(message).toStrictEqual({ type: 'connect', request: { ...request, readOnly } })
      expect(encodeMessage(message)).toEqual(frameOf(hex + byte))
    }
  })

  test('decodeClientFrame names the operation of a request', () => {
    const message = decodeClientFrame(bytesOf('00000005 00000004 00000002 2f61 01'), false)
    expect(message).toStrictEqual({
      type: 'request',
      op: 'getData',
      opCode: 4,
      xid: 5,
      request: { path: '/a', watch: true },
    })
    if (message.type === 'request' && message.op === 'getData') {
      expectTypeOf(message.request.path).toEqualTypeOf<string | null>()
    }
  })

  test('decodeClientFrame keeps an unknown opcode, and its body unchanged', () => {
    const hex = '00000005 000001f7 00000002 2f61 01'
    const message = decodeClientFrame(bytesOf(hex), false)
    expect(message).toStrictEqual({
      type: 'request',
      op: undefined,
      opCode: 503,
      xid: 5,
      request: undefined,
      rest: bytesOf('00000002 2f61 01'),
    })
    expect(encodeMessage(message)).toEqual(frameOf(hex))
  })

  test('decodeClientFrame keeps what stands behind a record (W09)', () => {
    const hex = '00000005 00000004 00000002 2f61 01 beef'
    const message = decodeClientFrame(bytesOf(hex), false)
    expect(message.rest).toEqual(bytesOf('beef'))
    expect(encodeMessage(message)).toEqual(frameOf(hex))
  })

  test('decodeClientFrame refuses a request that is cut short, and says where', () => {
    expectRefused(
      () => decodeClientFrame(bytesOf('00000005 000000'), false),
      '3 bytes are left for an int in RequestHeader.type at byte 4',
    )
    expectRefused(
      () => decodeClientFrame(bytesOf('00000005 00000004 00000002 2f'), false),
      '1 bytes are left for a string of 2 bytes in GetDataRequest.path at byte 12',
    )
  })
})

describe('decodeServerFrame', () => {
  const header = (xid: number, err = 0) => hexOf(encode(ReplyHeader, { xid, zxid: 9n, err }))

  test('decodeServerFrame reads the answer to the handshake first', () => {
    const hex = '00000000 00007530 0000000000000001 00000002 beef'
    for (const [byte, readOnly] of [
      ['', undefined],
      ['01', true],
    ] as const) {
      const message = decodeServerFrame(bytesOf(hex + byte), true, nothingAsked)
      expect(message).toMatchObject({ type: 'connected', response: { timeOut: 30_000, sessionId: 1n, readOnly } })
      expect(encodeMessage(message)).toEqual(frameOf(hex + byte))
    }
  })

  test('decodeServerFrame knows the bare header by which a read-only server refuses the handshake', () => {
    const hex = header(0, ErrorCode.NotReadOnly)
    const message = decodeServerFrame(bytesOf(hex), true, nothingAsked)
    expect(message).toMatchObject({ type: 'reply', op: undefined, xid: 0, err: ErrorCode.NotReadOnly })
    expect(encodeMessage(message)).toEqual(frameOf(hex))
  })

  test('decodeServerFrame reads a reply by the request that it answers', () => {
    const message = decodeServerFrame(bytesOf(`${header(5)} 00000001 00000001 61`), false, (xid) =>
      xid === 5 ? { opCode: OpCode.getChildren } : undefined,
    )
    expect(message).toStrictEqual({
      type: 'reply',
      op: 'getChildren',
      opCode: OpCode.getChildren,
      xid: 5,
      zxid: 9n,
      err: 0,
      response: { children: ['a'] },
    })
  })

  test('decodeServerFrame reads no body beside an error, but keeps what is there, and an unknown code', () => {
    const sasl = decodeServerFrame(bytesOf(`${header(5, ErrorCode.AuthFailed)} ffffffff`), false, () => operations.sasl)
    expect(sasl).toMatchObject({ op: 'sasl', err: -115, response: undefined, rest: bytesOf('ffffffff') })
    const unknown = decodeServerFrame(bytesOf(header(5, -1000)), false, () => operations.getData)
    expect(unknown).toMatchObject({ op: 'getData', err: -1000, response: undefined })
    expect(unknown).not.toHaveProperty('rest')
  })

  test('decodeServerFrame keeps the reply to an unknown opcode unchanged', () => {
    const hex = `${header(5)} 0102`
    const message = decodeServerFrame(bytesOf(hex), false, () => ({ opCode: 503 }))
    expect(message).toMatchObject({ op: undefined, opCode: 503, response: undefined, rest: bytesOf('0102') })
    expect(encodeMessage(message)).toEqual(frameOf(hex))
  })

  test.each([
    ['ping', Xid.ping],
    ['auth', Xid.auth],
  ])('decodeServerFrame knows a reply to %s by its xid', (op, xid) => {
    expect(decodeServerFrame(bytesOf(header(xid)), false, nothingAsked)).toMatchObject({ type: 'reply', op, xid })
  })

  test('decodeServerFrame looks up the request with xid -2 or -4 before it takes the reply for one to a ping or auth', () => {
    const hex = header(Xid.ping, ErrorCode.NoNode)
    const message = decodeServerFrame(bytesOf(hex), false, () => operations.getData)
    expect(message).toMatchObject({ op: 'getData', err: ErrorCode.NoNode })
  })

  test('decodeServerFrame reads an event, also one with an unknown type and state (W13)', () => {
    const hex = `${header(Xid.notification)} 00000063 00000062 00000001 2f`
    const message = decodeServerFrame(bytesOf(hex), false, nothingAsked)
    expect(message).toStrictEqual({ type: 'event', zxid: 9n, err: 0, event: { type: 99, state: 98, path: '/' } })
    expect(encodeMessage(message)).toEqual(frameOf(hex))
  })

  test('decodeServerFrame refuses an event of garbage (W13)', () => {
    expectRefused(
      () => decodeServerFrame(bytesOf(`${header(Xid.notification)} 00000001 00000003 99999999`), false, nothingAsked),
      'a string cannot have -1717986919 bytes in WatcherEvent.path at byte 24',
    )
  })

  test('decodeServerFrame refuses an unexpected reply', () => {
    expectRefused(
      () => decodeServerFrame(bytesOf(header(7)), false, nothingAsked),
      'a reply with xid 7, which is not the next due',
    )
  })

  test.each(['', '00000001', '00000001 0000000000000002 000000'])(
    'decodeServerFrame refuses a frame of %j (W05)',
    (hex) => {
      expect(() => decodeServerFrame(bytesOf(hex), false, nothingAsked)).toThrow(ProtocolError)
      expect(() => decodeServerFrame(bytesOf(hex), true, nothingAsked)).toThrow(ProtocolError)
    },
  )

  test('decodeServerFrame says where a reply is cut short, counted from the start of the frame', () => {
    expectRefused(
      () => decodeServerFrame(bytesOf(`${header(5)} 00000002 beef 00`), false, () => operations.getData),
      '1 bytes are left for a long in GetDataResponse.stat.czxid at byte 22',
    )
  })
})

describe('encodeMessage', () => {
  test('encodeMessage takes a message made by hand', () => {
    const reply: ServerMessage = {
      type: 'reply',
      op: 'exists',
      opCode: OpCode.exists,
      xid: 3,
      zxid: 9n,
      err: 0,
      response: { stat },
    }
    expect(decodeServerFrame(encodeMessage(reply).subarray(4), false, () => operations.exists)).toStrictEqual(reply)
  })

  const reply = { type: 'reply', op: 'exists', opCode: OpCode.exists, xid: 3, zxid: 9n, err: 0 }
  test.each<[what: string, message: unknown, error: RegExp]>([
    ['a request without its body', { type: 'request', op: 'getData', opCode: 4, xid: 1 }, /^GetDataRequest\.path: /],
    ['a reply without its body', reply, /^ExistsResponse\.stat: /],
    [
      'a request whose opCode is of another operation',
      { type: 'request', op: 'getData', opCode: 1, xid: 1, request: { path: '/', watch: false } },
      /^CreateRequest\.data: buffer must be a Uint8Array, not undefined$/,
    ],
    ['a message of unknown type', { type: 'oops' }, /^zxid: long must be a bigint of 64 bits, not undefined$/],
  ])('encodeMessage refuses %s', (_what, message, expected) => {
    const error = thrownBy(() => encodeMessage(message as ClientMessage))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(expected)
  })

  test('encodeMessage writes no body beside an error, unless there is one', () => {
    const failed = { ...reply, err: ErrorCode.NoNode, response: undefined } as ServerMessage
    expect(encodeMessage(failed)).toHaveLength(20)
    expect(encodeMessage({ ...failed, response: { stat } } as ServerMessage)).toHaveLength(88)
  })

  test('encodeMessage writes no frame around text', () => {
    expect(encodeMessage({ type: 'text', bytes: bytesOf('72756f6b') })).toEqual(bytesOf('72756f6b'))
  })

  test.each(asked)('encodeMessage and the decoders agree on every request and reply of %s', (op) => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), requestsOf(op), repliesOf(op), (xid, request, reply) => {
        const asking = { ...request, xid } as RequestMessage
        expect(decodeClientFrame(encodeMessage(asking).subarray(4), false)).toStrictEqual(asking)
        const answering = { ...reply, xid } as ServerMessage
        expect(decodeServerFrame(encodeMessage(answering).subarray(4), false, () => operations[op])).toStrictEqual(
          answering,
        )
      }),
      { numRuns: 20 },
    )
  })
})

function requestsOf(op: OperationName): fc.Arbitrary<ClientMessage> {
  const { opCode, request } = operations[op]
  return (request === undefined ? fc.constant(undefined) : valuesOf(request)).map(
    (request) => ({ type: 'request', op, opCode, request }) as ClientMessage,
  )
}

function repliesOf(op: OperationName): fc.Arbitrary<ServerMessage> {
  const { opCode, response } = operations[op]
  const succeeded = response === undefined ? fc.constant(undefined) : valuesOf(response)
  return fc.oneof(
    succeeded.map((response) => ({ type: 'reply', op, opCode, zxid: 9n, err: 0, response }) as ServerMessage),
    fc
      .integer({ min: -200, max: -1 })
      .map((err) => ({ type: 'reply', op, opCode, zxid: 9n, err, response: undefined }) as ServerMessage),
  )
}

function expectRefused(act: () => unknown, message: string): void {
  const error = thrownBy(act)
  expect(error).toBeInstanceOf(ProtocolError)
  expect(error).toHaveProperty('message', message)
}
