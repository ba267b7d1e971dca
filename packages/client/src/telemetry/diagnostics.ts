// The messages of the client on `node:diagnostics_channel`, and how they are published. A channel without a subscriber costs
// nothing. Messages never contain data of nodes, or credentials. In JSON their bigints are text, `0x…`, and their errors
// messages.
import { channel } from 'node:diagnostics_channel'
import type { KeeperErrorCode } from '../base/errors.ts'
import { inJson } from '../base/in-json.ts'
import type { OneShotOutcome } from '../session/watches/watchers.ts'
import type { ClientState } from './client-state.ts'
import type { ClientStats } from './stats.ts'

/** The client, its session and its server. */
interface Place {
  /** The name of the client: see the option `advanced.name`. */
  readonly client: string
  /** 0n before a server has given an id. */
  readonly sessionId: bigint
  /** `host:port`; undefined while there is no connection. */
  readonly server: string | undefined
}

/**
 * One call. All events of the call have the same message object. The events are those of a `TracingChannel` named
 * `zk:request`: `start` in the caller's async context, `end` right after it, `error` if the call fails, `asyncStart` and
 * `asyncEnd` when it has settled.
 */
export interface RequestMessage extends Place {
  /** The name of the client's method. */
  readonly op: string
  /** The path, as the caller named it. */
  readonly path: string | undefined
  /**
   * The paths of the operations of a `multi` or a `multiRead`, in order, as the caller named them; undefined for other calls.
   */
  readonly paths: readonly string[] | undefined
  /**
   * This and the fields below are undefined until the call has settled. The xid stays undefined if the call was never sent.
   */
  xid: number | undefined
  /** The time since the call, in ms. */
  duration: number | undefined
  /** `Ok`, the error's code, `Aborted`, or `Other` for an error that is not a `KeeperError`. */
  code: KeeperErrorCode | 'Ok' | 'Aborted' | 'Other' | undefined
  /** `outcomeUnknown` of the `KeeperError`; false if the call succeeded, was aborted, or failed with another error. */
  outcomeUnknown: boolean | undefined
  /**
   * The error of the call; undefined if the call succeeded. It is also undefined if the library itself expects the code, for
   * instance `NoNode` for the first lock on a path: then `code` is set, but the event `error` is not published.
   */
  error: unknown
}

/** What a subscriber may read of a client at any time. A `ZooKeeper` is one. */
interface ObservedClient {
  /** The current state. */
  readonly state: ClientState
  /** The statistics since `connect`. */
  stats(): ClientStats
}

/** The diagnostics channels of the client, by name, with their messages. `tracing:zk:request:*` have `RequestMessage`. */
export interface ClientMessages {
  /** An anomaly: a breach of the protocol that the client survived. */
  'zk:anomaly': Place & { readonly what: string }
  /** `connect` was called. `zk` is the client, which has no session yet: for its state and its statistics from the beginning. */
  'zk:client': { readonly client: string; readonly zk: ObservedClient }
  /**
   * `failed`: an attempt has failed. `lost`: an established connection has ended. `duration` is that of the failed look-up,
   * of the failed attempt at one address, or of the lost connection, in ms. `isReconnected`: the session existed before.
   */
  'zk:connection': Place &
    (
      | { readonly event: 'dialing' }
      | { readonly event: 'established'; readonly readOnly: boolean; readonly isReconnected: boolean }
      | { readonly event: 'failed' | 'lost'; readonly reason: Error; readonly duration: number }
    )
  /** `timeout` is the session timeout in ms. */
  'zk:session': Place & {
    readonly event: 'established' | 'expired' | 'closed' | 'authFailed' | 'unreachable'
    readonly timeout: number
  }
  /** A watch has fired or was removed. `path` is the path on the server, with the chroot. */
  'zk:watch': Place & {
    readonly type: Exclude<OneShotOutcome['type'], 'SessionEnded'> | 'PersistentWatchRemoved'
    readonly path: string
    readonly zxid: bigint | undefined
  }
  /**
   * Only with the option `traceFrames`: the header of one frame, and its size in bytes, without the 4 bytes of the length.
   */
  'zk:frame': Place & {
    readonly direction: 'sent' | 'received'
    readonly size: number
    /** Undefined for the two frames of the handshake. */
    readonly xid: number | undefined
    /** Undefined for a frame that was received. */
    readonly opCode: number | undefined
    /** Undefined for a frame that was sent. */
    readonly err: number | undefined
  }
}

/**
 * The channels of the `TracingChannel` with this name. Its class is not used: some runtimes lack it, and its methods settle
 * promises later. All events of a call have the same message object.
 */
export class CallChannels {
  readonly #start
  readonly #end
  readonly #error
  readonly #asyncStart
  readonly #asyncEnd

  constructor(name: string) {
    this.#start = channel(`tracing:${name}:start`)
    this.#end = channel(`tracing:${name}:end`)
    this.#error = channel(`tracing:${name}:error`)
    this.#asyncStart = channel(`tracing:${name}:asyncStart`)
    this.#asyncEnd = channel(`tracing:${name}:asyncEnd`)
  }

  /** Whether anybody follows the calls. */
  get hasSubscribers(): boolean {
    return (
      this.#start.hasSubscribers ||
      this.#asyncEnd.hasSubscribers ||
      this.#error.hasSubscribers ||
      this.#end.hasSubscribers ||
      this.#asyncStart.hasSubscribers
    )
  }

  /** Publishes that the call was made. Called in the async context of the caller. */
  begin(message: object): void {
    publish(this.#start, message)
    publish(this.#end, message)
  }

  /** Publishes that the call has settled: with an `error` if it failed. */
  settle(message: { readonly error: unknown }): void {
    if (message.error !== undefined) publish(this.#error, message)
    publish(this.#asyncStart, message)
    publish(this.#asyncEnd, message)
  }
}

/**
 * Publishes a message, which is plain data. If a subscriber throws, Node emits `uncaughtException`. Other runtimes may throw
 * here: this is ignored.
 */
export function publish(channel: { publish(message: unknown): void }, message: object): void {
  try {
    channel.publish('toJSON' in message ? message : inJson(message))
  } catch {}
}
