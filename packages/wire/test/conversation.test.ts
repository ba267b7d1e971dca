import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  Conversation,
  type ConversationOptions,
  encodeFrame,
  encodeMessage,
  ErrorCode,
  type MessageDecoder,
  OpCode,
  type OperationName,
  operations,
  ProtocolError,
  ReplyHeader,
  RequestHeader,
  type Type,
  Xid,
} from '../src/index.ts'
import { asked, valuesOf } from './arbitraries.ts'
import { bytesOf, hexOf, joined } from './bytes.ts'
import { byteByByte } from './feeding.ts'
import { stat } from './stat.ts'
import { thrownBy } from './thrown.ts'

const CONNECT = encodeMessage({
  type: 'connect',
  request: {
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: 30_000,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  },
})
const CONNECTED = encodeMessage({
  type: 'connected',
  response: { protocolVersion: 0, timeOut: 30_000, sessionId: 1n, passwd: new Uint8Array(16), readOnly: false },
})

describe('Conversation pairs replies with requests', () => {
  test('Conversation reads each reply as the answer to its request (W01)', () => {
    for (const cut of [(bytes: Uint8Array) => [bytes], byteByByte]) {
      const conversation = new Conversation()
      const asking = joined(CONNECT, request('create', 1), request('getData', 2), request('delete', 3))
      const data = bytesOf('beef')
      const answers = joined(CONNECTED, reply('create', 1, { path: '/a' }), reply('getData', 2, { data, stat }))
      expect(all(conversation.fromClient, ...cut(asking))).toMatchObject([
        { type: 'connect' },
        { type: 'request', op: 'create', xid: 1 },
        { type: 'request', op: 'getData', xid: 2 },
        { type: 'request', op: 'delete', xid: 3 },
      ])
      expect(conversation.pending).toBe(3)
      expect(all(conversation.fromServer, ...cut(answers))).toMatchObject([
        { type: 'connected' },
        { type: 'reply', op: 'create', xid: 1, response: { path: '/a' } },
        { type: 'reply', op: 'getData', xid: 2, response: { data, stat } },
      ])
      expect(conversation.pending).toBe(1)
      expect(all(conversation.fromServer, reply('delete', 3, undefined))).toMatchObject([{ op: 'delete' }])
      expect(conversation.pending).toBe(0)
    }
  })

  test('Conversation pairs requests that share an xid in their order, as setWatches do', () => {
    const conversation = connected()
    all(conversation.fromClient, request('setWatches', Xid.setWatches), request('setWatches2', Xid.setWatches))
    const answers = [headerOf(Xid.setWatches), headerOf(Xid.setWatches)]
    expect(all(conversation.fromServer, ...answers)).toMatchObject([{ op: 'setWatches' }, { op: 'setWatches2' }])
  })

  test('Conversation takes pings and auth at any time, and waits for no ping', () => {
    const conversation = connected()
    const asking = [
      request('ping', Xid.ping),
      request('getData', 1),
      request('auth', Xid.auth),
      request('ping', Xid.ping),
    ]
    expect(all(conversation.fromClient, ...asking)).toHaveLength(4)
    expect(conversation.pending).toBe(2)
    const answers = [headerOf(Xid.ping), headerOf(Xid.auth, ErrorCode.AuthFailed), headerOf(1, ErrorCode.NoNode)]
    expect(all(conversation.fromServer, ...answers)).toMatchObject([
      { op: 'ping', err: 0 },
      { op: 'auth', err: ErrorCode.AuthFailed },
      { op: 'getData', err: ErrorCode.NoNode, response: undefined },
    ])
    expect(conversation.pending).toBe(0)
  })

  // ZooKeeperServer.processPacket answers both before older requests; go-zookeeper asks for auth so.
  test.each(['auth', 'sasl'] as const)('Conversation takes the reply to %s under an ordinary xid at any time', (op) => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', 1), request(op, 2), request('getData', 3))
    const answer = op === 'sasl' ? reply(op, 2, { token: null }) : headerOf(2)
    const answers = [answer, headerOf(1, ErrorCode.NoNode), headerOf(3, ErrorCode.NoNode)]
    expect(all(conversation.fromServer, ...answers)).toMatchObject([{ op }, { op: 'getData', xid: 1 }, { xid: 3 }])
    expect(conversation.pending).toBe(0)
  })

  test('Conversation waits for no auth or sasl before the replies to what was asked behind it', () => {
    const conversation = connected()
    all(conversation.fromClient, request('auth', 1), request('sasl', 2), request('getData', 3))
    const answers = [headerOf(3, ErrorCode.NoNode), reply('sasl', 2, { token: null }), headerOf(1)]
    expect(all(conversation.fromServer, ...answers)).toMatchObject([{ op: 'getData' }, { op: 'sasl' }, { op: 'auth' }])
  })

  test('Conversation takes as many auths under -4 as are asked for, and one more', () => {
    const conversation = connected()
    all(conversation.fromClient, request('auth', Xid.auth), request('auth', Xid.auth), request('getData', 1))
    const answers = [headerOf(1, ErrorCode.NoNode), headerOf(Xid.auth), headerOf(Xid.auth), headerOf(Xid.auth)]
    expect(all(conversation.fromServer, ...answers).map((message) => 'op' in message && message.op)).toEqual([
      'getData',
      'auth',
      'auth',
      'auth',
    ])
    expect(conversation.pending).toBe(0)
  })

  test('Conversation takes a ping for answered under -2, whatever xid it was sent with', () => {
    const conversation = connected()
    all(conversation.fromClient, request('ping', 5), request('getData', 6))
    expect(conversation.pending).toBe(1)
    expect(all(conversation.fromServer, headerOf(Xid.ping), headerOf(6, ErrorCode.NoNode))).toMatchObject([
      { op: 'ping' },
      { op: 'getData' },
    ])
  })

  test.each([Xid.ping, Xid.auth])('Conversation pairs a request with xid %i by what it asks for', (xid) => {
    const conversation = connected()
    all(conversation.fromClient, request('exists', xid), request('getData', 1))
    expect(all(conversation.fromServer, reply('exists', xid, { stat }), headerOf(1, ErrorCode.NoNode))).toMatchObject([
      { op: 'exists', response: { stat } },
      { op: 'getData' },
    ])
  })

  test('Conversation reads the reply to a request with xid -1 as an event, and goes on behind it', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', Xid.notification), request('getData', 1))
    expect(() => all(conversation.fromServer, headerOf(Xid.notification, ErrorCode.NoNode))).toThrow('in WatcherEvent')
    expect(all(conversation.fromServer, headerOf(1, ErrorCode.NoNode))).toMatchObject([{ op: 'getData' }])
  })

  test('Conversation gives events between replies', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', 1))
    const event = encodeMessage({ type: 'event', zxid: -1n, err: 0, event: { type: 3, state: 3, path: '/a' } })
    const messages = all(conversation.fromServer, event, headerOf(1, ErrorCode.NoNode))
    expect(messages.map(({ type }) => type)).toEqual(['event', 'reply'])
  })

  test('Conversation reads the tokens of SASL', () => {
    const conversation = connected()
    const token = bytesOf('beef')
    all(conversation.fromClient, request('sasl', 1, { token }))
    expect(all(conversation.fromServer, reply('sasl', 1, { token }))).toMatchObject([
      { op: 'sasl', response: { token } },
    ])
  })

  test('Conversation keeps the reply to an unknown opcode', () => {
    const conversation = connected()
    const body = bytesOf('00000001 02')
    all(
      conversation.fromClient,
      encodeMessage({ type: 'request', op: undefined, opCode: 503, xid: 1, request: undefined }),
    )
    const answer = joined(bytesOf('00000000'), headerOf(1).subarray(4), body)
    answer[3] = answer.byteLength - 4
    expect(all(conversation.fromServer, answer)).toMatchObject([{ op: undefined, opCode: 503, rest: body }])
  })
})

