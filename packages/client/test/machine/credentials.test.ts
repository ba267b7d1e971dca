import { ErrorCode } from '@zk/wire'
import { expect, test } from 'vitest'
import type { Credential } from '../../src/operations/add-auth.ts'
import { authReply, namesIn } from '../support/machine-frames.ts'
import { adding, read, write } from '../support/made-requests.ts'
import { connect, connected, machineOf, reconnect, rejectionOf, typesOf } from './machines.ts'

const alice: Credential = { scheme: 'digest', auth: new Uint8Array(3) }

test('SessionMachine sends a credential at once, before requests, and resolves with its answer', () => {
  const machine = connected()
  machine.submit(read('/a'))
  const request = adding(alice)
  machine.submit(request)
  expect(namesIn(machine.transmit(0))).toEqual(['auth', 'getData /a'])
  expect(machine.received(authReply(), 1)).toEqual([{ type: 'resolve', request, value: undefined }])
})

test('SessionMachine sends a credential that came before the connection once, with the others', () => {
  const machine = machineOf({ credentials: [alice] })
  machine.submit(adding({ ...alice, scheme: 'ip' }))
  connect(machine, 0)
  expect(namesIn(machine.transmit(0))).toEqual(['auth', 'auth'])
})

test('SessionMachine ends when a credential is refused, and notifies all waiting callers', () => {
  const machine = connected()
  const [request, waiting] = [adding(alice), write('/a')]
  machine.submit(request)
  machine.submit(waiting)
  machine.transmit(0)
  const outputs = machine.received(authReply(ErrorCode.AuthFailed), 1)
  expect(typesOf(outputs)).toEqual(['reject', 'reject', 'hangUp', 'ended', 'disconnected'])
  expect(rejectionOf(outputs, request)).toMatchObject({ code: 'AuthFailed', outcomeUnknown: false })
  expect(rejectionOf(outputs, waiting)).toMatchObject({ code: 'AuthFailed', outcomeUnknown: true })
  expect(machine.phase).toEqual({ name: 'ended', reason: 'AuthFailed' })
})

test('SessionMachine sends what was not answered again on the next connection, and resolves each caller once', () => {
  const machine = connected()
  const [first, second] = [adding(alice), adding({ ...alice })]
  machine.submit(first)
  machine.submit(second)
  machine.transmit(0)
  expect(reconnect(machine, 1)).toEqual(['auth', 'auth'])
  const both = Uint8Array.from([...authReply(), ...authReply()])
  expect(machine.received(both, 100)).toMatchObject([
    { type: 'resolve', request: first },
    { type: 'resolve', request: second },
  ])
  expect(machine.received(authReply(), 101)).toEqual([])
})

test('SessionMachine does not notify a caller that has abandoned it of an accepted credential', () => {
  const machine = connected()
  const request = adding(alice)
  machine.submit(request)
  expect(namesIn(machine.transmit(0))).toEqual(['auth'])
  expect([machine.abandon(request), machine.abandon(request)]).toEqual([true, false])
  expect(machine.received(authReply(), 1)).toEqual([])
})

test('SessionMachine sends no credential that was abandoned in the turn of its call', () => {
  const machine = connected()
  const request = adding(alice)
  machine.submit(request)
  expect(machine.abandon(request)).toBe(true)
  expect(machine.transmit(0)).toBeUndefined()
})

test('SessionMachine lets a caller of addAuth time out, and be abandoned', () => {
  const machine = machineOf()
  const [timed, abandoned] = [adding(alice, 100), adding({ ...alice })]
  machine.submit(timed)
  machine.submit(abandoned)
  expect(machine.abandon(abandoned)).toBe(true)
  machine.elapse(0)
  expect(machine.deadline()).toBe(100)
  const outputs = machine.elapse(100)
  expect(rejectionOf(outputs, timed)).toMatchObject({ code: 'RequestTimeout', outcomeUnknown: false })
  expect(typesOf(outputs)).toEqual(['reject'])
})
