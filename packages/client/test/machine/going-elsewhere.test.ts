// From one server to another of one's own accord, and to one address of a name after the other.
import { expect, test } from 'vitest'
import { deadlines } from '../../src/session/protocol/deadlines.ts'
import { connectReply } from '../support/machine-frames.ts'
import {
  broken,
  connect,
  connected,
  connectRequest,
  dialing,
  lost,
  machineOf,
  nameOf,
  T,
  three,
  typesOf,
} from './machines.ts'

const zk2 = { host: 'zk2', port: 2181 }

test('SessionMachine.updateServers leaves a removed server once a listed server has proven itself', () => {
  const machine = connected()
  expect(typesOf(machine.updateServers([zk2], 'program', 5_000))).toEqual([])
  expect(machine.elapse(5_000)).toMatchObject([{ type: 'probe', target: zk2 }])
  expect(typesOf(machine.probed(undefined, zk2, 5_010))).toEqual(['hangUp', 'disconnected'])
  expect(machine.deadline()).toBe(5_010)
  expect(machine.elapse(5_010)).toMatchObject([{ type: 'dial', target: zk2 }])
  expect(machine.servers.attempts).toEqual([])
  // It fails all the same: then back to where it was.
  machine.lost(broken, 5_020)
  expect(machine.elapse(machine.deadline())).toMatchObject([{ type: 'dial', target: { host: 'zk1' } }])
})

test('SessionMachine.updateServers gives up an attempt at a server that is gone', () => {
  const machine = dialing()
  expect(typesOf(machine.updateServers([zk2], 'program', 10))).toEqual(['hangUp', 'unreached'])
  expect(machine.elapse(machine.deadline())).toMatchObject([{ type: 'dial', target: zk2 }])
})

test('SessionMachine.updateServers changes nothing of a session that has ended, nor of one that waits', () => {
  const waiting = lost(connected(), 1_000)
  const { until } = waiting.state as Extract<typeof waiting.state, { name: 'waiting' }>
  expect(waiting.updateServers([zk2], 'program', 1_000)).toEqual([])
  expect(waiting.state).toEqual({ name: 'waiting', until })
  const ended = connected()
  ended.lost(broken, 1_000)
  ended.elapse(10 * T)
  expect(ended.updateServers([zk2], 'program', 10 * T)).toEqual([])
  expect(nameOf(ended)).toBe('ended')
})

test('SessionMachine.resolved dials one address, and gives it its part of the time, look-up included', () => {
  const machine = machineOf({ looksUpNames: true })
  machine.elapse(0)
  expect(machine.resolved('zk1', ['10.0.0.1', '10.0.0.2'], 500)).toMatchObject([
    { type: 'dial', target: { host: 'zk1' } },
  ])
  expect(machine.state).toMatchObject({ name: 'dialing', server: 'zk1:2181', by: T / 3 })
  machine.lost(broken, 2_000)
  // The other at once, without another look-up.
  expect(machine.deadline()).toBe(2_000)
  expect(machine.elapse(2_000)).toMatchObject([{ type: 'dial', target: { host: 'zk1' } }])
  expect(new Set(machine.servers.attempts.map(({ address }) => address)).size).toBe(1)
})

test('SessionMachine.resolved gives an address half an attempt after a slow look-up', () => {
  const sessionTimeout = 15_000
  const machine = machineOf({ servers: three, looksUpNames: true, sessionTimeout })
  machine.elapse(0)
  const { target } = machine.state as Extract<typeof machine.state, { name: 'resolving' }>
  const addresses = Array.from({ length: 30 }, (_, index) => `10.0.0.${index + 1}`)
  machine.resolved(target.host, addresses, 900)
  const { by } = machine.state as Extract<typeof machine.state, { name: 'dialing' }>
  expect(by).toBeGreaterThanOrEqual(900 + deadlines.connect({ T: sessionTimeout, servers: 32 }) / 2)
})

test('SessionMachine.resolved keeps the turn of a server whose look-up was overtaken', () => {
  const machine = machineOf({ servers: [zk2, { host: 'zk3', port: 2181 }], looksUpNames: true })
  const resolving = () => (machine.state as Extract<typeof machine.state, { name: 'resolving' }>).target.host
  machine.elapse(0)
  const postponed = resolving()
  machine.elapse(machine.deadline())
  machine.elapse(machine.deadline())
  const overtaken = resolving()
  expect(overtaken).not.toBe(postponed)
  expect(machine.resolved(postponed, ['10.0.0.1'], 1_500)).toMatchObject([
    { type: 'dial', target: { host: postponed } },
  ])
  expect(machine.resolved(overtaken, ['10.0.0.2'], 1_600)).toEqual([])
  machine.elapse(machine.deadline())
  const next = { host: overtaken, address: '10.0.0.2' }
  expect(machine.elapse(machine.deadline())).toMatchObject([{ type: 'dial', target: next }])
})

test('SessionMachine.resolved changes nothing of an established connection', () => {
  const machine = connected()
  expect(machine.resolved('zk1', ['10.0.0.1'], 10)).toEqual([])
  expect(nameOf(machine)).toBe('connected')
})

test('SessionMachine.probed goes to the server that takes writes, and is ignored at one that does', () => {
  const machine = machineOf({ readOnly: true })
  connect(machine, 0, { readOnly: true })
  expect(machine.state).toMatchObject({ name: 'connected', search: expect.anything() })
  const found = { host: 'zk1', port: 2181, address: '10.0.0.9' }
  const asked = machine.deadline()
  expect(typesOf(machine.elapse(asked))).toEqual(['probe'])
  expect(machine.probed(new Error('ro'), found, asked)).toEqual([])
  const again = machine.deadline()
  expect(typesOf(machine.elapse(again))).toEqual(['probe'])
  expect(typesOf(machine.elapse(again + 1_000))).toEqual(['endProbe'])
  const last = machine.deadline()
  machine.elapse(last)
  expect(typesOf(machine.probed(undefined, found, last))).toEqual(['hangUp', 'disconnected'])
  expect(machine.elapse(last)).toMatchObject([{ type: 'dial', target: found }])
  machine.opened()
  expect(connectRequest(machine, last)).toMatchObject({ sessionId: 0n, readOnly: true })
  machine.received(connectReply(), last)
  expect(machine.state).toMatchObject({ name: 'connected', search: undefined })
  expect(machine.probed(undefined, found, last)).toEqual([])
})

test('SessionMachine.close of a session to be resumed leaves it as it is until a server has taken it', () => {
  const machine = machineOf({ resume: { id: 5n, passwd: new Uint8Array(16) } })
  expect(typesOf(machine.close(0))).toEqual(['ended'])
  expect(nameOf(machine)).toBe('ended')
})