describe('Conversation refuses what cannot be an answer', () => {
  test('Conversation refuses a reply when nothing was asked (W11)', () => {
    expectRefused(connected(), [headerOf(7)], 'a reply with xid 7, which is not the next due')
  })

  test('Conversation refuses a reply that comes twice (W12)', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', 1))
    all(conversation.fromServer, headerOf(1, ErrorCode.NoNode))
    expectRefused(conversation, [headerOf(1)], 'a reply with xid 1, which is not the next due')
  })

  test('Conversation refuses replies in the wrong order, and goes on with the right one (W10)', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', 1), request('exists', 2), request('exists', 3))
    expectRefused(conversation, [reply('exists', 2, { stat })], 'a reply with xid 2, which is not the next due')
    expect(conversation.pending).toBe(2)
    expect(all(conversation.fromServer, headerOf(1, ErrorCode.NoNode))).toMatchObject([{ op: 'getData' }])
    expect(all(conversation.fromServer, reply('exists', 3, { stat }))).toMatchObject([{ op: 'exists' }])
  })

  // As ReadOnlyRequestProcessor answers a write, before the reads that are still on their way through the server.
  test('Conversation waits no longer for a request whose reply has overtaken others (W10)', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getData', 1), request('sync', 2), request('getData', 3))
    expectRefused(conversation, [headerOf(2, -119)], 'a reply with xid 2, which is not the next due')
    const answers = [headerOf(1, ErrorCode.NoNode), headerOf(3, ErrorCode.NoNode)]
    expect(all(conversation.fromServer, ...answers)).toMatchObject([{ xid: 1 }, { xid: 3 }])
    expectRefused(conversation, [headerOf(2, -119)], 'a reply with xid 2, which is not the next due')
  })

  test('Conversation goes on behind a reply that is cut short (W06)', () => {
    const conversation = connected()
    all(conversation.fromClient, request('getChildren', 1), request('getData', 2))
    const cut = encodeFrame((writer) => {
      ReplyHeader.write(writer, { xid: 1, zxid: 9n, err: 0 })
      writer.int(1)
    })
    expectRefused(
      conversation,
      [cut],
      '0 bytes are left for a vector of 1 items in GetChildrenResponse.children at byte 16',
    )
    expect(all(conversation.fromServer, headerOf(2, ErrorCode.NoNode))).toMatchObject([{ op: 'getData' }])
  })

  test.each(['multi', 'multiRead'] as const)(
    'Conversation refuses more or fewer results than a %s has operations (W29)',
    (op) => {
      const check = { type: OpCode.check, request: { path: '/a', version: 1 } } as const
      const result = { type: OpCode.check, response: {} } as const
      for (const [results, count] of [
        [[], 0],
        [[result], 1],
        [[result, result, result], 3],
      ] as const) {
        const conversation = connected()
        all(conversation.fromClient, request(op, 1, [check, check]))
        expectRefused(conversation, [reply(op, 1, results)], `${count} results for a multi of 2 operations`)
      }
      const conversation = connected()
      all(conversation.fromClient, request(op, 1, [check, check]))
      expect(all(conversation.fromServer, reply(op, 1, [result, result]))).toMatchObject([
        { response: [result, result] },
      ])
    },
  )

  test('Conversation refuses a multi reply with a result of unknown type, and one that does not end (W29)', () => {
    for (const body of ['00000063 00 00000000 ffffffff 01 ffffffff', '0000000d 00 00000000']) {
      const conversation = connected()
      all(conversation.fromClient, request('multi', 1, []))
      const bad = encodeFrame((writer) => {
        ReplyHeader.write(writer, { xid: 1, zxid: 9n, err: 0 })
        writer.raw(bytesOf(body))
      })
      expect(thrownBy(() => all(conversation.fromServer, bad))).toBeInstanceOf(ProtocolError)
    }
  })

  test('Conversation remembers no more requests than its limit', () => {
    const conversation = connected({ pendingLimit: 2 })
    all(conversation.fromClient, request('getData', 1), request('getData', 2))
    const more = thrownBy(() => all(conversation.fromClient, request('getData', 3)))
    expect(more).toBeInstanceOf(ProtocolError)
    expect(more).toHaveProperty('message', 'more than 2 requests wait for replies')
    expect(conversation.pending).toBe(2)
    all(conversation.fromServer, headerOf(1, ErrorCode.NoNode))
    expect(all(conversation.fromClient, request('getData', 3))).toHaveLength(1)
  })

  test('Conversation pairs as many as 65,536 requests that wait, and no more, unless another limit is given', () => {
    const conversation = connected()
    const asking = request('delete', 5)
    const header = headerOf(5)
    for (let count = 0; count < 65_536; count++) all(conversation.fromClient, asking)
    expect(() => all(conversation.fromClient, asking)).toThrow('more than 65536 requests wait for replies')
    for (let count = 0; count < 65_536; count++) all(conversation.fromServer, header)
    expect(conversation.pending).toBe(0)
  })

  test('Conversation accepts no longer frame than its limit, in both directions (W04)', () => {
    const conversation = new Conversation({ limit: 44 })
    expect(() => all(conversation.fromClient, CONNECT)).toThrow('a frame of 45 bytes is over the limit of 44')
    expect(all(conversation.fromServer, CONNECTED)).toHaveLength(1)
    expect(() => all(new Conversation({ limit: 36 }).fromServer, CONNECTED)).toThrow(ProtocolError)
  })
})

