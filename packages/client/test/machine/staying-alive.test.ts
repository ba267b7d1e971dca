import { concat, GetDataResponse } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { namesIn, pingReply } from '../support/machine-frames.ts'
import { adding, read, write } from '../support/made-requests.ts'
import { wireStat } from '../support/stat.ts'
import { eventFrame, replyFrame } from '../support/frames.ts'
import { connected, lost, nameOf, reconnect, rejectionOf, typesOf } from './machines.ts'

test('SessionMachine sends two pings when nothing was sent for T/3, and none again before both answers', () => {
  const machine = connected()
  expect(machine.deadline()).toBe(10_000)
  expect(machine.elapse(9_999)).toEqual([])
  expect(machine.transmit(9_999)).toBeUndefined()
  expect(machine.elapse(10_000)).toEqual([])
  expect(namesIn(machine.transmit(10_000))).toEqual(['ping', 'ping'])
  expect(machine.deadline()).toBe(20_000)
  expect(machine.received(pingReply(), 10_005)).toEqual([])
  machine.elapse(20_000)
  expect(machine.transmit(20_000)).toBeUndefined()
  expect(machine.received(pingReply(), 20_001)).toEqual([])
  expect(machine.deadline()).toBe(20_000)
  machine.elapse(20_000)
  expect(namesIn(machine.transmit(20_000))).toEqual(['ping', 'ping'])
})

test('SessionMachine pings on a new connection though the last ping on the old one was never answered', () => {
  const machine = connected()
  machine.elapse(10_000)
  expect(namesIn(machine.transmit(10_000))).toEqual(['ping', 'ping'])
  expect(reconnect(machine, 12_000)).toEqual([])
  machine.elapse(machine.deadline())
  expect(namesIn(machine.transmit(23_000))).toEqual(['ping', 'ping'])
})

test('SessionMachine needs no ping while it sends two requests in T/3: a follower may lose the touch of one', () => {
  const machine = connected()
  for (const [index, at] of [4_000, 8_000, 12_000].entries()) {
    machine.submit(read())
    machine.transmit(at)
    machine.received(replyFrame({ xid: index + 1 }, GetDataResponse, { data: null, stat: wireStat }), at + 10)
  }
  expect(machine.deadline()).toBe(18_000)
})

test('SessionMachine counts two requests of one segment as two touches, and credentials as none', () => {
  const machine = connected()
  machine.submit(read('/a'))
  machine.submit(read('/b'))
  machine.submit(adding({ scheme: 'digest', auth: new Uint8Array() }))
  expect(namesIn(machine.transmit(5_000))).toEqual(['auth', 'getData /a', 'getData /b'])
  expect(machine.touchesSent).toBe(2)
  for (const xid of [1, 2])
    machine.received(replyFrame({ xid }, GetDataResponse, { data: null, stat: wireStat }), 5_010)
  machine.submit(adding({ scheme: 'digest', auth: new Uint8Array() }))
  expect(namesIn(machine.transmit(9_000))).toEqual(['auth'])
  expect(machine.touchesSent).toBe(2)
  expect(machine.deadline()).toBe(15_000)
})

test('SessionMachine pings when nothing was received for T/3 too: requests without an answer are no sign of life', () => {
  const machine = connected()
  machine.submit(write())
  machine.transmit(9_000)
  expect(machine.deadline()).toBe(10_000)
  machine.elapse(10_000)
  expect(namesIn(machine.transmit(10_000))).toEqual(['ping', 'ping'])
})

test('SessionMachine puts its pings before everything that waits', () => {
  const machine = connected()
  machine.submit(read('/a'))
  machine.elapse(10_000)
  expect(namesIn(machine.transmit(10_000))).toEqual(['ping', 'ping', 'getData /a'])
})

