// The events of a history of plain calls, as the caller saw them.
import type { KeeperErrorCode } from '@zk/client'

/** How a call ended. */
export type Outcome =
  | { readonly how: 'resolved'; readonly text?: string }
  | {
      readonly how: 'rejected'
      readonly code: KeeperErrorCode
      readonly number: number | undefined
      readonly outcomeUnknown: boolean
    }
  /** It rejected with the reason of its signal. */
  | { readonly how: 'aborted' }

/**
 * `term` numbers the sessions of a client, from 0, over all clients that ran in its place. Times in arguments are by the
 * clock of the client.
 */
export type CallHappening =
  | {
      readonly type: 'called'
      readonly call: number
      readonly client: number
      readonly term: number
      /** The turn of the client's program: all its calls were made at once. */
      readonly turn: number
      readonly timeout: number
    }
  | { readonly type: 'settled'; readonly call: number; readonly outcome: Outcome }
  /** A watch has delivered something: the type of an event, or the cause of a gap. */
  | { readonly type: 'told'; readonly call: number; readonly what: string; readonly path: string }
  /** A watch was taken back: later events of it do not count. */
  | { readonly type: 'left'; readonly call: number }
  | { readonly type: 'aborts'; readonly client: number; readonly turn: number }
  | { readonly type: 'connecting'; readonly client: number; readonly term: number; readonly within: number }
  | { readonly type: 'connected'; readonly client: number; readonly error?: string }
  /** A session became the current one, or has ended. */
  | { readonly type: 'began'; readonly client: number; readonly term: number }
  | {
      readonly type: 'ended'
      readonly client: number
      readonly term: number
      readonly code: string
      /** The number of anomalies that the session has counted. */
      readonly anomalies: number
    }
  /** `session`: its id, `0x…`. */
  | {
      readonly type: 'closing'
      readonly client: number
      readonly term: number
      readonly within: number
      readonly session: string
    }
  | { readonly type: 'closed'; readonly client: number }
  /** How many listeners are left on signals at the end. */
  | { readonly type: 'listeners'; readonly client: number; readonly count: number }

/** The place of an event in the order of all. */
export interface Place {
  /** The event of the world in which it happened. Promises are drained within one event. */
  readonly step: number
  /** The number of the entry: earlier entries have lower numbers. */
  readonly order: number
}
