import { AddWatchMode, type ErrorName, errorName, type Reader, type WatcherType, Writer } from '@zk/wire'
import type { RequestMessage } from '../../telemetry/diagnostics.ts'
import type { KeeperErrorCode, KeeperErrorDetails } from '../../errors.ts'
import type { OneShotWatcher, PersistentWatcher, WatchMode } from '../watches/watchers.ts'
import type { Segment } from './segment.ts'

/**
 * The kind of a request decides what happens if the connection is lost before its reply. A `read` is sent again. A request that
 * is `neither` is sent again, too: sync, removeWatches, closeSession …. The outcome of a `write` is unknown. A request of the
 * `connection` is dropped: it is about that connection only.
 */
export type RequestKind = 'read' | 'write' | 'neither' | 'connection'

interface FailedMulti extends Pick<KeeperErrorDetails, 'needs'> {
  readonly index: number
  readonly path: string | undefined
  readonly results: readonly (KeeperErrorCode | 'Ok')[]
}

/** A valid reply with an error code. */
export class ErrorReply {
  readonly code: number
  /** For a failed multi: the operation that failed, its path, what it needs, and the results of all operations. */
  readonly multi: FailedMulti | undefined

  constructor(code: number, multi?: FailedMulti) {
    this.code = code
    this.multi = multi
  }
}

/** The fields of errors about the session and its server. */
export type ErrorContext = Pick<KeeperErrorDetails, 'server' | 'sessionId' | 'isLastSession'>

/** The watches that the server must remove. */
export interface Removal {
  /** The server's path. */
  readonly path: string
  readonly type: WatcherType
}

/** A request without the fields that its caller adds. */
export type PreparedRequest = Omit<RequestInit, keyof Call>

export interface RequestInit {
  readonly op: string
  /** The path, as the caller wrote it, for errors. */
  readonly path?: string | undefined
  /** For a multi or a multiRead: the paths of its operations, as the caller wrote them, in order. For traces. */
  readonly paths?: (() => readonly string[]) | undefined
  /** The chroot of the paths, for errors. Undefined if there is no chroot. */
  readonly chroot?: string | undefined
  readonly opCode: number
  readonly kind: RequestKind
  /** A fixed xid. Other requests are numbered when they are sent. */
  readonly xid?: number
  /** Writes the body. Called once. */
  body?(writer: Writer): void
  readonly expiresAt?: number
  /** Undefined for internal requests. */
  readonly calledAt?: number
  readonly watcher?: OneShotWatcher | undefined
  /** The watcher of an addWatch. */
  readonly persistent?: PersistentWatcher | undefined
  readonly removes?: Removal | undefined
  /** Whether the client makes this request for itself, without a caller. Such a request may wait even if the queue is full. */
  readonly isOwn?: boolean | undefined
  /** Whether it is repeated if a busy server has not executed it (ThrottledOp). @default true */
  readonly repeatThrottled?: boolean | undefined
  /** Codes with which the call rejects, but which its caller expects: they are traced without an error. */
  readonly expected?: readonly KeeperErrorCode[] | undefined
  /** Turns the body of the reply into the result. If it throws a `ProtocolError`, the connection is closed. */
  result?(reader: Reader, errorContext?: () => ErrorContext): unknown
  /** Error codes that are normal results of this operation, each with a function that makes the result. */
  readonly answers?: Partial<Record<ErrorName, () => unknown>> | undefined
  readonly resolve?: (value: unknown) => void
  readonly reject?: (error: unknown) => void
}

/** The part of a request that its caller adds. */
export type Call = Pick<RequestInit, 'expiresAt' | 'calledAt' | 'repeatThrottled' | 'expected' | 'resolve' | 'reject'>

export type RequestPhase =
  | { readonly name: 'unsent' }
  | { readonly name: 'sent'; readonly xid: number; readonly at: number }
  /** settled by a timeout or an abort, but the reply still comes: a tombstone */
  | { readonly name: 'abandoned'; readonly xid: number; readonly at: number }
  | { readonly name: 'settled' }

const unsent: RequestPhase = { name: 'unsent' }
const settled: RequestPhase = { name: 'settled' }

const LENGTH_SIZE = 4

export const addWatchModes = {
  persistent: AddWatchMode.PERSISTENT,
  recursive: AddWatchMode.PERSISTENT_RECURSIVE,
} as const

/** One request from the call to its settlement. */
export class Request {
  readonly #prepared: RequestInit
  readonly #call: Call
  phase: RequestPhase = unsent
  /** The xid with which it was last sent. */
  xid: number | undefined = undefined
  /** The position in call order among all queued requests; 0 for requests that go before them. */
  order = 0
  /** How many times a busy server has not executed it. */
  timesThrottled = 0
  /** The mode of the watch, for an addWatch that was sent. */
  mode: WatchMode | undefined = undefined
  /** Its message on the diagnostics channel, if there is a subscriber. */
  trace: RequestMessage | undefined = undefined
  /** Removes the listener of its signal. */
  unlisten: (() => void) | undefined = undefined
  /** The queue in which it waits, and the requests before and after it there: see `SendQueue`. */
  queue: unknown = undefined
  previous: Request | undefined = undefined
  next: Request | undefined = undefined
  /** The frame is a part of this memory. Requests that are made one after the other share the memory: see `Segment`. */
  #memory: Uint8Array
  #start: number
  readonly #frameSize: number

