// The states of a session, and every transition. The session has two states at a time: a phase of its life, and the state of
// its connection. The machine can make only the transitions in these two tables. The diagrams in ARCHITECTURE.md are made
// from them.
//
// 1. A state has the data that only it needs. Data that outlives a connection (id, password, T, requests, watches) belongs to
//    the session, beside the states.
// 2. `connected` means that the handshake succeeded, and SASL where it is used: requests may be sent.
// 3. `ended` is final, in both tables at once. A new session is a new machine.
import type { FrameDecoder } from '@zk/wire'
import type { KeeperErrorCode } from '../../errors.ts'
import type { Target } from '../servers/server-picker.ts'
import type { ReadWriteSearch } from '../servers/read-write-search.ts'
import type { SaslHandshake } from './sasl-handshake.ts'

export type Phase =
  /** the caller uses it */
  | { readonly name: 'open' }
  /** it is about to be left, and recipes still release their holds; at `by` it is over in any case */
  | { readonly name: 'detaching'; readonly by: number }
  /** its last request is queued or sent, and no other is accepted; at `by` it is over in any case */
  | { readonly name: 'closing'; readonly by: number }
  | { readonly name: 'ended'; readonly reason: EndReason }

export type State =
  /** between two attempts */
  | { readonly name: 'waiting'; readonly until: number }
  /** a name is looked up and a TCP connection made */
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
  /** the session is established, and SASL proves the client's identity */
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
      readonly since: number
      /** At a read-only server: the search for one that takes writes. */
      readonly search: ReadWriteSearch | undefined
    }
  /** the connection ends as soon as everything is answered: the session moves to another server */
  | {
      readonly name: 'leaving'
      readonly server: string
      readonly target: Target
      readonly frames: FrameDecoder
      readonly since: number
      readonly why: Error
    }
  | { readonly name: 'ended' }

/** The errors of states that have a `by`, and do not end in time. */
export const tooSlow = {
  dialing: 'no TCP connection in time',
  handshaking: 'no answer to the handshake in time',
  authenticating: 'SASL was not through in time',
} as const satisfies Record<Extract<State, { by: number }>['name'], string>

export type EndReason =
  /** a server has answered that it is gone, or no server has answered for so long that it must be gone */
  | 'SessionExpired'
  /** the server refused the credentials */
  | 'AuthFailed'
  /** close() */
  | 'Closed'
  /** connect() found no server in time */
  | 'Unreachable'

/** The phases of a session's life. */
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

/** The states of its connection. */
export const transitions = {
  waiting: { dial: 'dialing', expired: 'ended', closed: 'ended', unreachable: 'ended' },
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

/** The state that `trigger` leads to from `from`, or undefined where the table has no such transition. */
export function transitionFrom(table: Table, from: string, trigger: string): string | undefined {
  return table[from]?.[trigger]
}

/** Throws where the table has no such transition: a mistake of ours. */
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

/** The code with which a request is rejected at its call, in a session that accepts no more. */
export function refusalIn(phase: Phase): KeeperErrorCode | undefined {
  if (phase.name === 'closing') return 'Closed'
  return phase.name === 'ended' ? endCode[phase.reason] : undefined
}

/** The trigger of this end of a session. */
export const endTrigger = {
  SessionExpired: 'expired',
  AuthFailed: 'authFailed',
  Closed: 'closed',
  Unreachable: 'unreachable',
} as const satisfies Record<EndReason, Trigger & PhaseTrigger>
