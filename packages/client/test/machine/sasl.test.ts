import {
  decode,
  ErrorCode,
  FrameDecoder,
  GetSASLRequest,
  OpCode,
  Reader,
  readNamed,
  RequestHeader,
  SetSASLResponse,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { KeeperError } from '../../src/index.ts'
import type { SessionMachine } from '../../src/session/protocol/session-machine.ts'
import { authReply, namesIn } from '../support/machine-frames.ts'
import { adding, read, write } from '../support/made-requests.ts'
import { replyFrame } from '../support/frames.ts'
import {
  authenticating,
  broken,
  connect,
  lost,
  machineOf,
  nameOf,
  reconnect,
  rejectionOf,
  T,
  three,
  typesOf,
} from './machines.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const text = (token: Uint8Array | null | undefined) => (token ? new TextDecoder().decode(token) : token)

const answer = (xid: number, token: string | null, err = 0) =>
  replyFrame({ xid, err, zxid: 0n }, SetSASLResponse, { token: token === null ? null : bytes(token) })

/** The token that the machine sends, with the xid it goes under. */
function sent(machine: SessionMachine, now = 0): { xid: number; token: string | null | undefined } {
  const decoder = new FrameDecoder()
  decoder.push(machine.transmit(now)!)
  const frame = new Reader(decoder.next()!)
  const { xid, type } = readNamed(RequestHeader, frame)
  expect(type).toBe(OpCode.sasl)
  return { xid, token: text(decode(GetSASLRequest, frame.rest()).token) }
}

describe('SessionMachine with SASL', () => {
  test('SessionMachine begins SASL when the session stands, and says connected when it is through', () => {
    const machine = machineOf({ usesSasl: true })
    expect(connect(machine, 0)).toEqual([{ type: 'saslStart', server: 'zk1:2181' }])
    expect(machine.transmit(0)).toBeUndefined()
    expect(machine.prove(bytes(''), 1)).toEqual([])
    expect(sent(machine)).toEqual({ xid: 1, token: '' })
    expect(machine.received(answer(1, 'who?'), 2)).toEqual([{ type: 'saslChallenge', token: bytes('who?') }])
    machine.prove(bytes('me'), 3)
    expect(sent(machine)).toEqual({ xid: 2, token: 'me' })
    expect(machine.received(answer(2, null), 4)).toEqual([{ type: 'saslChallenge', token: undefined }])
    expect(machine.prove(undefined, 5)).toEqual([{ type: 'connected', server: 'zk1:2181', readOnly: false }])
    expect(machine.state).toMatchObject({ name: 'connected', since: 5 })
  })

  test('SessionMachine that proved itself to a read-only server looks for one that takes writes', () => {
    const machine = machineOf({ usesSasl: true, readOnly: true, servers: three })
    expect(typesOf(connect(machine, 0, { readOnly: true }))).toEqual(['saslStart'])
    expect(machine.prove(undefined, 5)).toMatchObject([{ type: 'connected', readOnly: true }])
    expect(typesOf(machine.elapse(machine.deadline()))).toEqual(['probe'])
  })

  test('SessionMachine holds everything else back until SASL is through: credentials, then watches, then requests', () => {
    const machine = authenticating()
    machine.submit(read('/a'))
    machine.submit(adding({ scheme: 'ip', auth: bytes('') }))
    machine.submit(write('/b'))
    expect(machine.transmit(1)).toBeUndefined()
    machine.received(answer(1, 'fine'), 2)
    expect(machine.transmit(2)).toBeUndefined()
    machine.prove(undefined, 3)
    expect(namesIn(machine.transmit(3))).toEqual(['auth', 'getData /a', 'setData /b'])
  })

  test('SessionMachine begins anew on the next connection, and repeats reads behind SASL', () => {
    const machine = authenticating()
    machine.received(answer(1, null), 0)
    machine.prove(undefined, 0)
    machine.submit(read('/a'))
    machine.transmit(0)
    lost(machine, 1)
    const at = machine.deadline()
    expect(typesOf(connect(machine, at))).toEqual(['saslStart'])
    machine.prove(bytes('again'), at)
    expect(sent(machine, at)).toEqual({ xid: 1, token: 'again' })
    machine.received(answer(1, null), at)
    machine.prove(undefined, at)
    expect(namesIn(machine.transmit(at))).toEqual(['getData /a'])
  })

  test.each(['AuthFailed', 'SessionClosedRequireSaslAuth'] as const)(
    'SessionMachine ends when SASL is refused with %s',
    (code) => {
      const machine = authenticating()
      const waiting = write('/a')
      machine.submit(waiting)
      const outputs = machine.received(answer(1, null, ErrorCode[code]), 1)
      expect(typesOf(outputs)).toEqual(['reject', 'hangUp', 'ended'])
      expect(rejectionOf(outputs, waiting)).toMatchObject({ code: 'AuthFailed', outcomeUnknown: false })
      expect(machine.phase).toEqual({ name: 'ended', reason: 'AuthFailed' })
    },
  )

  test('SessionMachine gives up the connection when the mechanism cannot go on, and the client when that says AuthFailed', () => {
    const one = authenticating()
    expect(typesOf(one.unproved(broken, 1))).toEqual(['hangUp', 'unreached'])
    expect(one.servers.attempts).toMatchObject([{ server: 'zk1:2181', error: broken }])
    const other = authenticating()
    expect(typesOf(other.unproved(new KeeperError('AuthFailed'), 1))).toEqual(['hangUp', 'ended'])
    expect(typesOf([...other.unproved(broken, 2), ...other.prove(bytes('x'), 2)])).toEqual([])
  })

  test.each([
    ['a reply with another xid', answer(7, 'x'), /xid 7, before SASL was complete/],
    ['a reply twice', Uint8Array.from([...answer(1, 'x'), ...answer(1, 'x')]), /xid 1, before SASL was complete/],
    ['another error', answer(1, null, ErrorCode.SystemError), /answered with code -1/],
    ['a reply without a token', replyFrame({ xid: 1 }), /SetSASLResponse/],
  ])('SessionMachine gives up a connection on which SASL meets %s', (_, frames, message) => {
    const machine = authenticating()
    expect(typesOf(machine.received(frames, 1))).toContain('hangUp')
    expect(machine.servers.attempts[0]!.error.message).toMatch(message)
  })

  test('SessionMachine takes a reply to a credential that it did not send as ever (W14)', () => {
    const machine = authenticating()
    expect(machine.received(authReply(), 1)).toEqual([])
    expect(typesOf(machine.received(authReply(ErrorCode.AuthFailed), 1))).toEqual(['hangUp', 'ended'])
  })

  test('SessionMachine goes on to the next server when SASL takes longer than the handshake may', () => {
    const machine = authenticating()
    expect(machine.deadline()).toBe(T / 3)
    expect(typesOf(machine.elapse(T / 3))).toContain('hangUp')
    expect(machine.servers.attempts[0]!.error.message).toBe('SASL was not complete in time')
  })

  test('SessionMachine gives up in time when no server is through with SASL, though each gives it a session', () => {
    const machine = authenticating({ connectBy: 500 })
    expect(machine.identity.id).not.toBe(0n)
    machine.elapse(500)
    expect(machine.phase).toEqual({ name: 'ended', reason: 'Unreachable' })
  })
})

test('SessionMachine that gives up tells the reason of a whole attempt, not that of one cut short', () => {
  const machine = authenticating({ connectBy: 500 })
  machine.unproved(new Error('no ticket'), 1)
  const at = machine.deadline()
  connect(machine, at)
  expect(at).toBeLessThan(500)
  machine.elapse(500)
  expect(machine.servers.attempts).toMatchObject([{ attempts: 2, error: { message: 'no ticket' } }])
})

describe('SessionMachine without SASL', () => {
  const refusal = ErrorCode.SessionClosedRequireSaslAuth

  test('SessionMachine rejects the request that a server answers by requiring SASL: it was not executed', () => {
    const machine = machineOf()
    connect(machine, 0)
    const asked = write('/a')
    machine.submit(asked)
    machine.transmit(0)
    const outputs = machine.received(replyFrame({ xid: 1, err: refusal }), 1)
    expect(rejectionOf(outputs, asked)).toMatchObject({ code: 'SessionClosedRequireSaslAuth', outcomeUnknown: false })
    expect(String(rejectionOf(outputs, asked))).toContain('give connect the option sasl')
  })

  test('SessionMachine ends when a server requires SASL in the reply to a request of its own', () => {
    const machine = machineOf()
    connect(machine, 0)
    machine.submit(write('/a'))
    machine.transmit(0)
    // It owes a sync now.
    expect(reconnect(machine, 1)).toEqual(['sync /'])
    machine.received(replyFrame({ xid: 2, err: refusal }), 2_000)
    expect(machine.phase).toEqual({ name: 'ended', reason: 'AuthFailed' })
  })

  test('SessionMachine ends when a server requires SASL in answer to a ping', () => {
    const machine = machineOf()
    connect(machine, 0)
    machine.elapse(T / 3)
    machine.transmit(T / 3)
    machine.received(replyFrame({ xid: -2, err: refusal }), T / 3)
    expect(machine.phase).toEqual({ name: 'ended', reason: 'AuthFailed' })
  })

  test('SessionMachine ends as closed when a server requires SASL in answer to the end of the session', () => {
    const machine = machineOf()
    connect(machine, 0)
    machine.close(0)
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1, err: refusal }), 0)
    expect(nameOf(machine)).toBe('ended')
    expect(machine.phase).toMatchObject({ reason: 'Closed' })
  })
})
