import { ErrorCode } from '@zk/wire'
import { describe, expect, test } from 'vitest'
import type { SessionMachine } from '../../src/session/protocol/session-machine.ts'
import { type Phase, phases, type State, transitions } from '../../src/session/protocol/states.ts'
import { authReply, connectReply } from '../support/machine-frames.ts'
import { read } from '../support/made-requests.ts'
import { replyFrame } from '../support/frames.ts'
import { authenticating, broken, connected, dialing, handshaking, lost, machineOf, nameOf, T } from './machines.ts'

const zk2 = { host: 'zk2', port: 2181 }

type Life = { [From in Phase['name']]: `${From} ${keyof (typeof phases)[From] & string}` }[Phase['name']]
type Way = { [From in State['name']]: `${From} ${keyof (typeof transitions)[From] & string}` }[State['name']]

/** A machine whose session exists, on its way to the next connection. */
function again(to: 'resolving' | 'dialing' | 'handshaking'): SessionMachine {
  const machine = lost(connected({ looksUpNames: to === 'resolving' }), 39_000)
  machine.elapse(39_990)
  if (to === 'handshaking') machine.opened()
  expect(nameOf(machine)).toBe(to)
  return machine
}

/** A machine that leaves its server as soon as a read is answered. */
function leaving(): SessionMachine {
  const machine = connected()
  machine.submit(read())
  machine.transmit(0)
  machine.updateServers([zk2], 'program', 0)
  machine.elapse(0)
  machine.probed(undefined, zk2, 0)
  return machine
}

/** One whose first look-up is not answered. */
function resolving(): SessionMachine {
  const machine = machineOf({ looksUpNames: true })
  machine.elapse(0)
  return machine
}

function detaching(machine = connected()): SessionMachine {
  machine.detach(0)
  return machine
}

function closing(machine = connected()): SessionMachine {
  machine.close(0)
  return machine
}

/** For each way of the table: a machine about to go it, and what makes it go. */
const ways: Record<Way, () => [SessionMachine, (machine: SessionMachine) => void]> = {
  'waiting lookUp': () => [machineOf({ looksUpNames: true }), (machine) => machine.elapse(0)],
  'resolving dial': () => [resolving(), (machine) => machine.resolved('zk1', ['10.0.0.1'], 0)],
  'resolving lost': () => [resolving(), (machine) => machine.unresolved('zk1', broken, 0)],
  'resolving expired': () => [again('resolving'), (machine) => machine.elapse(40_000)],
  'resolving closed': () => [resolving(), (machine) => machine.close(0)],
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
  'connected leave': () => [
    connected(),
    (machine) => {
      machine.submit(read())
      machine.transmit(0)
      machine.updateServers([zk2], 'program', 0)
      machine.elapse(0)
      machine.probed(undefined, zk2, 0)
    },
  ],
  'leaving stay': () => [leaving(), (machine) => machine.close(0)],
  'leaving lost': () => [leaving(), (machine) => machine.lost(broken, 0)],
  'leaving expired': () => [leaving(), (machine) => machine.elapse(40_000)],
  'leaving authFailed': () => [leaving(), (machine) => machine.received(authReply(ErrorCode.AuthFailed), 0)],
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

const lives: Record<Life, () => [SessionMachine, (machine: SessionMachine) => void]> = {
  'open detach': () => [connected(), (machine) => machine.detach(0)],
  'open close': () => [connected(), (machine) => machine.close(0)],
  'open expired': () => [connected(), (machine) => machine.elapse(40_000)],
  'open authFailed': () => [connected(), (machine) => machine.received(authReply(ErrorCode.AuthFailed), 0)],
  'open closed': () => [machineOf(), (machine) => machine.close(0)],
  'open unreachable': () => [machineOf({ startAt: 10, connectBy: 5 }), (machine) => machine.elapse(5)],
  'detaching close': () => [detaching(), (machine) => machine.close(0)],
  'detaching expired': () => [detaching(), (machine) => machine.elapse(40_000)],
  'detaching authFailed': () => [detaching(), (machine) => machine.received(authReply(ErrorCode.AuthFailed), 0)],
  'detaching closed': () => [detaching(machineOf()), (machine) => machine.close(0)],
  'detaching unreachable': () => [detaching(machineOf({ startAt: 10, connectBy: 5 })), (machine) => machine.elapse(5)],
  'closing authFailed': () => [closing(), (machine) => machine.received(authReply(ErrorCode.AuthFailed), 0)],
  'closing closed': () => [closing(), (machine) => machine.elapse(T / 2)],
  // The server has answered the handshake, and SASL is not through when time is up.
  'closing unreachable': () => [closing(authenticating({ connectBy: 100 })), (machine) => machine.elapse(100)],
}

const nameOfPhase = ({ phase }: SessionMachine) => phase.name

interface Table {
  readonly transitions: Record<string, Partial<Record<string, string>>>
  readonly ways: Readonly<Record<string, () => [SessionMachine, (machine: SessionMachine) => void]>>
  readonly nameOf: (machine: SessionMachine) => string
}

describe.each<[string, Table]>([
  ['connection', { transitions, ways, nameOf }],
  ['life', { transitions: phases, ways: lives, nameOf: nameOfPhase }],
])('SessionMachine, the states of its %s', (_, { transitions: table, ways, nameOf }) => {
  test.each(Object.entries(ways))('SessionMachine goes the way %s', (way, begin) => {
    const [from, trigger] = way.split(' ') as [string, string]
    const [machine, go] = begin()
    expect(nameOf(machine)).toBe(from)
    go(machine)
    expect(nameOf(machine)).toBe(table[from]?.[trigger])
  })

  test('SessionMachine has no other way to go', () => {
    const all = Object.entries(table).flatMap(([from, to]) => Object.keys(to).map((trigger) => `${from} ${trigger}`))
    expect(Object.keys(ways).sort()).toEqual(all.sort())
  })

  test.each(Object.entries(ways))('SessionMachine throws when the table does not have the way %s', (way, begin) => {
    const [from, trigger] = way.split(' ') as [string, string]
    const [machine, go] = begin()
    const to = table[from]![trigger]!
    try {
      delete table[from]![trigger]
      expect(() => go(machine)).toThrow(`no transition from ${from} by ${trigger} to ${to}`)
    } finally {
      table[from]![trigger] = to
    }
  })
})