describe('Conversation goes on behind what it refuses', () => {
  const event = encodeMessage({ type: 'event', zxid: -1n, err: 0, event: { type: 3, state: 3, path: '/a' } })

  test('a loop that goes on behind errors misses no message of a chunk (W05)', () => {
    const { fromServer } = connected()
    fromServer.push(joined(event, headerOf(7), bytesOf('00000000'), event))
    expect(outcomes(fromServer)).toEqual(['event', 'ProtocolError', 'ProtocolError', 'event'])
  })

  test('a loop that goes on behind errors ends at a length that cannot be (W03)', () => {
    const { fromServer } = connected()
    fromServer.push(joined(event, bytesOf('ffffffff'), event))
    expect(outcomes(fromServer)).toEqual(['event', 'ProtocolError'])
    fromServer.push(event)
    expect(outcomes(fromServer)).toEqual([])
  })

  /** As the proxy of README. */
  function outcomes(decoder: MessageDecoder<{ readonly type: string }>): string[] {
    const seen: string[] = []
    for (;;) {
      try {
        const message = decoder.next()
        if (message === undefined) return seen
        seen.push(message.type)
      } catch (error) {
        seen.push((error as Error).name)
      }
    }
  }
})

describe('Conversation knows text in place of a frame', () => {
  test.each(['ruok', 'srvr', 'mntr'])('Conversation gives %s and its answer as text, as they come', (word) => {
    const conversation = new Conversation()
    expect(texts(conversation.fromClient, ...byteByByte(Buffer.from(word)))).toEqual([word])
    expect(texts(conversation.fromClient, Buffer.from('\r\n'))).toEqual(['\r\n'])
    expect(texts(conversation.fromServer, Buffer.from('imok'))).toEqual(['imok'])
    expect(texts(conversation.fromServer, Buffer.from([0xff, 0x00]), Buffer.from('a'))).toEqual(['\xff\0', 'a'])
  })

  test.each([
    ['isro', 'rw'],
    ['gtmk', '306'],
    ['wchp', '/a\n\t0x1\n'],
    ['wchp', '/\xc3\xa9\n\t0x1\n'],
    ['dump', '\0\0\0\0'],
  ])('Conversation gives what answers %s as text, be it %j', (word, answer) => {
    for (const cut of [(bytes: Uint8Array) => [bytes], byteByByte]) {
      const conversation = new Conversation()
      expect(texts(conversation.fromServer)).toEqual([])
      expect(texts(conversation.fromClient, Buffer.from(word))).toEqual([word])
      expect(texts(conversation.fromServer, ...cut(Buffer.from(answer, 'latin1'))).join('')).toBe(answer)
    }
  })

  test('Conversation gives the words of a server that is not serving', () => {
    const text = 'This ZooKeeper instance is not currently serving requests\n'
    expect(texts(new Conversation().fromServer, Buffer.from(text))).toEqual([text])
  })

  test('Conversation refuses text behind the first frame (W32)', () => {
    expect(() => all(connected().fromServer, Buffer.from('This ZooKeeper'))).toThrow(
      'text in place of a frame: "This ZooKeeper"',
    )
  })

  test('Conversation refuses what telnet says when it leaves, which is no text', () => {
    expect(() => all(new Conversation().fromClient, bytesOf('fff4fffd06'))).toThrow('a frame cannot have -720899 bytes')
  })
})

