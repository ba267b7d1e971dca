// A frame is a 4-byte big-endian length, followed by as many bytes. Client and server send frames, with one exception: a
// monitoring tool sends a four-letter word in place of its first frame, and the server answers with text.
import { type Bytes, asUint8Array } from './bytes.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** No server sends a longer frame: such a length is a mistake. In bytes. */
const LONGEST_DROPPED = 64 * 1024 * 1024
const LENGTH_SIZE = 4
/**
 * ZooKeeper's default of jute.maxbuffer, in bytes. A server that gets a longer request closes the connection without an answer.
 */
export const JUTE_MAXBUFFER = 0xfffff
const DEFAULT_LIMIT = 4 * 1024 * 1024
/** The least memory for incomplete frames, in bytes. */
const LEAST_KEPT = 1024
/** Up to this many bytes of memory are used again for later frames: enough for a frame of `JUTE_MAXBUFFER`. */
const MOST_KEPT = 2 * 1024 * 1024
const NOTHING = new Uint8Array(0)
const TEXT_SHOWN = 200

/** A peer has announced a frame that is longer than the limit. */
export class FrameTooLargeError extends ProtocolError {
  /** The length that the frame announces, in bytes. */
  readonly size: number
  /** The length up to which frames are accepted, in bytes. */
  readonly limit: number

  constructor(size: number, limit: number) {
    super(`a frame of ${size} bytes is over the limit of ${limit}`)
    this.size = size
    this.limit = limit
  }
}

/** The options of a `FrameDecoder`. */
export interface FrameDecoderOptions {
  /** The longest frame that is accepted, in bytes. @default 4 MiB */
  limit?: number | undefined
}

/**
 * Cuts a stream of bytes into frames. It allocates memory for the bytes that it has received, never for a length that a frame
 * announces. The time is linear in the number of bytes, for chunks of any size.
 *
 *     decoder.push(chunk)
 *     for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) …
 */
export class FrameDecoder {
  /** What is wrong with the frame that was returned last, if only its head was read. */
  tooLarge: FrameTooLargeError | undefined
  readonly #limit: number
  /** Copies of what was left of earlier chunks. They come before the bytes of `#chunk`. */
  readonly #kept = new Span()
  readonly #chunk = new Span()
  /** How many of the next bytes belong to a frame that was too large, and are dropped. */
  #skipped = 0
  #isText = false
  #failed = false

  constructor({ limit = DEFAULT_LIMIT }: FrameDecoderOptions = {}) {
    this.#limit = limit
  }

  /** Adds a chunk, which is not copied: do not write to its memory before you have called `keep`. */
  push(chunk: Uint8Array): void {
    const bytes = asUint8Array(chunk)
    if (this.#failed) return
    this.keep()
    this.#chunk.view(bytes)
  }

  /**
   * Returns the body of the next frame, or undefined if the frame is not complete yet. The body may share memory with its
   * chunk. Throws a `ProtocolError` if the length is impossible. Nothing shows then where the next frame begins, so all later
   * calls return undefined, and all bytes are dropped.
   */
  next(): Uint8Array | undefined {
    const size = this.#frame()
    if (size === undefined) return undefined
    const front = this.#front()
    const body = front.take(size).subarray(LENGTH_SIZE)
    return front === this.#kept ? body.slice() : body
  }

  /**
   * Like `next`, but returns a reader of the body. The reader is valid until the next call of any method, and is used again
   * for other frames. So no object is made for each frame.
   *
   * With `headSize` a frame over the limit is not an error, unless its length looks like text or is over 64 MiB. Only that many
   * of its first bytes are read, as soon as they have arrived, and `tooLarge` is set. The rest is dropped as it comes.
   */
  read(headSize?: number): Reader | undefined {
    const size = this.#frame(headSize)
    if (size === undefined) return undefined
    const front = this.#front()
    const reader = front.reader(LENGTH_SIZE, size)
    front.drop(size)
    return reader
  }

  /** Copies what is left of the chunk. Afterwards you may write to the memory of the chunk. */
  keep(): void {
    this.#move(this.#chunk.size)
  }

  /**
   * Returns all bytes so far if they are text: a four-letter word, or the answer of a server to one. The first four bytes
   * decide, and all bytes after text are text, too. `isText` is for the answer to text: any bytes are then text.
   */
  takeText(isText = false): Uint8Array | undefined {
    this.#isText ||= isText || (this.#gather(LENGTH_SIZE) && this.#looksLikeText())
    return this.#isText && this.#front().size > 0 ? this.#takeAll() : undefined
  }

  /** The bytes that come first. (Not a getter: V8 calls its runtime for each use of a private one.) */
  #front(): Span {
    return this.#kept.size > 0 ? this.#kept : this.#chunk
  }

