// The session, told by hand what happens and when: no driver, no timer, no promise.
import {
  ConnectRequest,
  decode,
  encodeFrame,
  ErrorCode,
  GetDataResponse,
  OpCode,
  ProtocolError,
  ReplyHeader,
  SetDataResponse,
  type SetWatches,
  type TypeOf,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { KeeperError } from '../src/errors.ts'
import type { Credential } from '../src/session/auths.ts'
import type { SessionConfig } from '../src/session/config.ts'
import { SessionMachine } from '../src/session/machine.ts'
import type { Output } from '../src/session/output.ts'
import { Request } from '../src/session/request.ts'
import { type State, transitions, type Trigger } from '../src/session/states.ts'
import { authReply, bodiesIn, connectReply, namesIn, passwd, pingReply, requestsIn, SESSION_ID } from './frames.ts'
import { read, sync, watcher, write } from './requests.ts'
import { wireStat } from './stat.ts'
import { eventFrame, type Handshake, replyFrame } from './support/frames.ts'
import { thrownBy } from './thrown.ts'

const T = 30_000
const broken = new Error('read ECONNRESET')
const zk1 = { host: 'zk1', port: 2181 }
const three = ['zk1', 'zk2', 'zk3'].map((host) => ({ host, port: 2181 }))

function machineOf(config: Partial<SessionConfig> = {}): SessionMachine {
  return new SessionMachine({
    servers: [zk1],
    sessionTimeout: T,
    localExpiry: 4 / 3,
    maxResponseSize: 4 * 1024 * 1024,
    credentials: [],
    seed: 0x5eed,
    startAt: 0,
    connectBy: Infinity,
    ...config,
  })
}

/** From waiting to connected, at once; gives what the machine said to the handshake's answer. */
function connect(machine: SessionMachine, now: number, handshake?: Handshake): Output[] {
  machine.elapse(now)
  machine.opened()
  machine.transmit(now)
  return machine.received(connectReply(handshake), now)
}

/** A machine with a session, at 0. */
function connected(config?: Partial<SessionConfig>, handshake?: Handshake): SessionMachine {
  const machine = machineOf(config)
  connect(machine, 0, handshake)
  return machine
}

/** One that has lost its connection at `now`. */
function lost(machine: SessionMachine, now: number): SessionMachine {
  machine.lost(broken, now)
  expect(machine.state.name).toBe('waiting')
  return machine
}

/** Loses the connection and makes the next one: what the client sends on it. */
function reconnect(machine: SessionMachine, now: number): string[] {
  lost(machine, now)
  const at = machine.deadline()
  connect(machine, at)
  return namesIn(machine.transmit(at))
}

const typesOf = (outputs: readonly Output[]) => outputs.map(({ type }) => type)
const nameOf = (machine: SessionMachine): State['name'] => machine.state.name

function rejectionOf(outputs: readonly Output[], request: Request): unknown {
  const output = outputs.find((each) => each.type === 'reject' && each.request === request)
  return output?.type === 'reject' ? output.error : undefined
}

function connectRequest(machine: SessionMachine, now: number): TypeOf<typeof ConnectRequest> {
  return decode(ConnectRequest, bodiesIn(machine.transmit(now))[0]!)
}

describe('SessionMachine finds a server', () => {
  test('SessionMachine waits until its start, then dials; T / number of servers is left for connect and handshake', () => {
    const machine = machineOf({ servers: three, startAt: 500 })
    expect(machine.state).toEqual({ name: 'waiting', until: 500 })
    expect(machine.deadline()).toBe(500)
    expect(machine.elapse(499)).toEqual([])
    const [output] = machine.elapse(500)
    expect(output).toMatchObject({ type: 'dial', server: { port: 2181 } })
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
    expect(machine.received(answer.subarray(-1), 2)).toEqual([{ type: 'connected', server: 'zk1:2181' }])
    expect([machine.id, machine.timeout, nameOf(machine)]).toEqual([SESSION_ID, 6_000, 'connected'])
    expect(machine.deadline()).toBe(2 + 2_000)
  })

  test('SessionMachine tries the next server at once when one fails, and pauses after the round', () => {
    const machine = machineOf({ servers: three })
    const dialed: string[] = []
    for (let attempt = 0; attempt < 3; attempt++) {
      const [output] = machine.elapse(attempt)
      if (output?.type === 'dial') dialed.push(output.server.host)
      machine.lost(new Error(`refused ${attempt}`), attempt)
    }
    expect([...dialed].sort()).toEqual(['zk1', 'zk2', 'zk3'])
    expect(machine.deadline()).toBeGreaterThan(2)
    expect(machine.deadline()).toBeLessThan(2 + 100)
    expect(machine.attempts.map(({ server, attempts, error }) => [server, attempts, error.message])).toEqual(
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
    expect(machine.elapse(10_000)).toEqual([{ type: 'hangUp' }])
    expect(machine.state).toEqual({ name: 'waiting', until: 10_000 })
    expect(machine.attempts).toMatchObject([{ error: { message } }])
  })

  test('SessionMachine gives up at connectBy; the attempt under way is among those it lists', () => {
    const machine = machineOf({ connectBy: T })
    const request = read('/a')
    machine.submit(request)
    machine.elapse(0)
    expect(machine.deadline()).toBe(T)
    const outputs = machine.elapse(T)
    expect(typesOf(outputs)).toEqual(['hangUp', 'reject', 'ended'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: false })
    expect(outputs.at(-1)).toEqual({ type: 'ended', reason: 'Unreachable' })
    expect(machine.attempts).toMatchObject([{ server: 'zk1:2181', error: { message: 'no TCP connection in time' } }])
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
    expect(machine.received(answer, 1)).toEqual([{ type: 'hangUp' }])
    expect(nameOf(machine)).toBe('waiting')
    expect(machine.attempts).toMatchObject([
      { error: { name: 'ProtocolError', message: expect.stringContaining(message) } },
    ])
  })

  test('SessionMachine leaves a server that gives it another session than its own', () => {
    const machine = lost(connected(), 1_000)
    expect(connect(machine, machine.deadline(), { sessionId: 0x9999n })).toEqual([{ type: 'hangUp' }])
    expect([nameOf(machine), machine.id]).toEqual(['waiting', SESSION_ID])
  })
})

describe('SessionMachine keeps the session alive', () => {
  test('SessionMachine pings when nothing was sent for T/3, once, and not again before the answer', () => {
    const machine = connected()
    expect(machine.deadline()).toBe(10_000)
    expect(machine.elapse(9_999)).toEqual([])
    expect(machine.transmit(9_999)).toBeUndefined()
    expect(machine.elapse(10_000)).toEqual([])
    expect(namesIn(machine.transmit(10_000))).toEqual(['ping'])
    expect(machine.deadline()).toBe(20_000)
    expect(machine.received(pingReply(), 10_005)).toEqual([])
    expect(machine.deadline()).toBe(20_000)
    machine.elapse(20_000)
    expect(namesIn(machine.transmit(20_000))).toEqual(['ping'])
  })

  test('SessionMachine needs no ping while it sends requests', () => {
    const machine = connected()
    machine.submit(read())
    machine.transmit(8_000)
    machine.received(replyFrame({ xid: 1 }, GetDataResponse, { data: null, stat: wireStat }), 8_010)
    expect(machine.deadline()).toBe(18_000)
  })

  test('SessionMachine pings when nothing was heard for T/3 too: requests without an answer are no sign of life', () => {
    const machine = connected()
    machine.submit(write())
    machine.transmit(9_000)
    expect(machine.deadline()).toBe(10_000)
    machine.elapse(10_000)
    expect(namesIn(machine.transmit(10_000))).toEqual(['ping'])
  })

  test('SessionMachine puts a ping before everything that waits', () => {
    const machine = connected()
    machine.submit(read('/a'))
    machine.elapse(10_000)
    expect(namesIn(machine.transmit(10_000))).toEqual(['ping', 'getData /a'])
  })

  test('SessionMachine hangs up when nothing was heard for 2/3 T', () => {
    const machine = connected()
    machine.elapse(10_000)
    machine.transmit(10_000)
    expect(machine.elapse(19_999)).toEqual([])
    const outputs = machine.elapse(20_000)
    expect(typesOf(outputs)).toEqual(['hangUp', 'disconnected'])
    expect(outputs[1]).toMatchObject({ error: { message: 'nothing heard for 2/3 of the session timeout' } })
    // At once within T/30, so that T/3 is left to reach another server.
    expect(machine.deadline()).toBeLessThan(21_000)
  })

  test('SessionMachine takes only whole frames for a sign of life', () => {
    const machine = connected()
    machine.elapse(10_000)
    machine.transmit(10_000)
    machine.received(pingReply().subarray(0, 19), 19_000)
    expect(typesOf(machine.elapse(20_000))).toEqual(['hangUp', 'disconnected'])
  })

  test('SessionMachine hangs up when its oldest request had no answer for 2/3 T, though pings are answered', () => {
    const machine = connected()
    machine.submit(write('/a'))
    machine.transmit(3_000)
    machine.elapse(13_000)
    machine.transmit(13_000)
    machine.received(pingReply(), 22_000)
    expect(machine.deadline()).toBe(23_000)
    const outputs = machine.elapse(23_000)
    expect(typesOf(outputs)).toEqual(['hangUp', 'disconnected', 'reject'])
    expect(outputs[1]).toMatchObject({ error: { message: 'no answer for 2/3 of the session timeout' } })
  })

  test('SessionMachine measures that by tombstones too, so that no answer is waited for without end', () => {
    const machine = connected()
    machine.submit(read('/a', { expiresAt: 5_000 }))
    machine.transmit(3_000)
    expect(typesOf(machine.elapse(5_000))).toEqual(['reject'])
    expect(nameOf(machine)).toBe('connected')
    machine.received(pingReply(), 22_999)
    expect(typesOf(machine.elapse(23_000))).toContain('hangUp')
  })

  test('SessionMachine counts the session as expired 4/3 T after it last heard of it, on any connection', () => {
    const machine = lost(connected(), 20_000)
    const request = write('/a')
    machine.submit(request)
    while (machine.deadline() < 40_000) {
      const now = machine.deadline()
      machine.elapse(now)
      if (nameOf(machine) === 'dialing') machine.lost(new Error('refused'), now)
    }
    expect(machine.deadline()).toBe(40_000)
    const outputs = machine.elapse(40_000)
    expect(typesOf(outputs)).toEqual(['reject', 'ended'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(machine.state).toEqual({ name: 'ended', reason: 'SessionExpired' })
    expect(machine.deadline()).toBe(Infinity)
  })

  test('SessionMachine never pauses past the time that is left', () => {
    const machine = lost(connected(undefined, { timeOut: 3_000 }), 3_999)
    expect(machine.deadline()).toBeLessThanOrEqual(4_000)
  })

  test('SessionMachine hears first and judges then: bytes that came during a stall count', () => {
    const machine = connected()
    machine.received(pingReply(), 100_000)
    expect(machine.elapse(100_000)).toEqual([])
    expect(nameOf(machine)).toBe('connected')
  })
})

describe('SessionMachine matches replies', () => {
  test('SessionMachine resolves requests in the order of their replies', () => {
    const machine = connected()
    const [first, second] = [read('/a', { result: () => 'A' }), write('/b', { result: () => 'B' })]
    machine.submit(first)
    machine.submit(second)
    expect(namesIn(machine.transmit(0))).toEqual(['getData /a', 'setData /b'])
    const both = Uint8Array.from([...replyFrame({ xid: 1 }), ...replyFrame({ xid: 2 })])
    expect(machine.received(both, 1)).toEqual([
      { type: 'resolve', request: first, value: 'A' },
      { type: 'resolve', request: second, value: 'B' },
    ])
  })

  test('SessionMachine says an event before the reply that came behind it', () => {
    const machine = connected()
    const watching = watcher('/a', 'data')
    machine.submit(read('/a', { watcher: watching }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1 }), 1)
    machine.submit(read('/a'))
    machine.transmit(1)
    const bytes = Uint8Array.from([...eventFrame('NodeDataChanged', '/a', { zxid: 9n }), ...replyFrame({ xid: 2 })])
    const outputs = machine.received(bytes, 2)
    expect(typesOf(outputs)).toEqual(['notify', 'resolve'])
    expect(outputs[0]).toMatchObject({ watcher: watching, outcome: { type: 'NodeDataChanged', zxid: 9n } })
  })

  test.each([-1n, 0n])('SessionMachine leaves out the zxid of an event that has none: %d', (zxid) => {
    const machine = connected()
    const watching = watcher('/a', 'data')
    machine.submit(read('/a', { watcher: watching }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1 }), 1)
    expect(machine.received(eventFrame('NodeDeleted', '/a', { zxid }), 2)).toEqual([
      { type: 'notify', watcher: watching, outcome: { type: 'NodeDeleted' } },
    ])
  })

  test.each([
    ['no request', 0, 1],
    ['another xid', 1, 2],
    ['the xid after the oldest', 2, 2],
    ['an xid that is not due', 1, 0],
  ])('SessionMachine leaves a server that answers with a reply to %s', (_, requests, xid) => {
    const machine = connected()
    for (let count = 0; count < requests; count++) machine.submit(read())
    machine.transmit(0)
    const outputs = machine.received(replyFrame({ xid }), 1)
    expect(typesOf(outputs)).toEqual(['hangUp', 'disconnected'])
    expect(outputs[1]).toMatchObject({
      error: { name: 'ProtocolError', message: expect.stringContaining(`xid ${xid}`) },
    })
  })

  test('SessionMachine rejects with the name of the code, and where it was', () => {
    const machine = connected()
    const request = read('/a')
    machine.submit(request)
    machine.transmit(0)
    const error = rejectionOf(machine.received(replyFrame({ xid: 1, err: 'NoNode' }), 1), request)
    expect(error).toBeInstanceOf(KeeperError)
    expect(error).toMatchObject({
      code: 'NoNode',
      number: -101,
      op: 'getData',
      path: '/a',
      server: 'zk1:2181',
      sessionId: SESSION_ID,
      outcomeUnknown: false,
    })
  })

  test('SessionMachine reports a code that nobody knows, and goes on', () => {
    const machine = connected()
    const request = write('/a')
    machine.submit(request)
    machine.transmit(0)
    const error = rejectionOf(machine.received(replyFrame({ xid: 1, err: -200 }), 1), request)
    expect(error).toMatchObject({ code: 'Unknown', number: -200, outcomeUnknown: false })
    expect(nameOf(machine)).toBe('connected')
  })

  test('SessionMachine resolves where a code is an answer', () => {
    const machine = connected()
    const request = read('/a', { forgives: { NoNode: () => 'none' } })
    machine.submit(request)
    machine.transmit(0)
    expect(machine.received(replyFrame({ xid: 1, err: 'NoNode' }), 1)).toEqual([
      { type: 'resolve', request, value: 'none' },
    ])
  })

  test.each([
    ['read', read, false, ['getData /b']],
    ['write', write, true, ['sync /', 'getData /b']],
  ] as const)(
    'SessionMachine rejects a %s whose answer cannot be read, and leaves the server',
    (_, make, outcomeUnknown, then) => {
      const machine = connected()
      const result = () => {
        throw new ProtocolError('null where a value is required')
      }
      const [request, next] = [make('/a', { result }), read('/b')]
      machine.submit(request)
      machine.submit(next)
      machine.transmit(0)
      const outputs = machine.received(replyFrame({ xid: 1 }), 1)
      expect(typesOf(outputs)).toEqual(['reject', 'hangUp', 'disconnected'])
      expect(rejectionOf(outputs, request)).toMatchObject({ code: 'InvalidResponse', outcomeUnknown })
      connect(machine, machine.deadline())
      // What could not be read is not asked for again.
      expect(namesIn(machine.transmit(2))).toEqual(then)
    },
  )

  test.each([
    ['read', read, false, ['getData /b']],
    ['write', write, true, ['sync /', 'getData /b']],
  ] as const)(
    'SessionMachine rejects a %s whose answer is too long, and never repeats it',
    (_, make, outcomeUnknown, then) => {
      const machine = connected({ maxResponseSize: 1_024 })
      const [request, next] = [make('/a'), read('/b')]
      machine.submit(request)
      machine.submit(next)
      machine.transmit(0)
      const outputs = machine.received(Uint8Array.of(0, 0, 4, 1), 1)
      expect(typesOf(outputs)).toEqual(['reject', 'hangUp', 'disconnected'])
      expect(rejectionOf(outputs, request)).toMatchObject({ code: 'ResponseTooLarge', outcomeUnknown })
      connect(machine, machine.deadline())
      expect(namesIn(machine.transmit(2))).toEqual(then)
    },
  )

  test('SessionMachine leaves a server that says the session has moved; a write may have happened', () => {
    const machine = connected()
    const [request, again] = [write('/a'), read('/b')]
    machine.submit(request)
    machine.submit(again)
    machine.transmit(0)
    const outputs = machine.received(replyFrame({ xid: 1, err: 'SessionMoved' }), 1)
    expect(typesOf(outputs)).toEqual(['hangUp', 'disconnected', 'reject'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'ConnectionLoss', outcomeUnknown: true })
    expect(nameOf(machine)).toBe('waiting')
  })

  test('SessionMachine reports events that it cannot place, and goes on', () => {
    const machine = connected()
    const oddity = (what: string) => [{ type: 'oddity', what }]
    expect(machine.received(eventFrame(99, '/a'), 1)).toEqual(oddity('event of type unknown for /a'))
    expect(machine.received(eventFrame('None', null), 1)).toEqual(oddity('event of type None for '))
    expect(machine.received(eventFrame('NodeDeleted', '/a'), 1)).toEqual(
      oddity('NodeDeleted for /a, which nobody watches'),
    )
    expect(nameOf(machine)).toBe('connected')
  })

  test('SessionMachine throws on what is a bug of ours and not of the server', () => {
    const machine = connected()
    const result = () => {
      throw new RangeError('a bug')
    }
    machine.submit(read('/a', { result }))
    machine.transmit(0)
    expect(thrownBy(() => machine.received(replyFrame({ xid: 1 }), 1))).toHaveProperty('message', 'a bug')
  })
})

describe('SessionMachine changes connections', () => {
  test('SessionMachine repeats reads and neither, never a sent write, and says which write may have happened', () => {
    const machine = connected()
    const [sentRead, sentSync, sentWrite] = [read('/1'), sync('/2'), write('/3')]
    for (const request of [sentRead, sentSync, sentWrite]) machine.submit(request)
    machine.transmit(0)
    machine.submit(write('/4'))
    machine.submit(read('/5'))
    const outputs = machine.lost(broken, 1)
    expect(typesOf(outputs)).toEqual(['disconnected', 'reject'])
    expect(rejectionOf(outputs, sentWrite)).toMatchObject({
      code: 'ConnectionLoss',
      outcomeUnknown: true,
      server: 'zk1:2181',
      cause: broken,
    })
    connect(machine, machine.deadline())
    const next = requestsIn(machine.transmit(2))
    expect(next.map(({ name, xid }) => [name, xid])).toEqual([
      ['sync', 4],
      ['getData', 5],
      ['sync', 6],
      ['setData', 7],
      ['getData', 8],
    ])
  })

  test('SessionMachine owes the sync until it is answered, and only once', () => {
    const machine = connected()
    machine.submit(write('/a'))
    machine.transmit(0)
    expect(reconnect(machine, 1)).toEqual(['sync /'])
    expect(reconnect(machine, 100)).toEqual(['sync /'])
    machine.received(replyFrame({ xid: 3 }), 200)
    expect(reconnect(machine, 300)).toEqual([])
  })

  test('SessionMachine sends on a new connection: credentials, watches, a sync, repeated reads, the queue', () => {
    const credentials: Credential[] = [{ scheme: 'digest', auth: new Uint8Array(3) }]
    const machine = connected({ credentials })
    machine.transmit(0)
    machine.received(authReply(), 0)
    machine.submit(read('/watched', { watcher: watcher('/watched', 'data') }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1, zxid: 0x55n }), 1)
    machine.submit(write('/lost'))
    machine.submit(read('/again', { watcher: watcher('/again', 'data') }))
    machine.transmit(1)
    machine.submit(write('/queued'))
    lost(machine, 2)
    connect(machine, machine.deadline())
    const sent = requestsIn(machine.transmit(2))
    expect(sent.map(({ name }) => name)).toEqual(['auth', 'setWatches', 'sync', 'getData', 'setData'])
    expect(sent[1]).toMatchObject({ xid: -8 })
    expect(sent[1]!.body as TypeOf<typeof SetWatches>).toEqual({
      relativeZxid: 0x55n,
      dataWatches: ['/watched'],
      existWatches: [],
      childWatches: [],
    })
  })

  test('SessionMachine names its session, its password and the last zxid that a reply showed', () => {
    const machine = connected()
    machine.submit(write('/a'))
    machine.submit(read('/a'))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1, zxid: 9n }), 1)
    machine.received(replyFrame({ xid: 2, zxid: 8n, err: 'NoNode' }), 1)
    // What these show may have been delivered only in part.
    machine.received(eventFrame('NodeDeleted', '/x', { zxid: 100n }), 2)
    machine.received(pingReply(101n), 2)
    lost(machine, 3)
    machine.elapse(machine.deadline())
    machine.opened()
    expect(connectRequest(machine, 4)).toMatchObject({ lastZxidSeen: 9n, sessionId: SESSION_ID, passwd, timeOut: T })
  })

  test('SessionMachine keeps the password that the last server gave', () => {
    const machine = lost(connected(), 1)
    const other = new Uint8Array(16).fill(9)
    connect(machine, machine.deadline(), { passwd: other })
    lost(machine, 2_000)
    machine.elapse(machine.deadline())
    machine.opened()
    expect(connectRequest(machine, 3_000).passwd).toEqual(other)
  })

  test('SessionMachine backs off from a server that takes it and drops it again at once', () => {
    const machine = machineOf()
    const pauses: number[] = []
    for (let now = 0, attempt = 0; attempt < 8; attempt++) {
      connect(machine, now)
      machine.lost(broken, now)
      pauses.push(machine.deadline() - now)
      now = machine.deadline()
    }
    // Random below 100, 200, 400 … ms: the later half comes to more.
    const sum = (part: number[]) => part.reduce((total, pause) => total + pause, 0)
    expect(sum(pauses.slice(4))).toBeGreaterThan(4 * sum(pauses.slice(0, 4)))
    expect(machine.attempts).toMatchObject([{ server: 'zk1:2181', attempts: 8 }])
  })

  test('SessionMachine forgets earlier failures when a connection has stood for T/3', () => {
    const machine = machineOf()
    machine.elapse(0)
    machine.lost(new Error('refused'), 0)
    connect(machine, machine.deadline())
    expect(machine.attempts).toHaveLength(1)
    lost(machine, 15_000)
    expect(machine.attempts).toEqual([])
  })

  test('SessionMachine puts the requests of one turn into one segment, and many into several', () => {
    const machine = connected()
    for (let count = 0; count < 20_000; count++) machine.submit(read('/some/path/of/some/length'))
    const segments: number[] = []
    for (let bytes = machine.transmit(0); bytes !== undefined; bytes = machine.transmit(0))
      segments.push(bytes.byteLength)
    expect(segments.length).toBeGreaterThan(1)
    for (const size of segments) expect(size).toBeLessThan(256 * 1024 + 100)
    expect(segments.reduce((sum, size) => sum + size, 0)).toBe(20_000 * (read('/some/path/of/some/length').size + 4))
  })
})

