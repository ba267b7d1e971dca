import { GetDataResponse } from '@zk/wire'
import { expect, test } from 'vitest'
import { namesIn, pingReply } from '../frames.ts'
import { read, write } from '../requests.ts'
import { wireStat } from '../stat.ts'
import { replyFrame } from '../support/frames.ts'
import { connected, lost, nameOf, reconnect, rejectionOf, typesOf } from './machines.ts'

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

test('SessionMachine pings on a new connection though the last ping on the old one was never answered', () => {
  const machine = connected()
  machine.elapse(10_000)
  expect(namesIn(machine.transmit(10_000))).toEqual(['ping'])
  expect(reconnect(machine, 12_000)).toEqual([])
  machine.elapse(machine.deadline())
  expect(namesIn(machine.transmit(23_000))).toEqual(['ping'])
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
