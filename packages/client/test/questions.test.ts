import { expect, test } from 'vitest'
import { serves, takesWrites } from '../src/session/servers/questions.ts'
import { handshakeFrame, replyFrame } from './support/frames.ts'

const expired = { timeOut: 0, sessionId: 0n, passwd: new Uint8Array(16), readOnly: false }

test('serves accepts a server that does not know the session, in pieces of any size', () => {
  const answer = handshakeFrame(expired)
  const { received } = serves(new Uint8Array(0))
  for (const byte of answer.subarray(0, -1)) expect(received(Uint8Array.of(byte))).toBeUndefined()
  expect(received(answer.subarray(-1))).toEqual({ failure: undefined })
})

test('serves closes the session that a server gives in place of an unknown one', () => {
  const { received } = serves(new Uint8Array(0))
  const verdict = received(handshakeFrame({ ...expired, timeOut: 4_000, sessionId: 7n }))
  // A frame of 8 bytes: xid 1, type -11.
  expect(verdict).toEqual({ failure: undefined, last: Uint8Array.of(0, 0, 0, 8, 0, 0, 0, 1, 255, 255, 255, 245) })
})

test.each([
  ['a read-only server', handshakeFrame({ ...expired, timeOut: 4_000, sessionId: 7n, readOnly: true }), 'read-only'],
  ['a refusal', replyFrame({ xid: 0, err: -119 }), 'refused with code -119'],
  ['text', new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n\r\n'), 'text in place of a frame'],
])('serves refuses %s', (_, answer, message) => {
  expect(serves(new Uint8Array(0)).received(answer)?.failure?.message).toContain(message)
})

test('takesWrites accepts rw alone, in one piece or in two', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  expect(takesWrites().received(bytes('rw'))).toEqual({ failure: undefined })
  for (const answer of ['ro', 'null', 'This ZooKeeper']) {
    expect(takesWrites().received(bytes(answer))?.failure?.message).toContain('takes no writes')
  }
  const question = takesWrites()
  expect(question.received(bytes('r'))).toBeUndefined()
  expect(question.received(bytes('w'))).toEqual({ failure: undefined })
})