describe('SessionMachine and those who no longer wait', () => {
  test('SessionMachine.deadline is no later than the first timeout of a call', () => {
    const machine = connected()
    machine.submit(read('/', { expiresAt: 7_000 }))
    machine.submit(read('/', { expiresAt: 6_000 }))
    expect(machine.deadline()).toBe(6_000)
    machine.elapse(6_000)
    expect(machine.deadline()).toBe(7_000)
  })

  test.each([
    ['unsent read', read, false, false],
    ['unsent write', write, false, false],
    ['sent read', read, true, false],
    ['sent write', write, true, true],
  ] as const)(
    'SessionMachine rejects an %s whose time is up; outcomeUnknown is for sent writes',
    (_, make, isSent, unknown) => {
      const machine = connected()
      const request = make('/a', { expiresAt: 1_000 })
      machine.submit(request)
      if (isSent) machine.transmit(0)
      const outputs = machine.elapse(1_000)
      expect(typesOf(outputs)).toEqual(['reject'])
      expect(rejectionOf(outputs, request)).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: unknown })
      expect(namesIn(machine.transmit(1_000))).toEqual([])
      // The reply to what was sent still comes, and disturbs nobody.
      if (isSent) expect(machine.received(replyFrame({ xid: 1 }), 1_001)).toEqual([])
      expect(nameOf(machine)).toBe('connected')
    },
  )

  test('SessionMachine.abandon is true once', () => {
    const machine = connected()
    const [sent, unsent] = [read(), read()]
    machine.submit(sent)
    machine.transmit(0)
    machine.submit(unsent)
    for (const request of [sent, unsent]) {
      expect([machine.abandon(request), machine.abandon(request)]).toEqual([true, false])
    }
    expect(machine.transmit(0)).toBeUndefined()
  })

  test('SessionMachine takes a watch off the server that an abandoned read has set', () => {
    const machine = connected()
    const request = read('/a', { watcher: watcher('/a', 'child') })
    machine.submit(request)
    machine.transmit(0)
    machine.abandon(request)
    machine.received(replyFrame({ xid: 1 }), 1)
    expect(requestsIn(machine.transmit(1))).toMatchObject([{ name: 'removeWatches', body: { path: '/a', type: 1 } }])
    // It may have fired meanwhile.
    expect(machine.received(replyFrame({ xid: 2, err: 'NoWatcher' }), 2)).toMatchObject([
      { request: { op: 'removeWatches' } },
    ])
    expect(nameOf(machine)).toBe('connected')
  })

  test('SessionMachine takes off the watch that an abandoned read has set on a node that is not there', () => {
    for (const [kind, left] of [['exist', ['removeWatches /a']], ['data', []], ['child', []]] as const) {
      const machine = connected()
      const request = read('/a', { watcher: watcher('/a', kind) })
      machine.submit(request)
      machine.transmit(0)
      machine.abandon(request)
      machine.received(replyFrame({ xid: 1, err: 'NoNode' }), 1)
      expect(namesIn(machine.transmit(1))).toEqual(left)
    }
  })

  test('SessionMachine takes off a watch that was left to a read, when that read is refused or given up', () => {
    for (const isAnswered of [true, false]) {
      const machine = connected()
      const [first, second] = [watcher('/a', 'data'), watcher('/a', 'data')]
      machine.submit(read('/a', { watcher: first }))
      machine.transmit(0)
      machine.received(replyFrame({ xid: 1 }), 1)
      const request = read('/a', { watcher: second })
      machine.submit(request)
      expect(machine.unwatch(first)).toBe(false)
      if (isAnswered) {
        machine.transmit(1)
        machine.received(replyFrame({ xid: 2, err: 'NoAuth' }), 1)
      } else machine.abandon(request)
      expect(second.phase).toBe('gone')
      expect(namesIn(machine.transmit(2))).toEqual(['removeWatches /a'])
    }
  })

  test('SessionMachine forgets the watcher of a read that is abandoned before it is sent', () => {
    const machine = connected()
    const each = watcher('/a', 'data')
    const request = read('/a', { watcher: each })
    machine.submit(request)
    machine.abandon(request)
    expect(each.phase).toBe('gone')
    expect(machine.transmit(0)).toBeUndefined()
  })

  test('SessionMachine keeps the watcher of a read that timed out until its reply says whether it is set', () => {
    const machine = connected()
    const each = watcher('/a', 'data')
    machine.submit(read('/a', { watcher: each, expiresAt: 1_000 }))
    machine.transmit(0)
    expect(typesOf(machine.elapse(1_000))).toEqual(['reject'])
    expect(each.phase).toBe('asked')
    machine.received(replyFrame({ xid: 1 }), 1_001)
    expect(each.phase).toBe('gone')
    expect(namesIn(machine.transmit(1_001))).toEqual(['removeWatches /a'])
  })

  test('SessionMachine forgets the watcher of a read whose answer is too long, or cannot be read', () => {
    const unreadable = () => {
      throw new ProtocolError('null where a value is required')
    }
    for (const bytes of [Uint8Array.of(0x7f, 0, 0, 0), replyFrame({ xid: 1 })]) {
      const machine = connected()
      const each = watcher('/a', 'data')
      machine.submit(read('/a', { watcher: each, result: unreadable }))
      machine.transmit(0)
      expect(typesOf(machine.received(bytes, 1))).toEqual(['reject', 'hangUp', 'disconnected'])
      expect(each.phase).toBe('gone')
    }
  })

  test('SessionMachine leaves a watch there that somebody else waits for, or has asked for', () => {
    for (const answered of [true, false]) {
      const machine = connected()
      const [abandoned, other] = [0, 1].map(() => read('/a', { watcher: watcher('/a', 'data') }))
      machine.submit(abandoned!)
      machine.submit(other!)
      machine.transmit(0)
      machine.abandon(abandoned!)
      machine.received(replyFrame({ xid: 1 }), 1)
      if (answered) machine.received(replyFrame({ xid: 2 }), 1)
      expect(machine.transmit(1)).toBeUndefined()
    }
  })

  test('SessionMachine leaves no watch to take off where the abandoned read set none', () => {
    const machine = connected()
    const request = read('/a', { watcher: watcher('/a', 'data') })
    machine.submit(request)
    machine.transmit(0)
    machine.abandon(request)
    machine.received(replyFrame({ xid: 1, err: 'NoNode' }), 1)
    expect(machine.transmit(1)).toBeUndefined()
  })

  test('SessionMachine forgets the watcher of an abandoned read whose connection is lost', () => {
    const machine = connected()
    const waiting = watcher('/a', 'data')
    machine.submit(read('/a', { watcher: waiting }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1 }), 1)
    const abandoned = watcher('/a', 'data')
    const request = read('/a', { watcher: abandoned })
    machine.submit(request)
    machine.transmit(1)
    machine.abandon(request)
    lost(machine, 2)
    expect(abandoned.phase).toBe('gone')
    // Else it would count for ever as somebody who waits.
    expect(machine.unwatch(waiting)).toBe(true)
  })

  test('SessionMachine.unwatch is true when the server keeps a watch that nobody else waits for', () => {
    const machine = connected()
    const [first, second, child] = [watcher('/a', 'data'), watcher('/a', 'exist'), watcher('/a', 'child')]
    for (const each of [first, second, child]) machine.submit(read('/a', { watcher: each }))
    expect(machine.unwatch(first)).toBe(false)
    machine.transmit(0)
    for (const xid of [1, 2, 3]) machine.received(replyFrame({ xid }), 1)
    expect(second.kind).toBe('data')
    expect([machine.unwatch(first), machine.unwatch(first), machine.unwatch(second)]).toEqual([false, false, true])
    expect(machine.received(eventFrame('NodeDataChanged', '/a'), 2)).toMatchObject([{ type: 'oddity' }])
    expect([machine.unwatch(child), machine.unwatch(child)]).toEqual([true, false])
    expect(reconnect(machine, 3)).toEqual([])
  })

  test('SessionMachine.takeWatchers takes those that are set, from the tables named', () => {
    const machine = connected()
    const [data, child, asked] = [watcher('/a', 'data'), watcher('/a', 'child'), watcher('/a', 'data')]
    for (const each of [data, child]) machine.submit(read('/a', { watcher: each }))
    machine.transmit(0)
    for (const xid of [1, 2]) machine.received(replyFrame({ xid }), 1)
    machine.submit(read('/a', { watcher: asked }))
    expect(machine.takeWatchers('/a', ['data'])).toEqual([data])
    expect(machine.takeWatchers('/a', ['data', 'child'])).toEqual([child])
    expect([data.phase, child.phase, asked.phase]).toEqual(['gone', 'gone', 'asked'])
  })

  test.each([
    ['data', 'NoNode', 'gone', 'data'],
    ['child', 'NoNode', 'gone', 'child'],
    ['exist', 'NoNode', 'set', 'exist'],
    ['exist', 'Ok', 'set', 'data'],
    ['data', 'Ok', 'set', 'data'],
  ] as const)(
    'SessionMachine makes of a %s watch whose read is answered %s one that is %s',
    (kind, err, phase, then) => {
      const machine = connected()
      const each = watcher('/a', kind)
      machine.submit(read('/a', { watcher: each, forgives: kind === 'exist' ? { NoNode: () => undefined } : {} }))
      machine.transmit(0)
      machine.received(replyFrame({ xid: 1, err }), 1)
      expect([each.phase, each.kind]).toEqual([phase, then])
    },
  )
})

