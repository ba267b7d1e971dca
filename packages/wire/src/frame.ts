// A frame is a 4-byte big-endian length, followed by as many bytes. Client and server send frames, with one exception: a
// monitoring tool sends a four-letter word in place of its first frame, and the server answers with text.
import { type Bytes, concat, asUint8Array } from './bytes.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const LENGTH_SIZE = 4
/** ZooKeeper's default of jute.maxbuffer, in bytes. At a longer request a server closes the connection without an answer. */
export const JUTE_MAXBUFFER = 0xfffff
const DEFAULT_LIMIT = 4 * 1024 * 1024
/** In bytes. Waiting chunks that are smaller than this are joined. A joined chunk is smaller than twice this. */
const SMALL = 4096
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
  readonly #limit: number
  /** The chunks that have bytes which were not taken yet. Bytes are taken when a method returns them. */
  #chunks: Uint8Array[] = []
  /** How many bytes of the first chunk were taken. */
  #taken = 0
  /** The number of bytes that were not taken. */
  #available = 0
  /** The reader that `read` returns: it reads the first chunk. */
  #reader: Reader | undefined
  #isText = false
  #failed = false

  constructor({ limit = DEFAULT_LIMIT }: FrameDecoderOptions = {}) {
    this.#limit = limit
  }

  /** Adds a chunk, which is not copied: do not write to its memory before you have called `keep`. */
  push(chunk: Uint8Array): void {
    const chunks = this.#chunks
    let last = asUint8Array(chunk)
    if (this.#failed) return
    chunks.push(last)
    this.#available += last.byteLength
    // Small chunks are joined, because each costs far more memory than its bytes. The first chunk stays: `#reader` reads it.
    while (chunks.length > 2 && last.byteLength < SMALL && chunks.at(-2)!.byteLength <= last.byteLength) {
      last = concat(chunks.splice(-2))
      chunks.push(last)
    }
  }

  /**
   * Returns the body of the next frame, or undefined if the frame is not complete yet. The body may share memory with its
   * chunk. Throws a `ProtocolError` if the length is impossible. Nothing shows then where the next frame begins, so all later
   * calls return undefined, and all bytes are dropped.
   */
  next(): Uint8Array | undefined {
    const end = this.#frame()
    if (end === undefined) return undefined
    const body = this.#chunks[0]!.subarray(this.#taken + LENGTH_SIZE, end)
    this.#take(end)
    return body
  }

  /**
   * Like `next`, but returns a reader of the body. The reader is valid until the next call, which returns the same reader for
   * the next frame. So no object is made for each frame.
   */
  read(): Reader | undefined {
    const end = this.#frame()
    if (end === undefined) return undefined
    const reader = (this.#reader ??= new Reader(this.#chunks[0]!)).select(this.#taken + LENGTH_SIZE, end)
    this.#take(end)
    return reader
  }

  /** Copies what is left of the last chunk. Afterwards you may write to the memory of that chunk. */
  keep(): void {
    if (this.#available === 0) return
    if (this.#chunks.length === 1) this.#replace(this.#rest().slice())
    else this.#chunks.push(this.#chunks.pop()!.slice())
  }

  /**
   * Returns all bytes so far if they are text: a four-letter word, or the answer of a server to one. The first four bytes
   * decide, and all bytes after text are text, too. `isText` is for the answer to text: any bytes are then text.
   */
  takeText(isText = false): Uint8Array | undefined {
    this.#isText ||=
      isText || (this.#available >= LENGTH_SIZE && textOf(this.#whole(LENGTH_SIZE), LENGTH_SIZE) !== undefined)
    if (!this.#isText || this.#available === 0) return undefined
    const text = this.#rest()
    this.#clear()
    return text
  }

  /** Returns the end of the next frame in the first chunk, or undefined if the frame is not complete yet. */
  #frame(): number | undefined {
    if (this.#available < LENGTH_SIZE) return undefined
    const size = LENGTH_SIZE + this.#length()
    if (this.#available < size) return undefined
    this.#whole(size)
    return this.#taken + size
  }

  #length(): number {
    const head = this.#whole(LENGTH_SIZE)
    const at = this.#taken
    const length = (head[at]! << 24) | (head[at + 1]! << 16) | (head[at + 2]! << 8) | head[at + 3]!
    if (length >= 0 && length <= this.#limit) return length
    const text = textOf(this.#rest(), TEXT_SHOWN)
    this.#failed = true
    this.#clear()
    if (text !== undefined) throw new ProtocolError(`text in place of a frame: ${JSON.stringify(text.trim())}`)
    if (length < 0) throw new ProtocolError(`a frame cannot have ${length} bytes`)
    throw new FrameTooLargeError(length, this.#limit)
  }

  /** Marks the bytes of the first chunk before `end` as taken. */
  #take(end: number): void {
    this.#available -= end - this.#taken
    this.#taken = end
    if (end < this.#chunks[0]!.byteLength) return
    this.#chunks.shift()
    this.#taken = 0
    this.#reader = undefined
  }

  /** Returns the first chunk. If it has fewer than `size` bytes that were not taken, all chunks are joined first. */
  #whole(size: number): Uint8Array {
    if (this.#chunks[0]!.byteLength - this.#taken < size) this.#replace(this.#rest())
    return this.#chunks[0]!
  }

  /** Returns all bytes that were not taken. */
  #rest(): Uint8Array {
    const [first, ...others] = this.#chunks
    return concat([first!.subarray(this.#taken), ...others])
  }

  /** Replaces all chunks by one, which has the bytes that were not taken. */
  #replace(chunk: Uint8Array): void {
    this.#chunks = [chunk]
    this.#taken = 0
    this.#reader = undefined
  }

  #clear(): void {
    this.#chunks = []
    this.#taken = 0
    this.#available = 0
    this.#reader = undefined
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
