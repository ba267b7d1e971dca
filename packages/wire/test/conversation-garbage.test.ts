// A conversation in which any one frame is garbage, in either direction, at any stage: every other message is what it was, as far
// as a peer can know which request a reply answers.
import { expect, test } from 'vitest'
import {
  type ClientMessage,
  Conversation,
  encodeFrame,
  encodeMessage,
  type MessageDecoder,
  OpCode,
  ProtocolError,
  ReplyHeader,
  type ServerMessage,
  Xid,
} from '../src/index.ts'
import { stat } from './stat.ts'

const passwd = new Uint8Array(16)
const terms = { protocolVersion: 0, timeOut: 30_000, passwd, readOnly: false }
const path = '/a'

const asking: readonly ClientMessage[] = [
  { type: 'connect', request: { ...terms, lastZxidSeen: 0n, sessionId: 0n } },
  { type: 'request', op: 'getData', opCode: OpCode.getData, xid: 1, request: { path, watch: false } },
  {
    type: 'request',
    op: 'auth',
    opCode: OpCode.auth,
    xid: Xid.auth,
    request: { type: 0, scheme: 'digest', auth: passwd },
  },
  { type: 'request', op: 'exists', opCode: OpCode.exists, xid: 2, request: { path, watch: false } },
  { type: 'request', op: 'ping', opCode: OpCode.ping, xid: Xid.ping, request: undefined },
  { type: 'request', op: 'create', opCode: OpCode.create, xid: 3, request: { path, data: null, acl: null, flags: 0 } },
]

const about = { type: 'reply', zxid: 9n, err: 0 } as const
const answering: readonly ServerMessage[] = [
  { type: 'connected', response: { ...terms, sessionId: 1n } },
  { ...about, op: 'auth', opCode: OpCode.auth, xid: Xid.auth, response: undefined },
  { ...about, op: 'getData', opCode: OpCode.getData, xid: 1, response: { data: passwd, stat } },
  { type: 'event', zxid: -1n, err: 0, event: { type: 3, state: 3, path } },
  { ...about, op: 'exists', opCode: OpCode.exists, xid: 2, response: { stat } },
  { ...about, op: 'ping', opCode: OpCode.ping, xid: Xid.ping, response: undefined },
  { ...about, op: 'create', opCode: OpCode.create, xid: 3, response: { path } },
]

type Outcome = ClientMessage | ServerMessage | 'refused'

/** What comes of every frame. */
function outcomes<Message extends Outcome>(decoder: MessageDecoder<Message>, frames: readonly Uint8Array[]): Outcome[] {
  return frames.map((frame) => {
    decoder.push(frame)
    try {
      return decoder.next()!
    } catch (error) {
      expect(error).toBeInstanceOf(ProtocolError)
      return 'refused'
    }
  })
}

function play(asked: readonly Uint8Array[], answered: readonly Uint8Array[]) {
  const conversation = new Conversation()
  return { asked: outcomes(conversation.fromClient, asked), answered: outcomes(conversation.fromServer, answered) }
}

/** The frame, and how much of its body is left. */
function* cutsOf(frame: Uint8Array): Generator<{ cut: Uint8Array; left: number }> {
  for (let left = 0; left < frame.byteLength - 4; left++) {
    yield { cut: encodeFrame((writer) => writer.raw(frame.subarray(4, 4 + left))), left }
  }
}

const honest = { asked: asking.map(encodeMessage), answered: answering.map(encodeMessage) }
const HEADER_OF_REQUEST = 8

/** Those from this reply on that are to be in order. */
function orderedFrom(index: number): number[] {
  return [...answering.keys()].filter((each) => {
    const message = answering[each]!
    return each >= index && message.type === 'reply' && message.xid > 0
  })
}

test('Conversation reads what is not garbage as it was asked and answered', () => {
  expect(play(honest.asked, honest.answered)).toEqual({ asked: asking, answered: answering })
})

test.each(asking.map((message, index) => [index, message.type === 'request' ? message.op : message.type] as const))(
  'Conversation reads everything else where frame %i of a client, a %s, is cut off anywhere',
  (index) => {
    for (const { cut, left } of cutsOf(honest.asked[index]!)) {
      const { asked, answered } = play(honest.asked.with(index, cut), honest.answered)
      expect(asked.toSpliced(index, 1), `${left} bytes`).toEqual(asking.toSpliced(index, 1))
      const message = asking[index]!
      const isKnown = message.type !== 'request' || left >= HEADER_OF_REQUEST || message.xid < 0
      // Nobody has asked for it, as far as can be read.
      const unasked = isKnown ? undefined : answering.findIndex((each) => 'xid' in each && each.xid === message.xid)
      const expected = answering.map((each, at) => (at === unasked ? 'refused' : each))
      expect(answered, `${left} bytes`).toEqual(expected)
    }
  },
)

test.each(answering.map((message, index) => [index, message.type === 'reply' ? message.op : message.type] as const))(
  'Conversation reads everything else where frame %i of a server, %s, is cut off anywhere',
  (index) => {
    for (const { cut, left } of cutsOf(honest.answered[index]!)) {
      const { asked, answered } = play(honest.asked, honest.answered.with(index, cut))
      expect(asked).toEqual(asking)
      // Which request it answers cannot be read: that waits on, and what is answered behind it is not due.
      const isLost = orderedFrom(0).includes(index) && left < ReplyHeader.minSize
      const undue = isLost ? orderedFrom(index) : []
      const expected = answering.map((each, at) => (undue.includes(at) ? 'refused' : each))
      expect(answered.toSpliced(index, 1), `${left} bytes`).toEqual(expected.toSpliced(index, 1))
    }
  },
)