describe('SessionMachine and credentials', () => {
  const alice: Credential = { scheme: 'digest', auth: new Uint8Array(3) }
  const addAuth = (expiresAt = Infinity) =>
    new Request({ op: 'addAuth', opCode: OpCode.auth, kind: 'neither', expiresAt })

  test('SessionMachine sends a credential at once, before requests, and resolves with its answer', () => {
    const machine = connected()
    machine.submit(read('/a'))
    const request = addAuth()
    machine.authenticate(alice, request)
    expect(namesIn(machine.transmit(0))).toEqual(['auth', 'getData /a'])
    expect(machine.received(authReply(), 1)).toEqual([{ type: 'resolve', request, value: undefined }])
  })

  test('SessionMachine sends a credential that came before the connection once, with the others', () => {
    const machine = machineOf({ credentials: [alice] })
    machine.authenticate({ ...alice, scheme: 'ip' }, addAuth())
    connect(machine, 0)
    expect(namesIn(machine.transmit(0))).toEqual(['auth', 'auth'])
  })

  test('SessionMachine ends when a credential is refused, and tells everybody who waits', () => {
    const machine = connected()
    const [request, waiting] = [addAuth(), write('/a')]
    machine.authenticate(alice, request)
    machine.submit(waiting)
    machine.transmit(0)
    const outputs = machine.received(authReply(ErrorCode.AuthFailed), 1)
    expect(typesOf(outputs)).toEqual(['reject', 'reject', 'hangUp', 'ended', 'disconnected'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'AuthFailed', outcomeUnknown: false })
    expect(rejectionOf(outputs, waiting)).toMatchObject({ code: 'AuthFailed', outcomeUnknown: true })
    expect(machine.state).toEqual({ name: 'ended', reason: 'AuthFailed' })
  })

  test('SessionMachine sends what was not answered again on the next connection, and resolves each caller once', () => {
    const machine = connected()
    const [first, second] = [addAuth(), addAuth()]
    machine.authenticate(alice, first)
    machine.authenticate({ ...alice }, second)
    machine.transmit(0)
    expect(reconnect(machine, 1)).toEqual(['auth', 'auth'])
    const both = Uint8Array.from([...authReply(), ...authReply()])
    expect(machine.received(both, 100)).toMatchObject([
      { type: 'resolve', request: first },
      { type: 'resolve', request: second },
    ])
    expect(machine.received(authReply(), 101)).toEqual([])
  })

  test('SessionMachine tells nobody who has abandoned it that a credential was accepted; it is sent all the same', () => {
    const machine = connected()
    const request = addAuth()
    machine.authenticate(alice, request)
    expect([machine.abandon(request), machine.abandon(request)]).toEqual([true, false])
    expect(namesIn(machine.transmit(0))).toEqual(['auth'])
    expect(machine.received(authReply(), 1)).toEqual([])
  })

  test('SessionMachine lets a caller of authenticate time out, and be abandoned', () => {
    const machine = machineOf()
    const [timed, abandoned] = [addAuth(100), addAuth()]
    machine.authenticate(alice, timed)
    machine.authenticate({ ...alice }, abandoned)
    expect(machine.abandon(abandoned)).toBe(true)
    machine.elapse(0)
    expect(machine.deadline()).toBe(100)
    const outputs = machine.elapse(100)
    expect(rejectionOf(outputs, timed)).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: false })
    expect(typesOf(outputs)).toEqual(['reject'])
  })
})

