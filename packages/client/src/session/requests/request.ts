import { AddWatchMode, errorName, type Reader, readNamed, type WatcherType, Writer } from '@zk/wire'
import { type Chroot, noChroot } from '../../base/chroot.ts'
import type { KeeperErrorCode } from '../../base/errors.ts'
import type { Credential } from '../../operations/add-auth.ts'
import type { AnyOperation, ErrorContext, WireOperation } from '../../operations/operation.ts'
import type { OneShotWatcher, PersistentWatcher, WatchMode } from '../watches/watchers.ts'
import type { Segment } from './segment.ts'

/**
 * The kind of a request decides what happens if the connection is lost before its reply. A `read` is sent again. A request that
 * is `neither` is sent again, too: sync, removeWatches, closeSession …. The outcome of a `write` is unknown. A request of the
 * `connection` is dropped: it is about that connection only.
 */
export type RequestKind = 'read' | 'write' | 'neither' | 'connection'

/** What a request changes besides nodes. Paths are those of the server. */
export type Effect =
  | { readonly type: 'none' }
  /** a read that sets a one-shot watch */
  | { readonly type: 'watch'; readonly watcher: OneShotWatcher }
  /**
   * sets the persistent watch of a path, or changes its mode; `mode` is the one that was asked for. The session itself changes
   * the mode, without a watcher.
   */
  | {
      readonly type: 'addWatch'
      readonly path: string
      readonly watcher: PersistentWatcher | undefined
      mode: WatchMode | undefined
    }
  /** removes watches of a path */
  | Removal
  /** adds an identity to the session */
  | { readonly type: 'addAuth'; readonly credential: Credential }

/** The watches that the server must remove. */
export interface Removal {
  readonly type: 'remove'
  readonly path: string
  readonly watches: WatcherType
}

export const NO_EFFECT: Effect = { type: 'none' }

/** `abandoned`: settled by a timeout or an abort after it was sent, but the reply still comes. It is a tombstone. */
export type RequestPhase = 'unsent' | 'sent' | 'abandoned' | 'settled'

const LENGTH_SIZE = 4

export const addWatchModes = {
  persistent: AddWatchMode.PERSISTENT,
  recursive: AddWatchMode.PERSISTENT_RECURSIVE,
} as const

/**
 * One request from the call to its settlement. Thousands may wait, and what they take is copied by the garbage collector: it has
 * no field that another one implies, and no object for its phase.
 */
export class Request {
  /** The path, as the caller wrote it, for errors. */
  path: string | undefined = undefined
  /** The chroot of the paths. */
  chroot: Chroot = noChroot
  kind: RequestKind
  effect: Effect = NO_EFFECT
  /** A fixed xid. Other requests are numbered when they are sent. */
  fixedXid: number | undefined = undefined
  /** Undefined for requests of the session itself. */
  calledAt: number | undefined = undefined
  expiresAt = Infinity
  /** Whether it is repeated if a busy server has not executed it (ThrottledOp). */
  repeatThrottled = true
  /** Whether the client makes this request for itself, without a caller. Such a request may wait even if the queue is full. */
  isOwn = false
  /** Codes with which the call rejects, but which its caller expects: they are traced without an error. */
  expected: readonly KeeperErrorCode[] | undefined = undefined
  resolve: (value: unknown) => void = ignore
  reject: (error: unknown) => void = ignore
  /** The bytes of the whole frame, in memory and on the wire. */
  readonly frameSize: number
  phase: RequestPhase = 'unsent'
  /** The xid with which it was last sent, and when. */
  xid: number | undefined = undefined
  sentAt: number | undefined = undefined
  /** The position in call order among all queued requests; 0 for requests that go before them. */
  order = 0
  /** How many times a busy server has not executed it. */
  timesThrottled = 0
  /** Removes the listener of its signal. */
  unlisten: (() => void) | undefined = undefined
  /** The queue in which it waits, and the requests before and after it there: see `SendQueue`. */
  queue: unknown = undefined
  previous: Request | undefined = undefined
  next: Request | undefined = undefined
  readonly #operation: AnyOperation
  readonly #wire: WireOperation
  /** The frame is a part of this memory. Requests that are made one after the other share the memory: see `Segment`. */
  #memory: Uint8Array
  #start: number

