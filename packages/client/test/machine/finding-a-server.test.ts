import { encodeFrame, ReplyHeader } from '@zk/wire'
import { expect, test } from 'vitest'
import type { SessionMachine } from '../../src/session/protocol/session-machine.ts'
import { closeOtherSession } from '../../src/session/requests/internal-requests.ts'
import { connectReply, namesIn, SESSION_ID } from '../support/machine-frames.ts'
import { read } from '../support/made-requests.ts'
import {
  broken,
  connect,
  connected,
  connectRequest,
  dialing,
  handshaking,
  lost,
  machineOf,
  nameOf,
  rejectionOf,
  T,
  three,
  typesOf,
} from './machines.ts'

test('SessionMachine waits until its start, then dials; T / number of servers is left for connect and handshake', () => {
  const machine = machineOf({ servers: three, startAt: 500 })
  expect(machine.state).toEqual({ name: 'waiting', until: 500 })
  expect(machine.deadline()).toBe(500)
  expect(machine.elapse(499)).toEqual([])
  const [output] = machine.elapse(500)
  expect(output).toMatchObject({ type: 'dial', target: { port: 2181 } })
  expect(machine.state).toMatchObject({ name: 'dialing', by: 10_500 })
  machine.opened()
  expect(machine.deadline()).toBe(10_500)
})

test('SessionMachine sends the ConnectRequest once TCP stands, and nothing else before its answer', () => {
  const machine = machineOf()
  machine.submit(read('/a'))
  machine.elapse(0)
  expect(machine.transmit(0)).toBeUndefined()
  expect(machine.opened()).toEqual([])
  expect(connectRequest(machine, 0)).toEqual({
    protocolVersion: 0,
    lastZxidSeen: 0n,
    timeOut: T,
    sessionId: 0n,
    passwd: new Uint8Array(16),
    readOnly: false,
  })
  expect(machine.transmit(0)).toBeUndefined()
  machine.received(connectReply(), 0)
  expect(namesIn(machine.transmit(0))).toEqual(['getData /a'])
})

test('SessionMachine takes id and T from the answer, in however many pieces it comes', () => {
  const machine = machineOf()
  machine.elapse(0)
  machine.opened()
  machine.transmit(0)
  const answer = connectReply({ timeOut: 6_000 })
  for (const byte of answer.subarray(0, -1)) expect(machine.received(Uint8Array.of(byte), 1)).toEqual([])
  expect(machine.received(answer.subarray(-1), 2)).toEqual([{ type: 'connected', server: 'zk1:2181', readOnly: false }])
  expect([machine.identity.id, machine.identity.timeout, nameOf(machine)]).toEqual([SESSION_ID, 6_000, 'connected'])
  // From the ConnectRequest on: it is what touched the session.
  expect(machine.deadline()).toBe(2_000)
})

test('SessionMachine tries the next server at once when one fails, and pauses after the round', () => {
  const machine = machineOf({ servers: three })
  const dialed: string[] = []
  for (let attempt = 0; attempt < 3; attempt++) {
    const [output] = machine.elapse(attempt)
    if (output?.type === 'dial') dialed.push(output.target.host)
    machine.lost(new Error(`refused ${attempt}`), attempt)
  }
  expect([...dialed].sort()).toEqual(['zk1', 'zk2', 'zk3'])
  expect(machine.deadline()).toBeGreaterThan(2)
  expect(machine.deadline()).toBeLessThan(2 + 100)
  expect(machine.servers.attempts.map(({ server, attempts, error }) => [server, attempts, error.message])).toEqual(
    dialed.map((host, index) => [`${host}:2181`, 1, `refused ${index}`]),
  )
})

test.each([
  ['dialing', 'no TCP connection in time', () => {}],
  ['handshaking', 'no answer to the handshake in time', (machine: SessionMachine) => machine.opened()],
] as const)('SessionMachine hangs up on a server that leaves it %s, and says so', (name, message, then) => {
  const machine = machineOf({ servers: three })
  machine.elapse(0)
  then(machine)
  expect(nameOf(machine)).toBe(name)
  expect(machine.elapse(9_999)).toEqual([])
  expect(typesOf(machine.elapse(10_000))).toEqual(['hangUp', 'unreached'])
  expect(machine.state).toEqual({ name: 'waiting', until: 10_000 })
  expect(machine.servers.attempts).toMatchObject([{ error: { message } }])
})

test('SessionMachine says where the name was not resolved in time, and where its address did not answer', () => {
  const errors = () => machine.servers.attempts.map(({ error }) => error.message)
  const machine = machineOf({ looksUpNames: true })
  machine.elapse(0)
  machine.elapse(machine.deadline())
  expect(errors()).toEqual(['the name was not resolved in time'])
  machine.elapse(machine.deadline())
  machine.resolved('zk1', ['10.0.0.1'], 1_500)
  machine.elapse(machine.deadline())
  expect(errors()).toEqual(['no TCP connection in time'])
})