describe('SessionMachine ends', () => {
  test('SessionMachine.close sends closeSession behind all that was called, takes nothing more, and ends with the answer', () => {
    const machine = connected()
    machine.submit(write('/a'))
    expect(machine.close(0)).toEqual([])
    const late = read('/late')
    expect(rejectionOf(machine.submit(late), late)).toMatchObject({ code: 'Closed' })
    const credential = new Request({ op: 'addAuth', opCode: OpCode.auth, kind: 'neither' })
    expect(typesOf(machine.authenticate({ scheme: 'x', auth: new Uint8Array(0) }, credential))).toEqual(['reject'])
    expect(namesIn(machine.transmit(0))).toEqual(['setData /a', 'closeSession'])
    machine.received(replyFrame({ xid: 1 }, SetDataResponse, { stat: wireStat }), 1)
    const outputs = machine.received(replyFrame({ xid: 2 }), 1)
    expect(typesOf(outputs)).toEqual(['resolve', 'hangUp', 'ended', 'disconnected'])
    expect(outputs[2]).toEqual({ type: 'ended', reason: 'Closed' })
  })

  test('SessionMachine.close waits T/2 for the server, then does without', () => {
    const machine = connected()
    const request = write('/a')
    machine.submit(request)
    machine.close(1_000)
    machine.transmit(1_000)
    machine.received(pingReply(), 15_000)
    expect(machine.deadline()).toBeLessThanOrEqual(16_000)
    const outputs = machine.elapse(16_000)
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'Closed', outcomeUnknown: true })
    expect(outputs).toContainEqual({ type: 'ended', reason: 'Closed' })
  })

  test('SessionMachine.close dials at once where it was waiting, and repeats closeSession', () => {
    const machine = connected()
    machine.close(0)
    machine.transmit(0)
    lost(machine, 1)
    expect(machine.deadline()).toBeGreaterThan(1)
    connect(machine, machine.deadline())
    expect(namesIn(machine.transmit(2))).toEqual(['closeSession'])
    const waiting = lost(connected(), 1)
    waiting.close(2)
    expect(waiting.deadline()).toBe(2)
  })

  test('SessionMachine.close takes an expired session for a closed one', () => {
    const machine = connected()
    machine.close(0)
    lost(machine, 1)
    const outputs = connect(machine, machine.deadline(), { timeOut: 0, sessionId: 0n })
    expect(outputs).toContainEqual({ type: 'ended', reason: 'Closed' })
  })

  test('SessionMachine.close ends at once a session that does not exist yet, and does nothing to one that has ended', () => {
    const machine = machineOf()
    const request = read()
    machine.submit(request)
    expect(typesOf(machine.close(0))).toEqual(['reject', 'ended'])
    expect(machine.close(0)).toEqual([])
    expect(machine.submit(read())).toMatchObject([{ type: 'reject', error: { code: 'Closed' } }])
  })

  test('SessionMachine rejects all requests, sent or not, and tells all watchers, when the session has expired', () => {
    const machine = connected()
    const watching = watcher('/a', 'data')
    machine.submit(read('/a', { watcher: watching }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1 }), 1)
    const [sent, again, unsent] = [write('/1'), read('/2'), write('/3')]
    machine.submit(sent)
    machine.submit(again)
    machine.transmit(1)
    machine.submit(unsent)
    const outputs = machine.received(replyFrame({ xid: 2, err: 'SessionExpired' }), 2)
    expect(typesOf(outputs)).toEqual(['reject', 'reject', 'reject', 'notify', 'hangUp', 'ended', 'disconnected'])
    expect(rejectionOf(outputs, sent)).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(rejectionOf(outputs, again)).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(rejectionOf(outputs, unsent)).toMatchObject({ code: 'SessionExpired', outcomeUnknown: false })
    expect(outputs[3]).toEqual({ type: 'notify', watcher: watching, outcome: { type: 'SessionEnded' } })
    const late = read()
    expect(rejectionOf(machine.submit(late), late)).toMatchObject({ code: 'SessionExpired' })
  })

  test('SessionMachine says of a write whose answer never came that its outcome is unknown, when the session expires', () => {
    const machine = connected()
    const sent = write('/1')
    machine.submit(sent)
    machine.transmit(0)
    expect(rejectionOf(machine.elapse(40_000), sent)).toMatchObject({ code: 'SessionExpired', outcomeUnknown: true })
  })

  const ended = {
    'was closed before it began': () => {
      const machine = machineOf()
      machine.elapse(0)
      machine.close(0)
      return machine
    },
    'was closed without an answer': () => {
      const machine = connected()
      machine.close(0)
      machine.elapse(15_000)
      return machine
    },
    'has expired': () => {
      const machine = connected()
      machine.elapse(40_000)
      return machine
    },
    'found no server': () => {
      const machine = machineOf({ connectBy: 5 })
      machine.elapse(5)
      return machine
    },
  }
  test.each(Object.entries(ended))('SessionMachine hears, says and wants nothing when it %s', (_, make) => {
    const machine = make()
    const { state } = machine
    expect(state.name).toBe('ended')
    expect(machine.opened()).toEqual([])
    expect(machine.received(connectReply(), 1e9)).toEqual([])
    expect(machine.lost(broken, 1e9)).toEqual([])
    expect(machine.elapse(1e9)).toEqual([])
    expect(machine.close(1e9)).toEqual([])
    expect(machine.transmit(1e9)).toBeUndefined()
    expect(machine.deadline()).toBe(Infinity)
    expect(machine.state).toBe(state)
  })

  test('SessionMachine ignores what a socket says out of turn', () => {
    const machine = machineOf()
    expect([machine.opened(), machine.received(pingReply(), 0), machine.lost(broken, 0)]).toEqual([[], [], []])
    machine.elapse(0)
    expect(machine.received(connectReply(), 0)).toEqual([])
    expect(nameOf(machine)).toBe('dialing')
    machine.opened()
    expect(machine.opened()).toEqual([])
    expect(nameOf(machine)).toBe('handshaking')
  })
})