describe('Conversation gives the same messages however a connection is cut', () => {
  const op = fc.constantFrom(...asked.filter((name) => name !== 'multi' && name !== 'multiRead'))
  const exchange = op.chain((op) =>
    fc.record({ op: fc.constant(op), asking: bodyOf(operations[op].request), answer: bodyOf(operations[op].response) }),
  )

  test('Conversation decodes what encodeMessage wrote, and encodeMessage writes it again (W01)', () => {
    fc.assert(
      fc.property(fc.array(exchange, { maxLength: 8 }), fc.array(fc.nat(2_000)), (exchanges, cuts) => {
        const xidOf = (op: OperationName, index: number) => (op === 'ping' ? Xid.ping : index + 1)
        const asking = exchanges.map(({ op, asking }, index) => request(op, xidOf(op, index), asking))
        const answers = exchanges.map(({ op, answer }, index) => reply(op, xidOf(op, index), answer))
        const conversation = new Conversation()
        for (const [decoder, frames] of [
          [conversation.fromClient, [CONNECT, ...asking]],
          [conversation.fromServer, [CONNECTED, ...answers]],
        ] as const) {
          const stream = joined(...frames)
          const messages = all<Parameters<typeof encodeMessage>[0]>(decoder, ...cutAt(stream, cuts))
          expect(messages).toHaveLength(frames.length)
          expect(hexOf(joined(...messages.map(encodeMessage)))).toBe(hexOf(stream))
        }
      }),
      { numRuns: 200 },
    )
  })
})

