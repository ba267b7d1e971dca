// The two state machines of a session: the `Phase` of the session, and the `State` of its connection. Each has a table of all
// its transitions. The diagrams in ARCHITECTURE.md are drawn from the tables.
//
// 1. A state has the data that only this state needs. Data that outlives a connection (id, password, T, requests, watches)
//    belongs to the session, beside the states.
// 2. `connected` means that the handshake succeeded, and also SASL if it is used: requests may be sent.
// 3. `ended` is final, and is entered in both tables at once. A new session is a new machine.
import type { FrameDecoder } from '@zk/wire'
import type { KeeperErrorCode } from '../../base/errors.ts'
import type { Target } from '../servers/server-picker.ts'
import type { Search } from '../servers/search.ts'
import type { SaslHandshake } from './sasl-handshake.ts'

export type Phase =
  /** callers may use the session */
  | { readonly name: 'open' }
  /** `detach` was called, and recipes still release their holds; the session is left at `by` at the latest */
  | { readonly name: 'detaching'; readonly by: number }
  /** the last request is queued or sent, and no other is accepted; the session is closed or left at `by` at the latest */
  | { readonly name: 'closing'; readonly by: number }
  | { readonly name: 'ended'; readonly reason: EndReason }

export type State =
  /** there is no connection, and the next attempt begins at `until` */
  | { readonly name: 'waiting'; readonly until: number }
  /** the host name is looked up; at `by` its last known addresses are used, or another server is tried */
  | {
      readonly name: 'resolving'
      readonly server: string
      readonly target: Target
      readonly since: number
      readonly by: number
    }
  /** the TCP connection is made */
  | { readonly name: 'dialing'; readonly server: string; readonly target: Target; readonly by: number }
  /** the ConnectRequest is due or unanswered */
  | {
      readonly name: 'handshaking'
      readonly server: string
      readonly target: Target
      readonly by: number
      readonly frames: FrameDecoder
      readonly connectRequest: 'due' | 'sent'
    }
  /** the handshake succeeded, and SASL proves the client's identity */
  | {
      readonly name: 'authenticating'
      readonly server: string
      readonly target: Target
      readonly by: number
      readonly frames: FrameDecoder
      readonly readOnly: boolean
      readonly sasl: SaslHandshake
    }
  /** requests are sent */
  | {
      readonly name: 'connected'
      readonly server: string
      readonly target: Target
      readonly frames: FrameDecoder
      readonly readOnly: boolean
      readonly since: number
      /** The search for another server: at a read-only server, or after a change of the list. */
      readonly search: Search | undefined
    }
  /** the session moves to another server: the connection ends as soon as all requests are answered */
  | {
      readonly name: 'leaving'
      readonly server: string
      readonly target: Target
      readonly frames: FrameDecoder
      readonly readOnly: boolean
      readonly since: number
      readonly why: Error
    }
  | { readonly name: 'ended' }

/** The messages of the errors if a state with a `by` does not end in time. */
export const tooSlow = {
  resolving: 'the name was not resolved in time',
  dialing: 'no TCP connection in time',
  handshaking: 'no answer to the handshake in time',
  authenticating: 'SASL was not complete in time',
} as const satisfies Record<Extract<State, { by: number }>['name'], string>

export type EndReason =
  /** a server has answered that the session is gone, or no server has answered for so long that it must be gone */
  | 'SessionExpired'
  /** the server refused the credentials */
  | 'AuthFailed'
  /** close() */
  | 'Closed'
  /** connect() found no server in time */
  | 'Unreachable'

/** The transitions between phases of a session. */
export const phases = {
  open: {
    detach: 'detaching',
    close: 'closing',
    expired: 'ended',
    authFailed: 'ended',
    closed: 'ended',
    unreachable: 'ended',
  },
  detaching: { close: 'closing', expired: 'ended', authFailed: 'ended', closed: 'ended', unreachable: 'ended' },
  closing: { authFailed: 'ended', closed: 'ended', unreachable: 'ended' },
  ended: {},
} as const satisfies Record<Phase['name'], Partial<Record<string, Phase['name']>>>

export type PhaseTrigger = { [P in Phase['name']]: keyof (typeof phases)[P] }[Phase['name']]

/** The transitions between states of its connection. */
export const transitions = {
  waiting: { lookUp: 'resolving', dial: 'dialing', expired: 'ended', closed: 'ended', unreachable: 'ended' },
  resolving: { dial: 'dialing', lost: 'waiting', expired: 'ended', closed: 'ended' },
  dialing: { opened: 'handshaking', lost: 'waiting', expired: 'ended', closed: 'ended' },
  handshaking: {
    established: 'connected',
    accepted: 'authenticating',
    lost: 'waiting',
    expired: 'ended',
    closed: 'ended',
  },
  authenticating: { proved: 'connected', lost: 'waiting', expired: 'ended', authFailed: 'ended', closed: 'ended' },
  connected: { leave: 'leaving', lost: 'waiting', expired: 'ended', authFailed: 'ended', closed: 'ended' },
  leaving: { stay: 'connected', lost: 'waiting', expired: 'ended', authFailed: 'ended' },
  ended: {},
} as const satisfies Record<State['name'], Partial<Record<string, State['name']>>>

export type Trigger = { [S in State['name']]: keyof (typeof transitions)[S] }[State['name']]

type Table = Readonly<Record<string, Partial<Record<string, string>>>>

/** The state to which `trigger` leads from the state `from`; undefined if the table has no such transition. */
export function transitionFrom(table: Table, from: string, trigger: string): string | undefined {
  return table[from]?.[trigger]
}

/** Throws if the table has no such transition, which is a mistake in the machine. */
export function assertTransition(table: Table, from: string, trigger: string, to: string): void {
  if (transitionFrom(table, from, trigger) !== to) throw new Error(`no transition from ${from} by ${trigger} to ${to}`)
}

/** The code with which calls reject in a session that ended for this reason. */
export const endCode = {
  SessionExpired: 'SessionExpired',
  AuthFailed: 'AuthFailed',
  Closed: 'Closed',
  Unreachable: 'ConnectionLoss',
} as const satisfies Record<EndReason, KeeperErrorCode>

/** The code with which a new request is rejected in this phase; undefined if it is accepted. */
export function refusalIn(phase: Phase): KeeperErrorCode | undefined {
  if (phase.name === 'closing') return 'Closed'
  return phase.name === 'ended' ? endCode[phase.reason] : undefined
}

/** The trigger, in both tables, of each reason. */
export const endTrigger = {
  SessionExpired: 'expired',
  AuthFailed: 'authFailed',
  Closed: 'closed',
  Unreachable: 'unreachable',
} as const satisfies Record<EndReason, Trigger & PhaseTrigger>