type Way = { [From in State['name']]: `${From} ${keyof (typeof transitions)[From] & string}` }[State['name']]

function dialing(config?: Partial<SessionConfig>): SessionMachine {
  const machine = machineOf(config)
  machine.elapse(0)
  return machine
}

function handshaking(config?: Partial<SessionConfig>): SessionMachine {
  const machine = dialing(config)
  machine.opened()
  machine.transmit(0)
  return machine
}

/** A machine whose session exists, on its way to the next connection. */
function again(to: 'dialing' | 'handshaking'): SessionMachine {
  const machine = lost(connected(), 39_000)
  machine.elapse(39_990)
  if (to === 'handshaking') machine.opened()
  expect(nameOf(machine)).toBe(to)
  return machine
}

/** For each way of the table: a machine about to go it, and what makes it go. */
const ways: Record<Way, () => [SessionMachine, (machine: SessionMachine) => void]> = {
  'waiting dial': () => [machineOf(), (machine) => machine.elapse(0)],
  'waiting expired': () => [lost(connected(), 1), (machine) => machine.elapse(40_000)],
  'waiting closed': () => [machineOf(), (machine) => machine.close(0)],
  'waiting unreachable': () => [machineOf({ startAt: 10, connectBy: 5 }), (machine) => machine.elapse(5)],
  'dialing opened': () => [dialing(), (machine) => machine.opened()],
  'dialing lost': () => [dialing(), (machine) => machine.lost(broken, 0)],
  'dialing expired': () => [again('dialing'), (machine) => machine.elapse(40_000)],
  'dialing closed': () => [dialing(), (machine) => machine.close(0)],
  'handshaking established': () => [handshaking(), (machine) => machine.received(connectReply(), 0)],
  'handshaking lost': () => [handshaking(), (machine) => machine.lost(broken, 0)],
  'handshaking expired': () => [
    again('handshaking'),
    (machine) => machine.received(connectReply({ timeOut: 0 }), 39_995),
  ],
  'handshaking closed': () => [handshaking(), (machine) => machine.close(0)],
  'connected lost': () => [connected(), (machine) => machine.lost(broken, 0)],
  'connected expired': () => [connected(), (machine) => machine.elapse(40_000)],
  'connected authFailed': () => [connected(), (machine) => machine.received(authReply(ErrorCode.AuthFailed), 0)],
  'connected closed': () => [
    connected(),
    (machine) => {
      machine.close(0)
      machine.transmit(0)
      machine.received(replyFrame({ xid: 1 }), 0)
    },
  ],
}

describe('SessionMachine goes the ways of the table', () => {
  test.each(Object.entries(ways))('SessionMachine goes the way %s', (way, begin) => {
    const [from, trigger] = way.split(' ') as [State['name'], Trigger]
    const [machine, go] = begin()
    expect(nameOf(machine)).toBe(from)
    go(machine)
    expect(nameOf(machine)).toBe((transitions[from] as Partial<Record<Trigger, State['name']>>)[trigger])
  })

  test('SessionMachine has no other way to go', () => {
    const table = Object.entries(transitions).flatMap(([from, to]) =>
      Object.keys(to).map((trigger) => `${from} ${trigger}`),
    )
    expect(Object.keys(ways).sort()).toEqual(table.sort())
  })

  test.each(Object.entries(ways))('SessionMachine throws when the table does not have the way %s', (way, begin) => {
    const [from, trigger] = way.split(' ') as [State['name'], Trigger]
    const [machine, go] = begin()
    const table = transitions[from] as Partial<Record<Trigger, State['name']>>
    const to = table[trigger]!
    try {
      delete table[trigger]
      expect(() => go(machine)).toThrow(`no way from ${from} by ${trigger} to ${to}`)
    } finally {
      table[trigger] = to
    }
  })
})
