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
 * What a lost connection means for a request that was sent on it: a `read` is repeated, so is `neither` (it changes no
 * node: sync, removeWatches, closeSession …), the outcome of a `write` is unknown, and what belonged to the
 * `connection` alone is dropped.
 */
export type RequestKind = 'read' | 'write' | 'neither' | 'connection'

interface FailedMulti extends Pick<KeeperErrorDetails, 'needs'> {
  readonly index: number
  readonly path: string | undefined
  readonly results: readonly (KeeperErrorCode | 'Ok')[]
}

/** An answer that is no success, though the reply itself was well-formed. */
export class ErrorReply {
  readonly code: number
  /** The operation that failed a multi, its path, what it needs, and the result of each. */
  readonly multi: FailedMulti | undefined

  constructor(code: number, multi?: FailedMulti) {
    this.code = code
    this.multi = multi
  }
}

/** Where the session is now: for error messages. */
export type ErrorContext = Pick<KeeperErrorDetails, 'server' | 'sessionId'>

/** Which watches at the server are to go. */
export interface Removal {
  /** The server's. */
  readonly path: string
  readonly type: WatcherType
}

/** A request, before its call waits for it. */
export type PreparedRequest = Omit<RequestInit, keyof Call>

export interface RequestInit {
  readonly op: string
  /** As the caller wrote it: for errors. */
  readonly path?: string | undefined
  /** The paths of a multi or a multiRead as the caller wrote them, by position: for traces. */
  readonly paths?: (() => readonly string[]) | undefined
  /** What the paths are below: for errors. Undefined for the root. */
  readonly chroot?: string | undefined
  readonly opCode: number
  readonly kind: RequestKind
  /** An xid with a meaning of its own; others are numbered when they are sent. */
  readonly xid?: number
  readonly body?: (writer: Writer) => void
  readonly expiresAt?: number
  /** Undefined for the session's own. */
  readonly calledAt?: number
  readonly watcher?: OneShotWatcher | undefined
  /** The watcher that an addWatch is for. */
  readonly persistent?: PersistentWatcher | undefined
  readonly removes?: Removal | undefined
  /** The client's own, without a caller: it may wait though the queue is full. */
  readonly isOwn?: boolean | undefined
  /** Whether it is sent again when a busy server has not executed it (ThrottledOp). @default true */
  readonly repeatThrottled?: boolean | undefined
  /** Codes that the caller rejects with and handles as answers: they are traced without an error. */
  readonly expected?: readonly KeeperErrorCode[] | undefined
  /** Makes the result of the reply's body; a `ProtocolError` from it costs the connection. */
  readonly result?: (reader: Reader, where?: () => ErrorContext) => unknown
  /** Codes that are answers, not errors, and the result each stands for. */
  readonly forgives?: Partial<Record<ErrorName, () => unknown>> | undefined
  readonly resolve?: (value: unknown) => void
  readonly reject?: (error: unknown) => void
}

/** What the caller of a request adds to it. */
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
  /** Under which it was last sent. */
  xid: number | undefined
  /** Where a subscriber follows it. */
  trace: RequestMessage | undefined
  readonly watcher: OneShotWatcher | undefined
  readonly persistent: PersistentWatcher | undefined
  readonly removes: Removal | undefined
  readonly isOwn: boolean
  /** Which watch the server was asked for, where this is an addWatch that was sent. */
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
  /** The position in call order among all that were queued; 0 for what goes before them. */
  order = 0
  readonly #frame: Uint8Array

  /** The body is written at once: what the caller changes later does not change the request. */
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

  /** Bytes of the frame's body: what jute.maxbuffer limits. */
  get size(): number {
    return this.#frame.byteLength - LENGTH_SIZE
  }

  /** Bytes of the whole frame: what it takes in memory and on the wire. */
  get frameSize(): number {
    return this.#frame.byteLength
  }

  /** The result that this code stands for, where it is an answer. */
  forgiven(code: number): (() => unknown) | undefined {
    const name = errorName(code)
    return name === undefined ? undefined : this.forgives[name]
  }

  /** Whether a read sets a watch: the last byte of each record of one. */
  askForWatch(isAsked: boolean): void {
    this.#view.setUint8(this.#frame.byteLength - 1, isAsked ? 1 : 0)
  }

  /** What an addWatch sets: the last field of its record. */
  askForMode(mode: WatchMode): void {
    this.mode = mode
    this.#view.setInt32(this.#frame.byteLength - 4, addWatchModes[mode])
  }

  /** The whole frame under this xid. */
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
