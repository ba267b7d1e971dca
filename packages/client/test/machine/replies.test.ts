import { ProtocolError } from '@zk/wire'
import { expect, test } from 'vitest'
import { KeeperError } from '../../src/base/errors.ts'
import { namesIn, SESSION_ID } from '../support/machine-frames.ts'
import { read, watcher, write } from '../support/made-requests.ts'
import { eventFrame, replyFrame } from '../support/frames.ts'
import { connect, connected, nameOf, reconnect, rejectionOf, typesOf } from './machines.ts'

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

test('SessionMachine reports an event before the reply that came behind it', () => {
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

test('SessionMachine reports an unknown code, and goes on', () => {
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
  const request = read('/a', { answers: { NoNode: () => 'none' } })
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
  'SessionMachine rejects a %s whose answer is too long, counts its zxid, and never repeats it',
  (_, make, outcomeUnknown, then) => {
    const machine = connected({ maxResponseSize: 1_024 })
    const [request, next] = [make('/a'), read('/b')]
    machine.submit(request)
    machine.submit(next)
    machine.transmit(0)
    const head = replyFrame({ xid: 1, zxid: 99n })
    head.set([0, 0, 4, 1])
    const outputs = machine.received(head, 1)
    expect(typesOf(outputs)).toEqual(['reject'])
    expect(rejectionOf(outputs, request)).toMatchObject({ code: 'ResponseTooLarge', outcomeUnknown })
    expect(machine.pipeline.lastZxid).toBe(99n)
    expect(reconnect(machine, 2)).toEqual(then)
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
  const anomaly = (what: string) => [{ type: 'anomaly', what }]
  expect(machine.received(eventFrame(99, '/a'), 1)).toEqual(anomaly('event of type unknown for /a'))
  expect(machine.received(eventFrame('None', null), 1)).toEqual(anomaly('event of type None for '))
  expect(machine.received(eventFrame('NodeDeleted', '/a'), 1)).toEqual(
    anomaly('NodeDeleted for /a, which has no watcher'),
  )
  expect(nameOf(machine)).toBe('connected')
})

test('SessionMachine rejects a request whose result throws on its own account, and goes on', () => {
  const machine = connected()
  const error = new RangeError("the caller's own")
  const result = () => {
    throw error
  }
  const request = read('/a', { result })
  machine.submit(request)
  machine.transmit(0)
  expect(machine.received(replyFrame({ xid: 1 }), 1)).toEqual([{ type: 'reject', request, error }])
  expect(machine.state.name).toBe('connected')
})
