// The session's states and every way from one to another. This table is the whole of it: the machine cannot move
// otherwise, and the diagram in ARCHITECTURE.md is made from it.
//
// 1. A state carries what only it needs. What outlives a connection (id, password, T, requests, watches) is the
//    session's and stands beside the state.
// 2. `connected` means that the handshake succeeded, and SASL where it was asked for: requests may be sent.
// 3. `ended` is final. A new session is a new machine.
import type { FrameDecoder } from '@zk/wire'
import type { KeeperErrorCode } from '../../errors.ts'
import type { Target } from '../servers/server-picker.ts'
import type { ReadWriteSearch } from '../servers/read-write-search.ts'
import type { SaslHandshake } from './sasl-handshake.ts'

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
  /** the session stands; who we are is being proved by SASL */
  | {
      readonly name: 'authenticating'
      readonly server: string
      readonly target: Target
      readonly by: number
      readonly frames: FrameDecoder
      readonly readOnly: boolean
      readonly sasl: SaslHandshake
    }
  /** requests flow */
  | {
      readonly name: 'connected'
      readonly server: string
      readonly target: Target
      readonly frames: FrameDecoder
      readonly since: number
      /** At a read-only server: the search for one that takes writes. */
      readonly search: ReadWriteSearch | undefined
      /** To go to another server as soon as nothing is unanswered, and why. */
      readonly leaving: Error | undefined
    }
  | { readonly name: 'ended'; readonly reason: EndReason }

/** What is said when a state that has a `by` does not end in time. */
export const tooSlow = {
  dialing: 'no TCP connection in time',
  handshaking: 'no answer to the handshake in time',
  authenticating: 'SASL was not through in time',
} as const satisfies Record<Extract<State, { by: number }>['name'], string>

export type EndReason =
  /** the server said so, or nothing was heard for so long that it must be so */
  | 'SessionExpired'
  /** the server refused the credentials */
  | 'AuthFailed'
  /** close() */
  | 'Closed'
  /** connect() found no server in time */
  | 'Unreachable'

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
  connected: { lost: 'waiting', expired: 'ended', authFailed: 'ended', closed: 'ended' },
  ended: {},
} as const satisfies Record<State['name'], Partial<Record<string, State['name']>>>

export type Trigger = { [S in State['name']]: keyof (typeof transitions)[S] }[State['name']]

/** The state that `trigger` leads to from `from`, or undefined where the table has no such way. */
export function transitionFrom(from: State['name'], trigger: Trigger): State['name'] | undefined {
  return (transitions[from] as Partial<Record<Trigger, State['name']>>)[trigger]
}

/** Throws where the table has no such way: a mistake of ours. */
export function assertTransition(from: State['name'], trigger: Trigger, to: State['name']): void {
  if (transitionFrom(from, trigger) !== to) throw new Error(`no way from ${from} by ${trigger} to ${to}`)
}

/** The code that calls reject with in a session that ended so. */
export const endCode = {
  SessionExpired: 'SessionExpired',
  AuthFailed: 'AuthFailed',
  Closed: 'Closed',
  Unreachable: 'ConnectionLoss',
} as const satisfies Record<EndReason, KeeperErrorCode>

/** The trigger by which a session ends so. */
export const endTrigger = {
  SessionExpired: 'expired',
  AuthFailed: 'authFailed',
  Closed: 'closed',
  Unreachable: 'unreachable',
} as const satisfies Record<EndReason, Trigger>
