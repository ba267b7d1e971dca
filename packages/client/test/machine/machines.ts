// Session machines, driven by hand: no driver, no timer, no promise.
import { ConnectRequest, decode, type ServerAddress, type TypeOf } from '@zk/wire'
import { expect } from 'vitest'
import type { SessionConfig } from '../../src/session/protocol/config.ts'
import { NO_LIMITS } from '../../src/session/requests/flow.ts'
import { Names } from '../../src/session/servers/names.ts'
import { ServerLists } from '../../src/session/servers/server-lists.ts'
import { SessionMachine } from '../../src/session/protocol/session-machine.ts'
import type { Output } from '../../src/session/protocol/output.ts'
import type { Request } from '../../src/session/requests/request.ts'
import type { State } from '../../src/session/protocol/states.ts'
import { bodiesIn, connectReply, namesIn } from '../support/machine-frames.ts'
import type { Handshake } from '../support/frames.ts'

export const T = 30_000
export const broken = new Error('read ECONNRESET')
const zk1 = { host: 'zk1', port: 2181 }
export const three = ['zk1', 'zk2', 'zk3'].map((host) => ({ host, port: 2181 }))

export interface MachineConfig extends Omit<Partial<SessionConfig>, 'servers'> {
  readonly servers?: readonly ServerAddress[]
}

export function machineOf({ servers = [zk1], ...config }: MachineConfig = {}): SessionMachine {
  return new SessionMachine({
    servers: new ServerLists(servers),
    names: new Names(),
    hostProvider: undefined,
    resume: undefined,
    readOnly: false,
    sessionTimeout: T,
    localExpiry: undefined,
    maxResponseSize: 4 * 1024 * 1024,
    limits: NO_LIMITS,
    credentials: [],
    seed: 0x5eed,
    startAt: 0,
    connectBy: Infinity,
    ...config,
  })
}

/** From waiting to connected, at once; returns the outputs of the machine to the handshake's answer. */
export function connect(machine: SessionMachine, now: number, handshake?: Handshake): readonly Output[] {
  machine.elapse(now)
  if (machine.state.name === 'resolving') machine.resolved(machine.state.target.host, ['10.0.0.1'], now)
  machine.opened()
  machine.transmit(now)
  return machine.received(connectReply(handshake), now)
}

/** A machine with a session, at 0. */
export function connected(config?: MachineConfig, handshake?: Handshake): SessionMachine {
  const machine = machineOf(config)
  connect(machine, 0, handshake)
  return machine
}

/** One that has lost its connection at `now`. */
export function lost(machine: SessionMachine, now: number): SessionMachine {
  machine.lost(broken, now)
  expect(machine.state.name).toBe('waiting')
  return machine
}

/** Loses the connection and makes the next one: what the client sends on it. */
export function reconnect(machine: SessionMachine, now: number): string[] {
  lost(machine, now)
  const at = machine.deadline()
  connect(machine, at)
  return namesIn(machine.transmit(at))
}

export const typesOf = (outputs: readonly Output[]) => outputs.map(({ type }) => type)
export const nameOf = (machine: SessionMachine): State['name'] => machine.state.name

export function rejectionOf(outputs: readonly Output[], request: Request): unknown {
  const output = outputs.find((each) => each.type === 'reject' && each.request === request)
  return output?.type === 'reject' ? output.error : undefined
}

export function connectRequest(machine: SessionMachine, now: number): TypeOf<typeof ConnectRequest> {
  return decode(ConnectRequest, bodiesIn(machine.transmit(now))[0]!)
}

/** One that waits for TCP. */
export function dialing(config?: MachineConfig): SessionMachine {
  const machine = machineOf(config)
  machine.elapse(0)
  return machine
}

/** One that waits for the answer to its ConnectRequest. */
export function handshaking(config?: MachineConfig): SessionMachine {
  const machine = dialing(config)
  machine.opened()
  machine.transmit(0)
  return machine
}

/** One whose session stands, with the first token of SASL on its way. */
export function authenticating(config?: MachineConfig, now = 0): SessionMachine {
  const machine = machineOf({ usesSasl: true, ...config })
  connect(machine, now)
  machine.prove(new Uint8Array(0), now)
  machine.transmit(now)
  return machine
}
