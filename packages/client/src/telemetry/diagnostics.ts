// The messages of the client on `node:diagnostics_channel`. A channel without a subscriber costs nothing. No message has data
// of nodes, or a credential.
import { type Channel, channel } from 'node:diagnostics_channel'
import type { KeeperErrorCode } from '../errors.ts'
import type { OneShotOutcome } from '../session/watches/watchers.ts'

/** The session and its server. */
interface Place {
  /** 0n while there is none. */
  readonly sessionId: bigint
  /** `host:port`; undefined while there is no connection. */
  readonly server: string | undefined
}

/**
 * One call. All its events have the same object. They are those of a `TracingChannel` named `zk:request`: `start` in the
 * caller's async context, `end` at once, `error` for a failure, `asyncStart` and `asyncEnd` when it has settled.
 */
export interface RequestMessage extends Place {
  /** The name of the client's method. */
  readonly op: string
  /** The path, as the caller named it. */
  readonly path: string | undefined
  /** The paths of the operations of a `multi` or a `multiRead`, by position, as the caller named them; else undefined. */
  readonly paths: readonly string[] | undefined
  /**
   * From here on all fields are undefined until the call has settled. The xid stays undefined for a call that was never sent.
   */
  xid: number | undefined
  /** The time since the call, in ms. */
  duration: number | undefined
  /** `Ok`, the error's code, `Aborted`, or `Other` for an error that is no `KeeperError`. */
  code: KeeperErrorCode | 'Ok' | 'Aborted' | 'Other' | undefined
  /** That of the `KeeperError`; false for a call that succeeded, was aborted, or failed with another error. */
  outcomeUnknown: boolean | undefined
  /**
   * The error of the call. undefined where it succeeded, and where the library made the call itself and handles the code as
   * an answer. An example is the `NoNode` of the first lock on a path: it has a `code`, and the event `error` is not
   * published.
   */
  error: unknown
}

/** The diagnostics channels of the client, by name, with their messages. `tracing:zk:request:*` have `RequestMessage`. */
export interface ClientMessages {
  /** An anomaly: something that the protocol does not foresee, and after which the client went on. */
  'zk:anomaly': Place & { readonly what: string }
  /**
   * `failed` ends an attempt without a connection, `lost` an established connection. `reason` is an error. `duration` is in
   * ms: of the look-up, or of the attempt at the address, or of the connection.
   */
  'zk:connection': Place &
    (
      | { readonly event: 'dialing' }
      | { readonly event: 'established'; readonly readOnly: boolean }
      | { readonly event: 'failed' | 'lost'; readonly reason: Error; readonly duration: number }
    )
  /** `timeout` is the session timeout in ms. */
  'zk:session': Place & {
    readonly event: 'established' | 'expired' | 'closed' | 'authFailed' | 'unreachable'
    readonly timeout: number
  }
  /** A watch has fired or was removed. `path` is the server's. */
  'zk:watch': Place & {
    readonly type: Exclude<OneShotOutcome['type'], 'SessionEnded'> | 'PersistentWatchRemoved'
    readonly path: string
    readonly zxid: bigint | undefined
  }
  /** With `traceFrames` only: the header of one frame, and its size in bytes without the four of its length. */
  'zk:frame': Place & {
    readonly direction: 'sent' | 'received'
    readonly size: number
    /** Undefined for the two frames of the handshake. */
    readonly xid: number | undefined
    /** Only of a request. */
    readonly opCode: number | undefined
    /** Only of an answer. */
    readonly err: number | undefined
  }
}

const channels = {
  'zk:anomaly': channel('zk:anomaly'),
  'zk:connection': channel('zk:connection'),
  'zk:session': channel('zk:session'),
  'zk:watch': channel('zk:watch'),
  'zk:frame': channel('zk:frame'),
} as const satisfies Record<keyof ClientMessages, Channel>

// The names of a TracingChannel. Not every runtime has the class, and its methods add turns to promises.
const [start, end, asyncStart, asyncEnd, failed] = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map((event) =>
  channel(`tracing:zk:request:${event}`),
) as [Channel, Channel, Channel, Channel, Channel]

export function report<Name extends keyof ClientMessages>(name: Name, message: () => ClientMessages[Name]): void {
  if (channels[name].hasSubscribers) publish(channels[name], message())
}

export function tracesRequests(): boolean {
  return (
    start.hasSubscribers ||
    asyncEnd.hasSubscribers ||
    failed.hasSubscribers ||
    end.hasSubscribers ||
    asyncStart.hasSubscribers
  )
}

export function traceCall(message: RequestMessage): void {
  publish(start, message)
  publish(end, message)
}

export function traceSettled(message: RequestMessage): void {
  if (message.error !== undefined) publish(failed, message)
  publish(asyncStart, message)
  publish(asyncEnd, message)
}

/** Node emits `uncaughtException` for a subscriber that throws. Other runtimes may throw here. It stops nothing. */
export function publish(channel: { publish(message: unknown): void }, message: unknown): void {
  try {
    channel.publish(message)
  } catch {}
}
