import { ErrorCode } from '@zk/wire'
import { expect, test } from 'vitest'
import type { SessionMachine } from '../../src/session/protocol/session-machine.ts'
import { type State, transitions, type Trigger } from '../../src/session/protocol/states.ts'
import { authReply, connectReply } from '../frames.ts'
import { replyFrame } from '../support/frames.ts'
import { authenticating, broken, connected, dialing, handshaking, lost, machineOf, nameOf } from './machines.ts'

type Way = { [From in State['name']]: `${From} ${keyof (typeof transitions)[From] & string}` }[State['name']]

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
  'handshaking accepted': () => [handshaking({ usesSasl: true }), (machine) => machine.received(connectReply(), 0)],
  'authenticating proved': () => [authenticating(), (machine) => machine.prove(undefined, 0)],
  'authenticating lost': () => [authenticating(), (machine) => machine.lost(broken, 0)],
  // A late attempt, which the time left to the session cuts short.
  'authenticating expired': () => [authenticating({ localExpiry: 1 }), (machine) => machine.elapse(30_000)],
  'authenticating authFailed': () => [
    authenticating(),
    (machine) => machine.received(replyFrame({ xid: 1, err: ErrorCode.AuthFailed }), 0),
  ],
  'authenticating closed': () => [
    authenticating(),
    (machine) => {
      machine.close(0)
      machine.elapse(15_000)
    },
  ],
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