test('SessionMachine hangs up when nothing was received for 2/3 T', () => {
  const machine = connected()
  machine.elapse(10_000)
  machine.transmit(10_000)
  expect(machine.elapse(19_999)).toEqual([])
  const outputs = machine.elapse(20_000)
  expect(typesOf(outputs)).toEqual(['hangUp', 'disconnected'])
  expect(outputs[1]).toMatchObject({ error: { message: 'nothing received for 2/3 of the session timeout' } })
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

describe('A reply that takes a slow link longer than T', () => {
  const piece = 64 * 1024
  const big = replyFrame({ xid: 1 }, GetDataResponse, { data: new Uint8Array(8 * piece), stat: wireStat })

  /** A machine that has asked for a big reply at 0. */
  function reading() {
    const machine = connected()
    machine.submit(read('/big'))
    machine.transmit(0)
    return machine
  }

  test('SessionMachine stays while 64 KiB come within 2/3 T, and sends a heartbeat every T/3', () => {
    const machine = reading()
    const pinged: number[] = []
    let now = 0
    for (let at = 0; at + piece < big.byteLength; at += piece) {
      const arrives = now + 19_000
      while (machine.deadline() < arrives) {
        now = Math.max(now, machine.deadline())
        expect(typesOf(machine.elapse(now))).toEqual([])
        if (namesIn(machine.transmit(now)).length > 0) pinged.push(now)
      }
      now = arrives
      machine.received(big.subarray(at, at + piece), now)
      // The request counts as unanswered all the same.
      expect(machine.answeredBefore).toBe(0)
    }
    expect(pinged.slice(0, 3)).toEqual([10_000, 20_000, 38_000])
    expect(typesOf(machine.received(big.subarray(8 * piece), now))).toEqual(['resolve'])
    expect(machine.answeredBefore).toBe(10_000)
    for (const sent of pinged) {
      expect(machine.answeredBefore).toBe(sent)
      machine.received(concat([pingReply(), pingReply()]), now)
    }
    expect(machine.answeredBefore).toBe(Infinity)
  })

  test('SessionMachine leaves a server of which fewer than 64 KiB come in 2/3 T', () => {
    const machine = reading()
    machine.elapse(10_000)
    machine.transmit(10_000)
    machine.received(big.subarray(0, piece - 1), 19_000)
    expect(typesOf(machine.elapse(20_000))).toEqual(['hangUp', 'disconnected'])
  })

  test('SessionMachine counts the time to local expiry from the last progress', () => {
    const machine = reading()
    machine.received(big.subarray(0, piece), 15_000)
    lost(machine, 16_000)
    while (nameOf(machine) !== 'ended') {
      const now = machine.deadline()
      machine.elapse(now)
      if (nameOf(machine) === 'dialing') machine.lost(new Error('refused'), now)
      if (nameOf(machine) === 'ended') expect(now).toBe(15_000 + 40_000)
    }
  })

  test('SessionMachine takes replies that are not long one by one for progress, and events for none', () => {
    const [replies, events] = [connected(), connected()]
    const small = (xid: number) => replyFrame({ xid }, GetDataResponse, { data: new Uint8Array(piece), stat: wireStat })
    const event = eventFrame('NodeCreated', `/${'x'.repeat(piece)}`)
    for (const machine of [replies, events]) {
      machine.submit(read('/a'))
      machine.submit(read('/b'))
      machine.transmit(0)
    }
    replies.received(small(1), 15_000)
    events.received(event, 15_000)
    expect(typesOf(replies.elapse(20_000))).toEqual([])
    expect(typesOf(events.elapse(20_000))).toContain('hangUp')
  })
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

test('SessionMachine counts the session as expired 4/3 T after it last received a packet, on any connection', () => {
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
  expect(machine.phase).toEqual({ name: 'ended', reason: 'SessionExpired' })
  expect(machine.deadline()).toBe(Infinity)
})

test('SessionMachine never pauses past the time that is left', () => {
  const machine = lost(connected(undefined, { timeOut: 3_000 }), 3_999)
  expect(machine.deadline()).toBeLessThanOrEqual(4_000)
})

test('SessionMachine reads first and decides then: bytes that came during a stall count', () => {
  const machine = connected()
  machine.received(pingReply(), 100_000)
  expect(machine.elapse(100_000)).toEqual([])
  expect(nameOf(machine)).toBe('connected')
})
