import { type Bytes, asUint8Array } from './bytes.ts'
import { invalid } from './invalid.ts'
import { ProtocolError } from './protocol-error.ts'

// The decoder keeps a byte order mark, as Java does.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** The longest string that V8 allows. For a longer one V8 would throw an error of its own, not a `ProtocolError`. */
const LONGEST_STRING = 0x1fff_ffe8
/** About how many bytes of strings are decoded at once. Not more: each of the strings keeps the memory of all of them. */
const RUN_SIZE = 1024
/** In bytes. Each longer string is decoded alone. */
const LONGEST_IN_RUN = 127

/** Reads jute values one after the other. Its methods throw only `ProtocolError`. */
export class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset: number
  /** Only the bytes from `#start` to `#end` are read: see `select`. */
  #start = 0
  #end: number

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = asUint8Array(bytes)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    if (offset >>> 0 !== offset || offset > bytes.length) throw invalid(offset, 'offset', 'in the bytes', 'number')
    this.#offset = offset
    this.#end = bytes.length
  }

  /** The number of bytes that were read. */
  get offset(): number {
    return this.#offset - this.#start
  }

  /** The number of bytes that were not read yet. Those after a whole record are fields that a newer peer has added. */
  get remaining(): number {
    return this.#end - this.#offset
  }

  /**
   * From now on reads only the bytes from `start` to `end`. So one reader can read all frames of a chunk: a new view for each
   * frame would take a third of the time of a small reply.
   */
  select(start: number, end: number): this {
    this.#start = start
    this.#offset = start
    this.#end = end
    return this
  }

  /** An int: 4 bytes, the highest first. */
  int(): number {
    return this.#view.getInt32(this.#take(4, 'an int'))
  }

  /** A long: 8 bytes, the highest first. */
  long(): bigint {
    const offset = this.#take(8, 'a long')
    // Most are 0 in replies: the owners of nodes that are not ephemeral. A literal is not allocated.
    const isZero = this.#view.getInt32(offset + 4) === 0 && this.#view.getInt32(offset) === 0
    return isZero ? 0n : this.#view.getBigInt64(offset)
  }

  /** A boolean: one byte. Any byte except 0 is true, as in Java. */
  boolean(): boolean {
    return this.#bytes[this.#take(1, 'a boolean')] !== 0
  }

  /** A buffer: its length, then the bytes. Returns a copy, which does not keep the memory of the frame. */
  buffer(): Bytes | null {
    const length = this.#sized('a buffer')
    return length === null ? null : this.#bytes.slice(this.#offset - length, this.#offset)
  }

  /** A copy of the bytes that were not read yet. The position does not change. */
  rest(): Bytes {
    return this.#bytes.slice(this.#offset, this.#end)
  }

  /** A string: its length in bytes, then UTF-8. Malformed UTF-8 becomes U+FFFD, as in Java. */
  ustring(): string | null {
    const length = this.#sized('a string')
    if (length === null) return null
    if (length > LONGEST_STRING) throw new ProtocolError('a string is too long')
    return utf8.decode(this.#bytes.subarray(this.#offset - length, this.#offset))
  }

  /**
   * Reads `count` strings. Short ASCII strings, as most names are, are decoded in groups. The array has its length from the
   * start: if it grows with each of 10,000 names, this takes half as long again.
   */
  ustrings(count: number): (string | null)[] {
    // oxlint-disable-next-line unicorn/no-new-array -- `Array.from` calls a function for each item
    const items = new Array<string | null>(count)
    let index = 0
    try {
      while (index < count) {
        const start = this.#offset
        const end = this.#runEnd(count - index)
        const text = start < end ? utf8.decode(this.#bytes.subarray(start, end)) : undefined
        // As many characters as bytes: all are ASCII. The character before each string is the last byte of its length.
        if (text?.length === end - start) {
          this.#offset = end
          for (let from = 4; from <= text.length; from += 4)
            items[index++] = text.slice(from, (from += text.charCodeAt(from - 1)))
          continue
        }
        do {
          items[index] = this.ustring()
          index++
        } while (this.#offset < end)
      }
    } catch (error) {
      throw (error as ProtocolError).within(`[${index}]`)
    }
    return items
  }

  /**
   * Reads the number of items of a vector, or null for a null vector. Each item takes at least `itemSize` bytes. A count that
   * is too large for the remaining bytes is refused before memory is allocated for it.
   */
  count(itemSize: number): number | null {
    const { offset } = this
    const count = this.#length('a vector', 'items')
    if (count === null || count * itemSize <= this.remaining) return count
    throw this.#missing(count, offset, 'a vector', 'items')
  }

  /** Returns the end of the next run: at most `more` strings that are short, complete, and together fit into one run. */
  #runEnd(more: number): number {
    let end = this.#offset
    const run = end + RUN_SIZE
    const last = this.#end - 4
    for (; more > 0 && end <= run && end <= last; more--) {
      const length = this.#view.getInt32(end)
      if (length >>> 0 > Math.min(LONGEST_IN_RUN, last - end)) break
      end += 4 + length
    }
    return end
  }

  /** Reads the length of a buffer or a string, and skips the bytes. */
  #sized(what: string): number | null {
    const length = this.#length(what, 'bytes')
    if (length !== null) this.#take(length, what, 'bytes')
    return length
  }

  #length(what: string, units: string): number | null {
    const { offset } = this
    const length = this.int()
    if (length < -1) throw new ProtocolError(`${what} cannot have ${length} ${units}`, { offset })
    return length === -1 ? null : length
  }

  #take(size: number, what: string, units?: string): number {
    const start = this.#offset
    if (size > this.#end - start) throw this.#missing(size, start - this.#start, what, units)
    this.#offset = start + size
    return start
  }

  #missing(size: number, offset: number, what: string, units?: string): ProtocolError {
    const whole = units === undefined ? what : `${what} of ${size} ${units}`
    return new ProtocolError(`${this.remaining} bytes are left for ${whole}`, { offset })
  }
}
