// A frame is a 4-byte big-endian length and that many bytes. Everything on a connection is a frame, in both directions.
import { ProtocolError } from './protocol-error.ts'
import { Writer } from './writer.ts'

const LENGTH_SIZE = 4
/** Default of ZooKeeper's jute.maxbuffer: a server closes the connection, without an answer, at a longer request. */
export const JUTE_MAXBUFFER = 0xfffff
const DEFAULT_LIMIT = 4 * 1024 * 1024
const TEXT_SHOWN = 200

/** A frame longer than the limit. `size` is what its length said. */
export class FrameTooLargeError extends ProtocolError {
  readonly size: number
  readonly limit: number

  constructor(size: number, limit: number) {
    super(`a frame of ${size} bytes is over the limit of ${limit}`)
    this.size = size
    this.limit = limit
  }
}

export interface FrameDecoderOptions {
  /** Longest frame accepted, in bytes. @default 4 MiB */
  readonly limit?: number
}

/**
 * Cuts a stream of bytes into frames. Memory follows the bytes that came in, never the length that was announced; work
 * is linear in them, however they are cut.
 *
 *     decoder.push(chunk)
 *     for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) …
 */
export class FrameDecoder {
  readonly #limit: number
  #chunks: Uint8Array[] = []
  #available = 0

  constructor({ limit = DEFAULT_LIMIT }: FrameDecoderOptions = {}) {
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return
    this.#chunks.push(plain(chunk))
    this.#available += chunk.byteLength
  }

  /**
   * The body of the next whole frame, or undefined until more bytes come. It may share memory with the chunk it came in.
   * Throws `ProtocolError` at a length that cannot be; from then on every call throws.
   */
  next(): Uint8Array | undefined {
    if (this.#available < LENGTH_SIZE) return undefined
    const length = this.#length()
    if (this.#available < LENGTH_SIZE + length) return undefined
    return this.#take(LENGTH_SIZE + length).subarray(LENGTH_SIZE)
  }

  #length(): number {
    const head = this.#peek(LENGTH_SIZE)
    const length = new DataView(head.buffer, head.byteOffset, LENGTH_SIZE).getInt32(0)
    if (length >= 0 && length <= this.#limit) return length
    const text = this.#text()
    if (text !== undefined) throw new ProtocolError(`text in place of a frame: ${JSON.stringify(text)}`)
    if (length < 0) throw new ProtocolError(`a frame cannot have ${length} bytes`)
    throw new FrameTooLargeError(length, this.#limit)
  }

  /** A server that is not serving answers in words, as does one of another kind altogether. */
  #text(): string | undefined {
    const bytes = this.#peek(Math.min(this.#available, TEXT_SHOWN))
    const printable = bytes.every((byte) => (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d)
    return printable ? String.fromCharCode(...bytes).trim() : undefined
  }

  #peek(size: number): Uint8Array {
    this.#gather(size)
    return this.#chunks[0]!.subarray(0, size)
  }

  #take(size: number): Uint8Array {
    this.#gather(size)
    const first = this.#chunks[0]!
    if (first.byteLength === size) this.#chunks.shift()
    else this.#chunks[0] = first.subarray(size)
    this.#available -= size
    return first.subarray(0, size)
  }

  /** Makes the first chunk hold at least `size` bytes. */
  #gather(size: number): void {
    if (this.#chunks[0]!.byteLength >= size) return
    this.#chunks = [concat(this.#chunks, this.#available)]
  }
}

/** One frame around what `write` writes. */
export function encodeFrame(write: (writer: Writer) => void): Uint8Array<ArrayBuffer> {
  const writer = new Writer()
  writer.int(0)
  write(writer)
  writer.setInt(0, writer.length - LENGTH_SIZE)
  return writer.toBytes()
}

/** The chunks, one after the other, in one piece: a copy, unless there is only one. */
export function concat(chunks: readonly Uint8Array[], length = sum(chunks)): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

function sum(chunks: readonly Uint8Array[]): number {
  return chunks.reduce((total, chunk) => total + chunk.byteLength, 0)
}

/** The same memory without a subclass: the `slice` of Node's Buffer, for one, does not copy. */
function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
