import { ProtocolError } from '@zk/wire'
import { expect, test } from 'vitest'
import { namesIn, requestsIn } from '../support/machine-frames.ts'
import type { Output } from '../../src/session/protocol/output.ts'
import { read, watcher } from '../support/made-requests.ts'
import { eventFrame, replyFrame } from '../support/frames.ts'
import { connected, lost, nameOf, reconnect, typesOf } from './machines.ts'

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

test('SessionMachine removes the watch that an abandoned read has set on a node that is not there', () => {
  for (const [kind, left] of [
    ['exist', ['removeWatches /a']],
    ['data', []],
    ['child', []],
  ] as const) {
    const machine = connected()
    const request = read('/a', { watcher: watcher('/a', kind) })
    machine.submit(request)
    machine.transmit(0)
    machine.abandon(request)
    machine.received(replyFrame({ xid: 1, err: 'NoNode' }), 1)
    expect(namesIn(machine.transmit(1))).toEqual(left)
  }
})

test('SessionMachine removes a watch that was left to a read, when that read is refused or given up', () => {
  for (const isAnswered of [true, false]) {
    const machine = connected()
    const [first, second] = [watcher('/a', 'data'), watcher('/a', 'data')]
    machine.submit(read('/a', { watcher: first }))
    machine.transmit(0)
    machine.received(replyFrame({ xid: 1 }), 1)
    const request = read('/a', { watcher: second })
    machine.submit(request)
    expect(machine.pipeline.watches.unwatch(first)).toBeUndefined()
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
  expect(each.phase).toBe('sent')
  machine.received(replyFrame({ xid: 1 }), 1_001)
  expect(each.phase).toBe('gone')
  expect(namesIn(machine.transmit(1_001))).toEqual(['removeWatches /a'])
})

test('SessionMachine forgets the watcher of a read whose answer cannot be read', () => {
  const machine = connected()
  const each = watcher('/a', 'data')
  const result = () => {
    throw new ProtocolError('null where a value is required')
  }
  machine.submit(read('/a', { watcher: each, result }))
  machine.transmit(0)
  expect(typesOf(machine.received(replyFrame({ xid: 1 }), 1))).toEqual(['reject', 'hangUp', 'disconnected'])
  expect(each.phase).toBe('gone')
})

test.each([
  [1, ['removeWatches /a']],
  [2, []],
])('SessionMachine with %i watchers, one of whose reads has too long an answer, removes %j', (count, then) => {
  const machine = connected()
  const watchers = Array.from({ length: count }, () => watcher('/a', 'data'))
  for (const each of watchers) machine.submit(read('/a', { watcher: each }))
  machine.transmit(0)
  const head = replyFrame({ xid: 1 })
  head.set([1, 0, 0, 0])
  expect(typesOf(machine.received(head, 1))).toEqual(['reject'])
  expect(watchers[0]!.phase).toBe('gone')
  expect(namesIn(machine.transmit(1))).toEqual(then)
})

test('SessionMachine leaves a watch that another caller waits for, or has asked for', () => {
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
  // Otherwise it would count for ever as a waiting caller.
  expect(machine.pipeline.watches.unwatch(waiting)).toBe('Data')
})

test('WatchManager.unwatch gives the removal where the server has a watch that nothing else waits for', () => {
  const machine = connected()
  const [first, second, child] = [watcher('/a', 'data'), watcher('/a', 'exist'), watcher('/a', 'child')]
  for (const each of [first, second, child]) machine.submit(read('/a', { watcher: each }))
  expect(machine.pipeline.watches.unwatch(first)).toBeUndefined()
  machine.transmit(0)
  for (const xid of [1, 2, 3]) machine.received(replyFrame({ xid }), 1)
  expect(second.kind).toBe('data')
  expect([
    machine.pipeline.watches.unwatch(first),
    machine.pipeline.watches.unwatch(first),
    machine.pipeline.watches.unwatch(second),
  ]).toEqual([undefined, undefined, 'Data'])
  machine.takeOutputs()
  expect(machine.received(eventFrame('NodeDataChanged', '/a'), 2)).toMatchObject([{ type: 'anomaly' }])
  expect(machine.pipeline.watches.unwatch(child)).toBe('Children')
  expect(machine.pipeline.watches.unwatch(child)).toBeUndefined()
  expect(reconnect(machine, 3)).toEqual([])
})

test.each([
  ['data', 'NoNode', 'gone', 'data'],
  ['child', 'NoNode', 'gone', 'child'],
  ['exist', 'NoNode', 'set', 'exist'],
  ['exist', 'Ok', 'set', 'data'],
  ['data', 'Ok', 'set', 'data'],
] as const)('SessionMachine makes of a %s watch whose read is answered %s one that is %s', (kind, err, phase, then) => {
  const machine = connected()
  const each = watcher('/a', kind)
  machine.submit(read('/a', { watcher: each, answers: kind === 'exist' ? { NoNode: () => undefined } : {} }))
  machine.transmit(0)
  machine.received(replyFrame({ xid: 1, err }), 1)
  expect([each.phase, each.kind]).toEqual([phase, then])
})

test('WatchManager.take takes and notifies all watchers of a type, also those not set yet', () => {
  const machine = connected()
  const [data, child, asked] = [watcher('/a', 'data'), watcher('/a', 'child'), watcher('/a', 'data')]
  for (const each of [data, child]) machine.submit(read('/a', { watcher: each }))
  machine.transmit(0)
  for (const xid of [1, 2]) machine.received(replyFrame({ xid }), 1)
  machine.submit(read('/a', { watcher: asked }))
  expect(machine.pipeline.watches.take('/a', 'Data')).toBe(true)
  expect(watchersOf(machine.takeOutputs())).toEqual([data, asked])
  expect(machine.pipeline.watches.take('/a', 'Any')).toBe(true)
  expect(watchersOf(machine.takeOutputs())).toEqual([child])
  expect(machine.pipeline.watches.take('/a', 'Any')).toBe(false)
  // The reply comes later: the removal behind it has taken the watch off the server by then.
  machine.transmit(1)
  machine.received(replyFrame({ xid: 3 }), 2)
  expect([data.phase, child.phase, asked.phase]).toEqual(['gone', 'gone', 'gone'])
})

const watchersOf = (outputs: readonly Output[]) =>
  outputs.flatMap((output) => (output.type === 'notify' ? [output.watcher] : []))