  /** Returns the size of the next frame, which is then whole in `#front`; undefined if the frame is not complete yet. */
  #frame(headSize?: number): number | undefined {
    while (this.#skipped > 0 && this.#front().size > 0) {
      this.#skipped -= this.#front().take(Math.min(this.#skipped, this.#front().size)).length
    }
    if (!this.#gather(LENGTH_SIZE)) return undefined
    const length = this.#length(headSize)
    const tooLarge = length > this.#limit ? new FrameTooLargeError(length, this.#limit) : undefined
    const size = LENGTH_SIZE + (tooLarge ? Math.min(length, headSize!) : length)
    if (!this.#gather(size)) return undefined
    this.#skipped = LENGTH_SIZE + length - size
    this.tooLarge = tooLarge
    return size
  }

  /** Brings the next `size` bytes together in `#front`. Returns false if not all of them have come yet. */
  #gather(size: number): boolean {
    const kept = this.#kept.size
    if (kept > 0 && kept < size) this.#move(Math.min(size - kept, this.#chunk.size))
    return this.#front().size >= size
  }

  /** Moves bytes of the chunk after those that were kept. */
  #move(size: number): void {
    if (size > 0) this.#kept.add(this.#chunk.take(size))
  }

  #length(headSize: number | undefined): number {
    const length = this.#front().reader(0, LENGTH_SIZE).int()
    if (length >= 0 && (length <= this.#limit || (headSize && length <= LONGEST_DROPPED && !this.#looksLikeText())))
      return length
    const text = textOf(this.#takeAll(), TEXT_SHOWN)
    this.#failed = true
    if (text !== undefined) throw new ProtocolError(`text in place of a frame: ${JSON.stringify(text.trim())}`)
    if (length < 0) throw new ProtocolError(`a frame cannot have ${length} bytes`)
    throw new FrameTooLargeError(length, this.#limit)
  }

  #looksLikeText(): boolean {
    return textOf(this.#front().reader(0, LENGTH_SIZE).rest(), LENGTH_SIZE) !== undefined
  }

  #takeAll(): Uint8Array {
    this.keep()
    return this.#kept.take(this.#kept.size).slice()
  }
}

/**
 * Bytes that were not taken yet, in a piece of memory. When all were taken, `add` uses the memory again: with new memory for
 * each large frame V8 collects garbage three times as often, and a reply of 512 KiB takes a quarter longer.
 */
class Span {
  #memory: Uint8Array = NOTHING
  #start = 0
  #end = 0
  /** Reads `#memory`. */
  #reader: Reader | undefined

  get size(): number {
    return this.#end - this.#start
  }

  /** A reader of the bytes from `from` to `to`. */
  reader(from: number, to: number): Reader {
    return (this.#reader ??= new Reader(this.#memory)).select(this.#start + from, this.#start + to)
  }

  /** Takes bytes, which stay as they are until the next `add`. */
  take(size: number): Uint8Array {
    const bytes = this.#memory.subarray(this.#start, this.#start + size)
    this.drop(size)
    return bytes
  }

  drop(size: number): void {
    this.#start += size
    if (this.#start < this.#end) return
    if (this.#memory.byteLength > MOST_KEPT) this.view(NOTHING)
    this.#start = this.#end = 0
  }

  /** From now on it has all of these bytes, and no others. */
  view(memory: Uint8Array): void {
    this.#memory = memory
    this.#start = 0
    this.#end = memory.byteLength
    this.#reader = undefined
  }

  /** Copies these bytes after its own. */
  add(bytes: Uint8Array): void {
    const { size } = this
    if (this.#end + bytes.byteLength > this.#memory.byteLength) {
      const larger = new Uint8Array(2 * (size + bytes.byteLength) + LEAST_KEPT)
      larger.set(this.take(size))
      this.view(larger)
      this.#end = size
    }
    this.#memory.set(bytes, this.#end)
    this.#end += bytes.byteLength
  }
}

/** Encodes one frame. `write` writes the body. */
export function encodeFrame(write: (writer: Writer) => void): Bytes {
  const writer = new Writer()
  writer.int(0)
  write(writer)
  writer.setInt(0, writer.length - LENGTH_SIZE)
  return writer.finish()
}

/**
 * Returns the first `size` bytes as a string if all of them are text: printable ASCII characters, tabs and line ends. A frame
 * hardly begins with four such bytes: as a length, they are at least 144 MiB.
 */
function textOf(bytes: Uint8Array, size: number): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, size))
  return /^[\t\n\r -~]*$/.test(text) ? text : undefined
}
