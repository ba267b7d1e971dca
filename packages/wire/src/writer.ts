import { type Bytes, checkedBytes } from './bytes.ts'
import { invalid } from './invalid.ts'

const utf8 = new TextEncoder()
/** Splits a long into two ints. All writers share it: each call of `long` fills it and reads it. */
const halves = new DataView(new ArrayBuffer(8))
/** In bytes. Most requests fit. V8 keeps an array of this size in its own heap. That is far cheaper than separate memory. */
const INITIAL_CAPACITY = 64
/** The least capacity after the first growth, in bytes. */
const NEXT_CAPACITY = 256
/** For strings of up to this many characters a loop is faster than a call of the encoder. */
const SHORT = 64

/**
 * Writes jute values one after the other into memory that grows. Throws a `RangeError` for a number that does not fit, and a
 * `TypeError` for a value of another type. No value is converted.
 */
export class Writer {
  #bytes: Bytes
  #length = 0

  /** `capacity`: the number of bytes for which there is room at first. */
  constructor(capacity = INITIAL_CAPACITY) {
    this.#bytes = new Uint8Array(capacity)
  }

  /** The number of bytes that were written. */
  get length(): number {
    return this.#length
  }

  /**
   * The current memory. The bytes so far are at its beginning. If the writer grows, it takes new memory, and this one stays as
   * it is.
   */
  get memory(): Bytes {
    return this.#bytes
  }

  /** Keeps the first `length` bytes, and drops what was written after them. */
  truncate(length: number): void {
    this.#length = length
  }

  /** An int: 4 bytes, the highest first. Throws a `RangeError` for a number that is not an integer of 32 bits. */
  int(value: number): void {
    this.#reserve(4)
    this.setInt(this.#length, value)
    this.#length += 4
  }

  /** A long: 8 bytes, the highest first. Throws a `RangeError` for a number of more than 64 bits. */
  long(value: bigint): void {
    if (typeof value !== 'bigint' || BigInt.asIntN(64, value) !== value) {
      throw invalid(value, 'long', 'a bigint of 64 bits', 'bigint')
    }
    halves.setBigInt64(0, value)
    this.int(halves.getInt32(0))
    this.int(halves.getInt32(4))
  }

  /** One byte: 1 or 0. */
  boolean(value: boolean): void {
    if (typeof value !== 'boolean') throw invalid(value, 'boolean', 'true or false')
    this.#reserve(1)
    this.#bytes[this.#length++] = value ? 1 : 0
  }

  /** A buffer: its length, then the bytes. The length is -1 for null. */
  buffer(value: Uint8Array | null): void {
    if (value === null) return this.int(-1)
    this.int(checkedBytes(value).byteLength)
    this.raw(value)
  }

  /** Bytes alone, without a length before them. */
  raw(bytes: Uint8Array): void {
    this.#reserve(checkedBytes(bytes).byteLength)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.byteLength
  }

  /**
   * A string: its length in bytes, then standard UTF-8. The length is -1 for null. A lone surrogate becomes U+FFFD (Java
   * would write three bytes that its own reader refuses).
   */
  ustring(value: string | null): void {
    if (value === null) return this.int(-1)
    if (typeof value !== 'string') throw invalid(value, 'ustring', 'a string or null')
    const { length } = value
    this.#reserve(4 + length)
    const start = this.#length + 4
    let written = 0
    if (length <= SHORT) {
      const bytes = this.#bytes
      for (; written < length; written++) {
        const unit = value.charCodeAt(written)
        if (unit > 0x7f) break
        bytes[start + written] = unit
      }
    }
    if (written < length) {
      // A UTF-16 unit takes at most three bytes.
      this.#reserve(4 + length * 3)
      written = utf8.encodeInto(value, this.#bytes.subarray(start)).written
    }
    this.setInt(this.#length, written)
    this.#length = start + written
  }

  /** Overwrites an int that was written before. */
  setInt(offset: number, value: number): void {
    if (typeof value !== 'number' || value !== (value | 0)) {
      throw invalid(value, 'int', 'an integer of 32 bits', 'number')
    }
    const bytes = this.#bytes
    bytes[offset] = value >> 24
    bytes[offset + 1] = value >> 16
    bytes[offset + 2] = value >> 8
    bytes[offset + 3] = value
  }

  /** A copy of the bytes so far. */
  toBytes(): Bytes {
    return this.#bytes.slice(0, this.#length)
  }

  /** The bytes so far. They may be a part of the writer's memory, so the writer must not be used afterwards. */
  finish(): Bytes {
    return this.#bytes.length > INITIAL_CAPACITY ? this.#bytes.subarray(0, this.#length) : this.toBytes()
  }

  /** Makes room for `size` more bytes. This may replace `#bytes`. */
  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2, NEXT_CAPACITY))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
  }
}