  /** Writes the frame at once, behind what the writer has. So the caller may change the arguments later. */
  constructor(prepared: RequestInit, call: Call = prepared, writer: Writer = new Writer()) {
    this.#prepared = prepared
    this.#call = call
    this.#start = writer.length
    this.#frameSize = writeFrame(writer, prepared)
    this.#memory = writer.memory
  }

  get op(): string {
    return this.#prepared.op
  }

  get path(): string | undefined {
    return this.#prepared.path
  }

  get paths(): RequestInit['paths'] {
    return this.#prepared.paths
  }

  get opCode(): number {
    return this.#prepared.opCode
  }

  get kind(): RequestKind {
    return this.#prepared.kind
  }

  get watcher(): OneShotWatcher | undefined {
    return this.#prepared.watcher
  }

  get persistent(): PersistentWatcher | undefined {
    return this.#prepared.persistent
  }

  get removes(): Removal | undefined {
    return this.#prepared.removes
  }

  get calledAt(): number | undefined {
    return this.#call.calledAt
  }

  get expiresAt(): number {
    return this.#call.expiresAt ?? Infinity
  }

  get repeatThrottled(): boolean {
    return this.#call.repeatThrottled ?? true
  }

  get expected(): Call['expected'] {
    return this.#call.expected
  }

  get chroot(): string | undefined {
    return this.#prepared.chroot
  }

  get fixedXid(): number | undefined {
    return this.#prepared.xid
  }

  get isOwn(): boolean {
    return this.#prepared.isOwn ?? false
  }

  get answers(): NonNullable<RequestInit['answers']> {
    return this.#prepared.answers ?? none
  }

  /** The bytes of the frame without its length. jute.maxbuffer limits these. */
  get size(): number {
    return this.#frameSize - LENGTH_SIZE
  }

  /** The bytes of the whole frame, in memory and on the wire. */
  get frameSize(): number {
    return this.#frameSize
  }

  get resolve(): (value: unknown) => void {
    return this.#call.resolve ?? ignore
  }

  get reject(): (error: unknown) => void {
    return this.#call.reject ?? ignore
  }

  /** Turns the body of the reply into the result. */
  result(body: Reader, errorContext?: () => ErrorContext): unknown {
    return this.#prepared.result?.(body, errorContext)
  }

  /** A function that makes the result for this error code; undefined if the code is an error. */
  answerFor(code: number): (() => unknown) | undefined {
    if (this.#prepared.answers === undefined) return undefined
    const name = errorName(code)
    return name === undefined ? undefined : this.answers[name]
  }

  /** Sets whether the server sets a watch for this read: the last byte of its record. */
  askForWatch(isAsked: boolean): void {
    this.#memory[this.#start + this.#frameSize - 1] = isAsked ? 1 : 0
  }

  /** Sets the mode of an addWatch: the last field of its record. */
  askForMode(mode: WatchMode): void {
    this.mode = mode
    setInt(this.#memory, this.#start + this.#frameSize - 4, addWatchModes[mode])
  }

  /** Adds the frame to the segment, with this xid. */
  send(xid: number, now: number, segment: Segment): void {
    this.xid = xid
    this.phase = { name: 'sent', xid, at: now }
    setInt(this.#memory, this.#start + LENGTH_SIZE, xid)
    segment.add(this.#memory, this.#start, this.#start + this.#frameSize)
  }

  /** Makes it ready to be sent again. The frame is copied, since the socket may not have written the old bytes yet. */
  unsend(): void {
    this.phase = unsent
    this.copyFrame()
  }

  /** Copies the frame into memory of its own. */
  copyFrame(): void {
    this.#memory = this.#memory.slice(this.#start, this.#start + this.#frameSize)
    this.#start = 0
  }

  settle(): void {
    this.phase = settled
  }
}

const none: NonNullable<RequestInit['answers']> = {}
const ignore = () => {}

/** Writes the whole frame and returns its size. If the body throws, nothing stays in the writer. */
function writeFrame(writer: Writer, prepared: RequestInit): number {
  const start = writer.length
  try {
    // The length, which is set below, and the fields of RequestHeader.
    writer.int(0)
    writer.int(prepared.xid ?? 0)
    writer.int(prepared.opCode)
    prepared.body?.(writer)
  } catch (error) {
    writer.truncate(start)
    throw error
  }
  const size = writer.length - start
  writer.setInt(start, size - LENGTH_SIZE)
  return size
}

function setInt(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value >> 24
  bytes[offset + 1] = value >> 16
  bytes[offset + 2] = value >> 8
  bytes[offset + 3] = value
}

export function tooLarge({ op, path, size }: Request, limit: number): RangeError {
  return new RangeError(
    `${op} ${path ?? ''}: the request takes ${size} bytes, over maxRequestSize of ${limit}; nothing was sent. ` +
      `Raise it together with the servers' jute.maxbuffer, or store less in one node`,
  )
}
