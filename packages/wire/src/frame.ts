// A frame is a 4-byte big-endian length and that many bytes. A connection has frames in both directions, with one exception:
// monitoring sends a four-letter word in place of the first frame, and its answer is text.
import { type Bytes, concat, asUint8Array } from './bytes.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

const LENGTH_SIZE = 4
/** Default of ZooKeeper's jute.maxbuffer, in bytes: a server closes the connection, without an answer, at a longer request. */
export const JUTE_MAXBUFFER = 0xfffff
const DEFAULT_LIMIT = 4 * 1024 * 1024
/** Chunks below this are put together while they wait, into up to twice as much, in bytes. */
const SMALL = 4096
const TEXT_SHOWN = 200

/** A frame longer than the limit. `size` is the length that it announces. */
export class FrameTooLargeError extends ProtocolError {
  /** The length that the frame announces, in bytes. */
  declare readonly size: number
  /** The longest that would have been accepted, in bytes. */
  declare readonly limit: number

  constructor(size: number, limit: number) {
    super(`a frame of ${size} bytes is over the limit of ${limit}`)
    this.size = size
    this.limit = limit
  }
}

/** What a `FrameDecoder` accepts. */
export interface FrameDecoderOptions {
  /** Longest frame accepted, in bytes. @default 4 MiB */
  limit?: number | undefined
}

/**
 * Cuts a stream of bytes into frames. It needs memory for the bytes that came in, never for a length that was announced. The
 * work is linear in the bytes, whatever the sizes of the chunks.
 *
 *     decoder.push(chunk)
 *     for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) …
 */
export class FrameDecoder {
  readonly #limit: number
  /** The chunks that were not taken yet. */
  #chunks: Uint8Array[] = []
  /** How much of the first one was taken. */
  #taken = 0
  /** The bytes that were not taken. */
  #available = 0
  /** Reads the first chunk. */
  #reader: Reader | undefined
  #isText = false
  #failed = false

  constructor({ limit = DEFAULT_LIMIT }: FrameDecoderOptions = {}) {
    this.#limit = limit
  }

  /** Takes the chunk over without copying it: its memory must not be written to before `keep`. */
  push(chunk: Uint8Array): void {
    const chunks = this.#chunks
    let last = asUint8Array(chunk)
    if (this.#failed) return
    chunks.push(last)
    this.#available += last.byteLength
    // Many small chunks would cost far more than their bytes. The first one is in use.
    while (chunks.length > 2 && last.byteLength < SMALL && chunks.at(-2)!.byteLength <= last.byteLength) {
      last = concat(chunks.splice(-2))
      chunks.push(last)
    }
  }

  /**
   * The body of the next whole frame, or undefined until more bytes come. It may share memory with its chunk. An impossible
   * length throws a `ProtocolError`, once. The beginning of the next frame is then unknown, so it returns undefined from then
   * on, and drops all bytes.
   */
  next(): Uint8Array | undefined {
    const end = this.#frame()
    if (end === undefined) return undefined
    const body = this.#chunks[0]!.subarray(this.#taken + LENGTH_SIZE, end)
    this.#take(end)
    return body
  }

  /** As `next`, for the body alone: the same reader reads the next frame. So a frame costs no object. */
  read(): Reader | undefined {
    const end = this.#frame()
    if (end === undefined) return undefined
    const reader = (this.#reader ??= new Reader(this.#chunks[0]!)).select(this.#taken + LENGTH_SIZE, end)
    this.#take(end)
    return reader
  }

  /** Copies what is left of the last chunk: then its memory may be written to. */
  keep(): void {
    if (this.#available === 0) return
    if (this.#chunks.length === 1) this.#replace(this.#rest().slice())
    else this.#chunks.push(this.#chunks.pop()!.slice())
  }

  /**
   * All bytes so far, if the first four show text in place of a frame: a four-letter word, or the answer of a server to one.
   * Everything behind text is text, too. With `isText`, which is for the answer to text, any bytes are text.
   */
  takeText(isText = false): Uint8Array | undefined {
    this.#isText ||=
      isText || (this.#available >= LENGTH_SIZE && textOf(this.#whole(LENGTH_SIZE), LENGTH_SIZE) !== undefined)
    if (!this.#isText || this.#available === 0) return undefined
    const text = this.#rest()
    this.#clear()
    return text
  }

  /** The end of the next frame in the first chunk; undefined until it is whole. */
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

  /** Everything up to here in the first chunk is taken. */
  #take(end: number): void {
    this.#available -= end - this.#taken
    this.#taken = end
    if (end < this.#chunks[0]!.byteLength) return
    this.#chunks.shift()
    this.#taken = 0
    this.#reader = undefined
  }

  /** The first chunk, with at least so many bytes that were not taken. Where it is shorter, all chunks are joined first. */
  #whole(size: number): Uint8Array {
    if (this.#chunks[0]!.byteLength - this.#taken < size) this.#replace(this.#rest())
    return this.#chunks[0]!
  }

  /** All bytes that were not taken. */
  #rest(): Uint8Array {
    const [first, ...others] = this.#chunks
    return concat([first!.subarray(this.#taken), ...others])
  }

  /** This chunk stands for all that were not taken. */
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

/** One frame around what `write` writes. */
export function encodeFrame(write: (writer: Writer) => void): Bytes {
  const writer = new Writer()
  writer.int(0)
  write(writer)
  writer.setInt(0, writer.length - LENGTH_SIZE)
  return writer.finish()
}

/**
 * The first bytes, if they are text: printable ASCII characters, tabs and line ends. Read as a length, four of them are
 * 144 MiB at least.
 */
function textOf(bytes: Uint8Array, size: number): string | undefined {
  const text = String.fromCharCode(...bytes.subarray(0, size))
  return /^[\t\n\r -~]*$/.test(text) ? text : undefined
}