  /** Writes the frame at once, after what the writer has. So the caller may change the arguments later. */
  constructor(operation: AnyOperation, wire: WireOperation, record: unknown, writer: Writer = new Writer()) {
    this.kind = wire.kind
    this.#operation = operation
    this.#wire = wire
    this.#start = writer.length
    this.frameSize = writeFrame(writer, wire, record)
    this.#memory = writer.memory
  }

  /** The operation, by the name of the client's method. */
  get op(): string {
    return this.#operation.name
  }

  get opCode(): number {
    return this.#wire.opCode
  }

  /** The bytes of the frame without its length. jute.maxbuffer limits these. */
  get size(): number {
    return this.frameSize - LENGTH_SIZE
  }

  /** For a multi or a multiRead: the paths of its operations, as the caller wrote them, in order. */
  get paths(): readonly string[] | undefined {
    return this.#operation.paths?.()
  }

  /** Turns the body of the reply into the result. If this throws a `ProtocolError`, the connection is closed. */
  result(body: Reader, errorContext?: () => ErrorContext): unknown {
    const { response } = this.#wire
    const operation = this.#operation
    if (operation.result === undefined) return undefined
    return operation.result(response && readNamed(response, body), this.chroot, errorContext)
  }

  /** A function that makes the result for this error code; undefined if the code is an error. */
  answerFor(code: number): (() => unknown) | undefined {
    const { answers } = this.#operation
    if (answers === undefined) return undefined
    const name = errorName(code)
    return name === undefined ? undefined : answers[name]
  }

  /** Sets whether the server sets a watch for this read: the last byte of its record. */
  askForWatch(isAsked: boolean): void {
    this.#memory[this.#start + this.frameSize - 1] = isAsked ? 1 : 0
  }

  /** Sets the mode of an addWatch: the last field of its record. */
  askForMode(mode: WatchMode): void {
    setInt(this.#memory, this.#start + this.frameSize - 4, addWatchModes[mode])
  }

  /** Adds the frame to the segment, with this xid. */
  send(xid: number, now: number, segment: Segment): void {
    this.xid = xid
    this.sentAt = now
    this.phase = 'sent'
    setInt(this.#memory, this.#start + LENGTH_SIZE, xid)
    segment.add(this.#memory, this.#start, this.#start + this.frameSize)
  }

  /** Makes it ready to be sent again. The frame is copied, since the socket may not have written the old bytes yet. */
  unsend(): void {
    this.phase = 'unsent'
    this.copyFrame()
  }

  /** Copies the frame into memory of its own. */
  copyFrame(): void {
    this.#memory = this.#memory.slice(this.#start, this.#start + this.frameSize)
    this.#start = 0
  }

  settle(): void {
    this.phase = 'settled'
  }
}

const ignore = () => {}

/** Makes the promise that `resolve` and `reject` settle. All share one executor: a closure for each call took 100 bytes more. */
export function settlementOf(request: Request): Promise<unknown> {
  promised = request
  return new Promise(executor)
}

/** The request whose promise is made now. */
let promised: Request
const executor = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => {
  promised.resolve = resolve
  promised.reject = reject
}

/** Writes the whole frame and returns its size. If the record throws, nothing stays in the writer. */
function writeFrame(writer: Writer, wire: WireOperation, record: unknown): number {
  const start = writer.length
  try {
    // The length, which is set below, and the fields of RequestHeader. `send` sets the xid.
    writer.int(0)
    writer.int(0)
    writer.int(wire.opCode)
    wire.request?.write(writer, record)
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
