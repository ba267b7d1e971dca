import {
  AddWatchMode,
  encodeFrame,
  type ErrorName,
  errorName,
  type Reader,
  RequestHeader,
  type WatcherType,
  type Writer,
} from '@zk/wire'
import type { RequestMessage } from '../../telemetry/diagnostics.ts'
import type { KeeperErrorCode, KeeperErrorDetails } from '../../errors.ts'
import type { OneShotWatcher, PersistentWatcher, WatchMode } from '../watches/watchers.ts'

/**
 * What a lost connection means for a request that was sent on it. A `read` is repeated. So is `neither`, which changes no
 * node: sync, removeWatches, closeSession …. The outcome of a `write` is unknown. A request of the `connection` alone is
 * dropped.
 */
export type RequestKind = 'read' | 'write' | 'neither' | 'connection'

interface FailedMulti extends Pick<KeeperErrorDetails, 'needs'> {
  readonly index: number
  readonly path: string | undefined
  readonly results: readonly (KeeperErrorCode | 'Ok')[]
}

/** A valid reply that is no success. */
export class ErrorReply {
  readonly code: number
  /** For a failed multi: the operation that failed, its path, what it needs, and the result of each. */
  readonly multi: FailedMulti | undefined

  constructor(code: number, multi?: FailedMulti) {
    this.code = code
    this.multi = multi
  }
}

/** The session and its server, for error messages. */
export type ErrorContext = Pick<KeeperErrorDetails, 'server' | 'sessionId'>

/** The watches that the server must remove. */
export interface Removal {
  /** The server's path. */
  readonly path: string
  readonly type: WatcherType
}

/** A request, as an operation or the session makes it. */
export type PreparedRequest = Omit<RequestInit, keyof Call>

export interface RequestInit {
  readonly op: string
  /** The path, as the caller wrote it, for errors. */
  readonly path?: string | undefined
  /** The paths of a multi or a multiRead, as the caller wrote them, by position, for traces. */
  readonly paths?: (() => readonly string[]) | undefined
  /** The chroot of the paths, for errors. Undefined for the root. */
  readonly chroot?: string | undefined
  readonly opCode: number
  readonly kind: RequestKind
  /** A fixed xid. Other requests are numbered when they are sent. */
  readonly xid?: number
  readonly body?: (writer: Writer) => void
  readonly expiresAt?: number
  /** Undefined for internal requests. */
  readonly calledAt?: number
  readonly watcher?: OneShotWatcher | undefined
  /** The watcher of an addWatch. */
  readonly persistent?: PersistentWatcher | undefined
  readonly removes?: Removal | undefined
  /** Whether it is a request of the client itself, without a caller: it may wait although the queue is full. */
  readonly isOwn?: boolean | undefined
  /** Whether it is repeated when a busy server has not executed it (ThrottledOp). @default true */
  readonly repeatThrottled?: boolean | undefined
  /** Codes that the call rejects with, and that its caller handles as answers: they are traced without an error. */
  readonly expected?: readonly KeeperErrorCode[] | undefined
  /** Makes the result of the reply's body. A `ProtocolError` from it costs the connection. */
  readonly result?: (reader: Reader, where?: () => ErrorContext) => unknown
  /** Codes that are answers, not errors, each with its result. */
  readonly forgives?: Partial<Record<ErrorName, () => unknown>> | undefined
  readonly resolve?: (value: unknown) => void
  readonly reject?: (error: unknown) => void
}

/** The part of a request that its caller adds. */
export type Call = Pick<RequestInit, 'expiresAt' | 'calledAt' | 'repeatThrottled' | 'expected' | 'resolve' | 'reject'>

export type RequestPhase =
  | { readonly name: 'unsent' }
  | { readonly name: 'sent'; readonly xid: number; readonly at: number }
  /** Settled by timeout or abort, but its answer is still to come: a tombstone. */
  | { readonly name: 'abandoned'; readonly xid: number; readonly at: number }
  | { readonly name: 'settled' }

const LENGTH_SIZE = 4

