// Bytes behind what this version reads: every kind of message keeps them, says so, and writes them again.
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type ClientMessage,
  Conversation,
  decodeClientFrame,
  decodeServerFrame,
  encodeMessage,
  ErrorCode,
  operations,
  type OperationName,
  type ServerMessage,
  Xid,
} from '../src/index.ts'
import { asked, valuesOf } from './arbitraries.ts'
import { bytesOf, hexOf } from './bytes.ts'

const passwd = bytesOf('0102')
const path = '/a'

type Row = [what: string, first: boolean, message: ClientMessage | ServerMessage]

const ofClient: Row[] = [
  [
    'a ConnectRequest',
    true,
    {
      type: 'connect',
      request: { protocolVersion: 0, lastZxidSeen: 7n, timeOut: 1, sessionId: 2n, passwd, readOnly: true },
    },
  ],
  ...asked.map((op): Row => [`a request for ${op}`, false, requestOf(op)]),
  ['an unknown request', false, { type: 'request', op: undefined, opCode: 503, xid: 5, request: undefined }],
]

const ofServer: Row[] = [
  [
    'a ConnectResponse',
    true,
    { type: 'connected', response: { protocolVersion: 0, timeOut: 1, sessionId: 2n, passwd, readOnly: true } },
  ],
  ['an event', false, { type: 'event', zxid: 9n, err: 0, event: { type: 3, state: 3, path } }],
  ['an event without a path', false, { type: 'event', zxid: -1n, err: 0, event: { type: 3, state: 3, path: null } }],
  ...asked.flatMap((op): Row[] => [
    [`a reply to ${op}`, false, replyOf(op, 0)],
    [`the refusal of ${op}`, false, replyOf(op, ErrorCode.NoNode)],
  ]),
  ['a ping', false, { ...replyOf('ping', 0), xid: Xid.ping } as ServerMessage],
  ['the answer to credentials', false, { ...replyOf('auth', 0), xid: Xid.auth } as ServerMessage],
]

/** A value of each field, always the same. */
function valueOf(op: OperationName, body: 'request' | 'response'): unknown {
  const type = operations[op][body]
  return type === undefined ? undefined : fc.sample(valuesOf(type), { numRuns: 1, seed: 1 })[0]
}

function requestOf(op: OperationName): ClientMessage {
  const { opCode } = operations[op]
  return { type: 'request', op, opCode, xid: 5, request: valueOf(op, 'request') } as ClientMessage
}

function replyOf(op: OperationName, err: number): ServerMessage {
  const response = err === 0 ? valueOf(op, 'response') : undefined
  return { type: 'reply', op, opCode: operations[op].opCode, xid: 5, zxid: 9n, err, response } as ServerMessage
}

/** The same message, by the decoder of its direction. */
function decoded(frame: Uint8Array, first: boolean, message: ClientMessage | ServerMessage) {
  if (message.type === 'connect' || message.type === 'request') return decodeClientFrame(frame, first)
  const opCode = 'opCode' in message ? message.opCode : undefined
  return decodeServerFrame(frame, first, () => (opCode === undefined ? undefined : { opCode }))
}

const beyond = ['00', 'ff', 'beef', '00000000', '00000001 00000002 2f61 ffffffff']

test.each([...ofClient, ...ofServer])('Message.rest keeps what stands behind %s', (_, first, message) => {
  const plain = encodeMessage(message)
  expect(decoded(plain.subarray(4), first, message)).toStrictEqual(message)
  for (const hex of beyond) {
    const rest = bytesOf(hex)
    const bytes = encodeMessage({ ...message, rest } as typeof message)
    expect(bytes).toHaveLength(plain.byteLength + rest.byteLength)
    const again = decoded(bytes.subarray(4), first, message)
    expect(again).toStrictEqual({ ...message, rest })
    expect(hexOf(encodeMessage(again))).toBe(hexOf(bytes))
  }
})

test('Message.rest is a copy: it does not keep the chunk alive, nor changes with it', () => {
  for (const [, first, message] of [...ofClient, ...ofServer]) {
    const rest = bytesOf('beef')
    const bytes = encodeMessage({ ...message, rest } as typeof message)
    const again = decoded(bytes.subarray(4), first, message)
    bytes.fill(0)
    expect(again.rest).toEqual(rest)
    expect(again.rest?.buffer.byteLength).toBe(2)
  }
})

test('Conversation goes on behind messages with more bytes than it reads, in both directions', () => {
  const rest = bytesOf('beef')
  const more = <M extends object>(message: M) => ({ ...message, rest })
  const conversation = new Conversation()
  const { fromClient, fromServer } = conversation
  for (const [, , message] of ofClient) {
    const sent = more(message)
    fromClient.push(encodeMessage(sent))
    expect(fromClient.next()).toStrictEqual(sent)
  }
  expect(conversation.pending).toBe(ofClient.length - 2)
  const answers = ofClient.flatMap(([, , message]) => {
    if (message.type !== 'request' || message.op === undefined || message.op === 'ping') return []
    return [replyOf(message.op, ErrorCode.NoNode)]
  })
  for (const message of [ofServer[0]![2], ofServer[1]![2], ...answers, ofServer[1]![2]]) {
    const sent = more(message)
    fromServer.push(encodeMessage(sent))
    expect(fromServer.next()).toStrictEqual(sent)
  }
  expect(conversation.pending).toBe(1)
})
