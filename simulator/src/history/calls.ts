// What happened in a history of plain calls, as the caller saw it.
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
  /** With the reason of its signal. */
  | { readonly how: 'aborted' }

/**
 * Of a client's sessions `term` counts all that it ever had, from 0, over all clients that ran in its place. Times that were
 * given are by the clock of the client.
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
  /** A watch has told something: the type of an event, or the cause of a gap. */
  | { readonly type: 'told'; readonly call: number; readonly what: string; readonly path: string }
  /** A watch was taken back: what it is told from now on is nothing that counts. */
  | { readonly type: 'left'; readonly call: number }
  | { readonly type: 'aborts'; readonly client: number; readonly turn: number }
  | { readonly type: 'connecting'; readonly client: number; readonly term: number; readonly within: number }
  | { readonly type: 'connected'; readonly client: number; readonly error?: string }
  /** A session is the current one, or is no more. */
  | { readonly type: 'began'; readonly client: number; readonly term: number }
  | {
      readonly type: 'ended'
      readonly client: number
      readonly term: number
      readonly code: string
      /** What the protocol does not foresee, counted by the session. */
      readonly anomalies: number
    }
  | { readonly type: 'closing'; readonly client: number; readonly term: number; readonly within: number }
  | { readonly type: 'closed'; readonly client: number }
  /** So many listeners are left on signals when all is over. */
  | { readonly type: 'listeners'; readonly client: number; readonly count: number }

/** When something happened, besides the time. */
export interface Place {
  /** Which event of the world it was in: promises are drained within one. */
  readonly step: number
  /** Of all that was noted: what came first has the lower one. */
  readonly order: number
}