function connected(options?: ConversationOptions): Conversation {
  const conversation = new Conversation(options)
  all(conversation.fromClient, CONNECT)
  all(conversation.fromServer, CONNECTED)
  return conversation
}

function all<Message>(decoder: MessageDecoder<Message>, ...chunks: readonly Uint8Array[]): Message[] {
  const messages: Message[] = []
  for (const chunk of chunks) {
    decoder.push(chunk)
    for (let message = decoder.next(); message !== undefined; message = decoder.next())
      messages.push(message as Message)
  }
  return messages
}

function texts(decoder: MessageDecoder<unknown>, ...chunks: readonly Uint8Array[]): string[] {
  return all(decoder, ...chunks).map((message) =>
    Buffer.from((message as { bytes: Uint8Array }).bytes).toString('latin1'),
  )
}

/** The frame of a request; with a body of nulls where none is given. */
function request(op: OperationName, xid: number, value?: unknown): Uint8Array {
  const { opCode, request } = operations[op]
  return encodeFrame((writer) => {
    RequestHeader.write(writer, { xid, type: opCode })
    const type: Type<unknown> | undefined = request
    type?.write(writer, value ?? nulls(type))
  })
}

function reply(op: OperationName, xid: number, value: unknown): Uint8Array {
  const type: Type<unknown> | undefined = operations[op].response
  return encodeFrame((writer) => {
    ReplyHeader.write(writer, { xid, zxid: 9n, err: 0 })
    type?.write(writer, value)
  })
}

function headerOf(xid: number, err = 0): Uint8Array {
  return encodeFrame((writer) => ReplyHeader.write(writer, { xid, zxid: 9n, err }))
}

function nulls(type: Type<unknown>): unknown {
  const none: Readonly<Record<string, unknown>> = { int: 0, long: 0n, boolean: false }
  const { fields } = type as unknown as { readonly fields: Readonly<Record<string, Type<unknown>>> }
  return Object.fromEntries(Object.entries(fields).map(([name, { name: of }]) => [name, none[of] ?? null]))
}

function bodyOf(type: Type<unknown> | undefined): fc.Arbitrary<unknown> {
  return type === undefined ? fc.constant(undefined) : valuesOf(type)
}

function cutAt(stream: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = [...cuts.filter((cut) => cut < stream.byteLength), stream.byteLength].sort((a, b) => a - b)
  return places.map((place, index) => stream.subarray(places[index - 1] ?? 0, place))
}

function expectRefused(conversation: Conversation, chunks: readonly Uint8Array[], message: string): void {
  const error = thrownBy(() => all(conversation.fromServer, ...chunks))
  expect(error).toBeInstanceOf(ProtocolError)
  expect(error).toHaveProperty('message', message)
}