test('SessionMachine gives up at connectBy; the attempt under way is among those it lists', () => {
  const machine = machineOf({ connectBy: 200 })
  const request = read('/a')
  machine.submit(request)
  machine.elapse(0)
  expect(machine.deadline()).toBe(200)
  const outputs = machine.elapse(200)
  expect(typesOf(outputs)).toEqual(['hangUp', 'unreached', 'reject', 'ended'])
  expect(rejectionOf(outputs, request)).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: false })
  expect(outputs.at(-1)).toMatchObject({ type: 'ended', reason: 'Unreachable', byServer: false })
  expect(machine.servers.attempts).toMatchObject([
    { server: 'zk1:2181', error: { message: 'no TCP connection in time' } },
  ])
})

test.each([
  ['waiting', machineOf({ startAt: 10, connectBy: 5 }), [], undefined],
  ['handshaking', handshaking({ connectBy: 5 }), ['hangUp', 'unreached'], 'no answer to the handshake in time'],
] as const)('SessionMachine gives up at connectBy also while it is %s', (name, machine, first, message) => {
  expect(nameOf(machine)).toBe(name)
  expect(typesOf(machine.elapse(5))).toEqual([...first, 'ended'])
  expect(machine.servers.attempts.map(({ error }) => error.message)).toEqual(message === undefined ? [] : [message])
})

test('SessionMachine has no connectBy once there is a session', () => {
  const machine = connected({ connectBy: 5_000 })
  lost(machine, 1_000)
  expect(machine.elapse(5_000)).toMatchObject([{ type: 'dial' }])
})

test.each([
  ['16 bytes', encodeFrame((writer) => ReplyHeader.write(writer, { xid: 0, zxid: 0n, err: -119 })), 'code -119'],
  ['session id 0', connectReply({ sessionId: 0n }), 'session id 0'],
  ['a read-only server', connectReply({ readOnly: true }), 'read-only'],
  [
    'text',
    new TextEncoder().encode('HTTP/1.1 400 Bad Request\r\n'),
    'text in place of a frame: "HTTP/1.1 400 Bad Request"',
  ],
  ['a frame of 2 GiB', Uint8Array.of(0x7f, 0xff, 0xff, 0xff), 'over the limit'],
])('SessionMachine leaves a server that answers the handshake with %s', (_, answer, message) => {
  const machine = machineOf()
  machine.elapse(0)
  machine.opened()
  machine.transmit(0)
  expect(typesOf(machine.received(answer, 1))).toEqual(['hangUp', 'unreached'])
  expect(nameOf(machine)).toBe('waiting')
  expect(machine.servers.attempts).toMatchObject([
    { error: { name: 'ProtocolError', message: expect.stringContaining(message) } },
  ])
})

test('SessionMachine names the option tls when a server answers the handshake with an alert of TLS', () => {
  const machine = handshaking()
  machine.received(Uint8Array.of(0x15, 3, 3, 0, 2, 2, 70), 1)
  const message = 'the server speaks TLS on this port; give connect the option tls'
  expect(machine.servers.attempts).toMatchObject([{ error: { message } }])
})

test('SessionMachine ends when a server gives it another session than its own, and closes that one', () => {
  const machine = lost(connected(), 1_000)
  const outputs = connect(machine, machine.deadline(), { sessionId: 0x9999n })
  expect(outputs).toMatchObject([
    { type: 'farewell', bytes: closeOtherSession },
    // No server has ended our session, so its nodes may live on.
    {
      type: 'ended',
      reason: 'SessionExpired',
      byServer: false,
      cause: { message: expect.stringContaining('zk1:2181') },
    },
  ])
  expect([nameOf(machine), machine.identity.id]).toEqual(['ended', SESSION_ID])
  expect(machine.identity.detached(0n, 0)).toBeUndefined()
})

test('SessionMachine does not take another session for a confirmed close', () => {
  const machine = lost(connected(), 1_000)
  machine.close(1_000)
  const outputs = connect(machine, machine.deadline(), { sessionId: 0x9999n })
  expect(outputs.slice(-2)).toMatchObject([{ type: 'farewell' }, { type: 'ended', reason: 'Closed', byServer: false }])
})

test('SessionMachine gives each server its turn within a connectTimeout below T', () => {
  const machine = machineOf({ servers: three, connectBy: 3_000 })
  machine.elapse(0)
  expect(machine.state).toMatchObject({ name: 'dialing', by: 1_000 })
})

test('SessionMachine reports that a server took the handshake and closed the connection, not that one was given up (S06)', () => {
  const closed = handshaking()
  expect(closed.lost(broken, 1)).toMatchObject([{ type: 'unreached', server: 'zk1:2181', everyServerCloses: true }])
  const refused = dialing()
  expect(refused.lost(broken, 1)).toMatchObject([{ type: 'unreached', everyServerCloses: false, error: broken }])
  const slow = handshaking()
  expect(slow.elapse(slow.deadline()).at(-1)).toMatchObject({ type: 'unreached', everyServerCloses: false })
})