export const addWatchModes = {
  persistent: AddWatchMode.PERSISTENT,
  recursive: AddWatchMode.PERSISTENT_RECURSIVE,
} as const

/** One request from the call to its settlement. */
export class Request {
  readonly op: string
  readonly path: string | undefined
  readonly paths: RequestInit['paths']
  readonly chroot: string | undefined
  readonly opCode: number
  readonly kind: RequestKind
  readonly fixedXid: number | undefined
  readonly expiresAt: number
  readonly calledAt: number | undefined
  /** The xid under which it was last sent. */
  xid: number | undefined
  /** Its trace, if there is a subscriber. */
  trace: RequestMessage | undefined
  readonly watcher: OneShotWatcher | undefined
  readonly persistent: PersistentWatcher | undefined
  readonly removes: Removal | undefined
  readonly isOwn: boolean
  /** The mode of the watch, for an addWatch that was sent. */
  mode: WatchMode | undefined
  readonly repeatThrottled: boolean
  readonly expected: readonly KeeperErrorCode[] | undefined
  /** How often a busy server has not executed it. */
  timesThrottled = 0
  readonly result: (reader: Reader, where?: () => ErrorContext) => unknown
  readonly forgives: Partial<Record<ErrorName, () => unknown>>
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
  phase: RequestPhase = { name: 'unsent' }
  /** The position in call order among all queued requests; 0 for requests that go before them. */
  order = 0
  readonly #frame: Uint8Array

  /** Writes the body at once: later changes of the caller's arguments do not change the request. */
  constructor(init: RequestInit, call: Call = init) {
    this.op = init.op
    this.path = init.path
    this.paths = init.paths
    this.chroot = init.chroot
    this.opCode = init.opCode
    this.kind = init.kind
    this.fixedXid = init.xid
    this.expiresAt = call.expiresAt ?? Infinity
    this.calledAt = call.calledAt
    this.watcher = init.watcher
    this.persistent = init.persistent
    this.removes = init.removes
    this.isOwn = init.isOwn ?? false
    this.repeatThrottled = call.repeatThrottled ?? true
    this.expected = call.expected
    this.result = init.result ?? (() => undefined)
    this.forgives = init.forgives ?? {}
    this.resolve = call.resolve ?? (() => {})
    this.reject = call.reject ?? (() => {})
    this.#frame = encodeFrame((writer) => {
      RequestHeader.write(writer, { xid: init.xid ?? 0, type: init.opCode })
      init.body?.(writer)
    })
  }

  /** The bytes of the frame's body, which jute.maxbuffer limits. */
  get size(): number {
    return this.#frame.byteLength - LENGTH_SIZE
  }

  /** The bytes of the whole frame, in memory and on the wire. */
  get frameSize(): number {
    return this.#frame.byteLength
  }

  /** The result for this code, if it is an answer. */
  forgiven(code: number): (() => unknown) | undefined {
    const name = errorName(code)
    return name === undefined ? undefined : this.forgives[name]
  }

  /** Whether a read sets a watch: the last byte of its record. */
  askForWatch(isAsked: boolean): void {
    this.#view.setUint8(this.#frame.byteLength - 1, isAsked ? 1 : 0)
  }

  /** The mode of an addWatch: the last field of its record. */
  askForMode(mode: WatchMode): void {
    this.mode = mode
    this.#view.setInt32(this.#frame.byteLength - 4, addWatchModes[mode])
  }

  /** The whole frame with this xid. */
  bytes(xid: number): Uint8Array {
    this.xid = xid
    this.#view.setInt32(LENGTH_SIZE, xid)
    return this.#frame
  }

  get #view(): DataView {
    return new DataView(this.#frame.buffer, this.#frame.byteOffset)
  }
}

export function tooLarge({ op, path, size }: Request, limit: number): RangeError {
  return new RangeError(
    `${op} ${path ?? ''}: the request takes ${size} bytes, over maxRequestSize of ${limit}; nothing was sent. ` +
      `Raise it together with the servers' jute.maxbuffer, or store less in one node`,
  )
}
