import { type SetWatches, SyncResponse, type TypeOf } from '@zk/wire'
import { expect, test } from 'vitest'
import type { Credential } from '../../src/operations/add-auth.ts'
import { authReply, namesIn, passwd, pingReply, requestsIn, SESSION_ID } from '../support/machine-frames.ts'
import { read, sync, watcher, write } from '../support/made-requests.ts'
import { eventFrame, replyFrame } from '../support/frames.ts'
import {
  broken,
  connect,
  connected,
  connectRequest,
  lost,
  machineOf,
  reconnect,
  rejectionOf,
  T,
  typesOf,
} from './machines.ts'

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
  machine.received(replyFrame({ xid: 3 }, SyncResponse, { path: '/' }), 200)
  expect(reconnect(machine, 300)).toEqual([])
})

test('SessionMachine takes an answer to its own sync that cannot be read for none: the next connection asks again', () => {
  const machine = connected()
  machine.submit(write('/a'))
  machine.transmit(0)
  expect(reconnect(machine, 1)).toEqual(['sync /'])
  expect(machine.received(replyFrame({ xid: 2 }), 200).at(-1)).toMatchObject({ type: 'disconnected' })
  connect(machine, machine.deadline())
  expect(namesIn(machine.transmit(300))).toEqual(['sync /'])
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
  expect(machine.servers.attempts).toMatchObject([{ server: 'zk1:2181', attempts: 8 }])
})

test('SessionMachine forgets earlier failures when a connection has stood for T/3', () => {
  const machine = machineOf()
  machine.elapse(0)
  machine.lost(new Error('refused'), 0)
  connect(machine, machine.deadline())
  expect(machine.servers.attempts).toHaveLength(1)
  lost(machine, 15_000)
  expect(machine.servers.attempts).toEqual([])
})

test('SessionMachine puts the requests of one turn into one segment, and many into several', () => {
  const machine = connected()
  for (let count = 0; count < 20_000; count++) machine.submit(read('/some/path/of/some/length'))
  const segments: number[] = []
  for (let bytes = machine.transmit(0); bytes !== undefined; bytes = machine.transmit(0))
    segments.push(bytes.byteLength)
  expect(segments.length).toBeGreaterThan(1)
  for (const size of segments) expect(size).toBeLessThan(256 * 1024 + 100)
  // The driver takes a smaller one for the last.
  for (const size of segments.slice(0, -1)) expect(size).toBeGreaterThanOrEqual(256 * 1024)
  expect(segments.reduce((sum, size) => sum + size, 0)).toBe(20_000 * (read('/some/path/of/some/length').size + 4))
})
