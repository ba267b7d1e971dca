import type { SearchOutput } from '../servers/search.ts'
import type { Target } from '../servers/server-picker.ts'
import type { Request } from '../requests/request.ts'
import type { EndReason } from './states.ts'
import type { OneShotOutcome, PersistentOutcome, Watcher } from '../watches/watchers.ts'

/** What the driver must do. The driver performs the outputs in their order. */
export type Output =
  /**
   * the outputs of a search; an attempt to connect also uses `lookUp`: see `SessionMachine.resolved`, `unresolved` and `probed`
   */
  | SearchOutput
  | { readonly type: 'dial'; readonly target: Target }
  | { readonly type: 'hangUp' }
  /** write these bytes, and hang up when the server has answered, or after `deadlines.farewell` */
  | { readonly type: 'farewell'; readonly bytes: Uint8Array }
  /** begin a SASL exchange, and pass the result of the mechanism to `prove` or `unproved` */
  | { readonly type: 'saslStart'; readonly server: string }
  /** pass this token of the server to the SASL mechanism, and its result to `prove` or `unproved` */
  | { readonly type: 'saslChallenge'; readonly token: Uint8Array | undefined }
  | { readonly type: 'resolve'; readonly request: Request; readonly value: unknown }
  | { readonly type: 'reject'; readonly request: Request; readonly error: Error }
  | { readonly type: 'notify'; readonly watcher: Watcher; readonly outcome: OneShotOutcome | PersistentOutcome }
  /** report that a busy server has not executed the request; `RequestPipeline.#throttled` decides whether it is repeated */
  | { readonly type: 'throttled'; readonly request: Request }
  | { readonly type: 'connected'; readonly server: string; readonly readOnly: boolean }
  | Unreached
  /** `error` is undefined if the connection is closed because the session has ended */
  | { readonly type: 'disconnected'; readonly error: Error | undefined }
  | Ended
  /** report an anomaly: something that the protocol does not foresee */
  | { readonly type: 'anomaly'; readonly what: string }

/** The session is over. */
interface Ended {
  readonly type: 'ended'
  readonly reason: EndReason
  /**
   * Whether a server has ended the session, or has answered the last request. If not, the session may live on at the ensemble
   * for its timeout.
   */
  readonly byServer: boolean
  /** The server of the connection, even if the connection was not established yet. */
  readonly server: string | undefined
  /** Explains the end: the error of the SASL mechanism, or that a server has answered with another session. */
  readonly cause: Error | undefined
}

/** An attempt to connect has failed. */
interface Unreached {
  readonly type: 'unreached'
  readonly server: string
  /** The address, if the host name was resolved. */
  readonly address: string | undefined
  readonly error: Error
  /** Whether every server, one after the other, has received the handshake and closed the connection without an answer. */
  readonly everyServerCloses: boolean
  /** Whether that may be because they are behind the session: it has seen a transaction. */
  readonly ensembleBehind: boolean
  /** The number of addresses of all servers. A server whose name was not resolved counts as one. */
  readonly servers: number
}
