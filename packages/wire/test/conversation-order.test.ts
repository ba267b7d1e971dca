// Which replies are due: every order of a few requests, and every order in which they may be answered, against a list.
import { expect, test } from 'vitest'
import {
  Conversation,
  encodeFrame,
  encodeMessage,
  ErrorCode,
  OpCode,
  ReplyHeader,
  RequestHeader,
} from '../src/index.ts'

const asks = ['ordinary', 'auth', 'sasl'] as const
type Ask = (typeof asks)[number]

const opCodes: Record<Ask, number> = { ordinary: OpCode.closeSession, auth: OpCode.auth, sasl: OpCode.sasl }

const CONNECT = encodeMessage({
  type: 'connect',
  request: { protocolVersion: 0, lastZxidSeen: 0n, timeOut: 1, sessionId: 0n, passwd: null },
} as Parameters<typeof encodeMessage>[0])
const CONNECTED = encodeMessage({
  type: 'connected',
  response: { protocolVersion: 0, timeOut: 1, sessionId: 1n, passwd: null },
} as Parameters<typeof encodeMessage>[0])

/** A request as it waits, by the rules: auth and sasl are answered at any time, all others in their order. */
interface Waiting {
  readonly xid: number
  readonly isApart: boolean
}

function connected(): Conversation {
  const conversation = new Conversation()
  for (const [decoder, bytes] of [
    [conversation.fromClient, CONNECT],
    [conversation.fromServer, CONNECTED],
  ] as const) {
    decoder.push(bytes)
    decoder.next()
  }
  return conversation
}

function ask({ fromClient }: Conversation, each: Ask, xid: number): void {
  const frame = encodeFrame((writer) => {
    RequestHeader.write(writer, { xid, type: opCodes[each] })
    if (each === 'auth') writer.int(0)
    if (each === 'auth') writer.ustring('digest')
    if (each !== 'ordinary') writer.buffer(null)
  })
  fromClient.push(frame)
  expect(fromClient.next()).toMatchObject({ type: 'request', xid, opCode: opCodes[each] })
}

/** The opCode that the reply was read by, or that it was refused. */
function answer({ fromServer }: Conversation, xid: number): number | 'refused' | undefined {
  fromServer.push(encodeFrame((writer) => ReplyHeader.write(writer, { xid, zxid: 9n, err: ErrorCode.NoNode })))
  try {
    const message = fromServer.next()
    return message?.type === 'reply' ? message.opCode : undefined
  } catch (error) {
    expect(error).toHaveProperty('message', `a reply with xid ${xid}, which is not the next due`)
    return 'refused'
  }
}

/** What must become of the reply. Its request waits no longer in either case. */
function due(waiting: Waiting[], asked: readonly Ask[], xid: number): number | 'refused' {
  const index = waiting.findIndex((each) => each.xid === xid)
  if (index === -1) return 'refused'
  const isDue = waiting[index]!.isApart || waiting.slice(0, index).every(({ isApart }) => isApart)
  waiting.splice(index, 1)
  return isDue ? opCodes[asked[xid - 1]!] : 'refused'
}

function* listsOf<T>(items: readonly T[], length: number): Generator<T[]> {
  if (length === 0) return yield []
  for (const list of listsOf(items, length - 1)) for (const item of items) yield [...list, item]
}

function* ordersOf<T>(items: readonly T[]): Generator<T[]> {
  if (items.length === 0) return yield []
  for (const [index, item] of items.entries()) {
    for (const order of ordersOf(items.filter((_, at) => at !== index))) yield [item, ...order]
  }
}

test.each([1, 2, 3, 4])(
  'Conversation takes of %i requests exactly the replies that are due, in whatever order they come',
  (count) => {
    for (const asked of listsOf(asks, count)) {
      for (const order of ordersOf(asked.map((_, index) => index + 1))) {
        const conversation = connected()
        const waiting = asked.map((each, index) => ({ xid: index + 1, isApart: each !== 'ordinary' }))
        for (const [index, each] of asked.entries()) ask(conversation, each, index + 1)
        // Each comes twice: the second time nothing is due.
        for (const xid of order.flatMap((xid) => [xid, xid])) {
          const expected = due(waiting, asked, xid)
          expect([asked, order, xid, answer(conversation, xid)]).toEqual([asked, order, xid, expected])
          expect(conversation.pending).toBe(waiting.length)
        }
      }
    }
  },
)

test('Conversation takes of requests that come between replies exactly those that are due', () => {
  for (const asked of listsOf(asks, 4)) {
    for (const order of ordersOf([1, 2, 3, 4])) {
      for (const first of [1, 2, 3]) {
        const conversation = connected()
        const waiting: Waiting[] = []
        for (const [index, each] of asked.entries()) {
          // One is answered before the rest is asked; where it was not asked itself, nothing is due.
          if (index === first) expectAnswer(conversation, waiting, asked, order[0]!)
          ask(conversation, each, index + 1)
          waiting.push({ xid: index + 1, isApart: each !== 'ordinary' })
        }
        for (const xid of order) expectAnswer(conversation, waiting, asked, xid)
        expect(conversation.pending).toBe(0)
      }
    }
  }
})

function expectAnswer(conversation: Conversation, waiting: Waiting[], asked: readonly Ask[], xid: number): void {
  const expected = due(waiting, asked, xid)
  expect([asked, xid, answer(conversation, xid)]).toEqual([asked, xid, expected])
}
