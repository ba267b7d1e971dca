import { SetDataResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { connectReply, namesIn, pingReply } from '../support/machine-frames.ts'
import { adding, read, watcher, write } from '../support/made-requests.ts'
import { wireStat } from '../support/stat.ts'
import { replyFrame } from '../support/frames.ts'
import { broken, connect, connected, lost, machineOf, nameOf, rejectionOf, typesOf } from './machines.ts'

test('SessionMachine.close sends closeSession behind all that was called, takes nothing more, and ends with the answer', () => {
  const machine = connected()
  machine.submit(write('/a'))
  expect(machine.close(0)).toEqual([])
  const late = read('/late')
  expect(rejectionOf(machine.submit(late), late)).toMatchObject({ code: 'Closed' })
  expect(typesOf(machine.submit(adding({ scheme: 'x', auth: new Uint8Array(0) })))).toEqual(['reject'])
  expect(namesIn(machine.transmit(0))).toEqual(['setData /a', 'closeSession'])
  machine.received(replyFrame({ xid: 1 }, SetDataResponse, { stat: wireStat }), 1)
  const outputs = machine.received(replyFrame({ xid: 2 }), 1)
  expect(typesOf(outputs)).toEqual(['resolve', 'hangUp', 'ended', 'disconnected'])
  expect(outputs[2]).toMatchObject({ type: 'ended', reason: 'Closed', byServer: true })
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
  expect(outputs.find(({ type }) => type === 'ended')).toMatchObject({ reason: 'Closed', byServer: false })
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
  expect(outputs.find(({ type }) => type === 'ended')).toMatchObject({ reason: 'Closed', byServer: true })
})

test('SessionMachine.close ends at once a session that does not exist yet, and does nothing to one that has ended', () => {
  const machine = machineOf()
  const request = read()
  machine.submit(request)
  expect(typesOf(machine.close(0))).toEqual(['reject', 'ended'])
  expect(machine.close(0)).toEqual([])
  expect(machine.submit(read())).toMatchObject([{ type: 'reject', error: { code: 'Closed' } }])
})

test('SessionMachine rejects all requests, sent or not, and notifies all watchers, when the session has expired', () => {
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
test.each(Object.entries(ended))('SessionMachine takes, gives and waits for nothing when it %s', (_, make) => {
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

test('SessionMachine ignores unexpected bytes of a socket', () => {
  const machine = machineOf()
  expect([machine.opened(), machine.received(pingReply(), 0), machine.lost(broken, 0)]).toEqual([[], [], []])
  machine.elapse(0)
  expect(machine.received(connectReply(), 0)).toEqual([])
  expect(nameOf(machine)).toBe('dialing')
  machine.opened()
  expect(machine.opened()).toEqual([])
  expect(nameOf(machine)).toBe('handshaking')
})
