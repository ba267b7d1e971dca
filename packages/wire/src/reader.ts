import { ProtocolError } from './protocol-error.ts'

// A byte order mark is data here: Java keeps it.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Reads jute values one after the other. Every method throws `ProtocolError` and nothing else. */
export class Reader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset: number

  constructor(bytes: Uint8Array, offset = 0) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#offset = offset
  }

  get offset(): number {
    return this.#offset
  }

  get remaining(): number {
    return this.#bytes.byteLength - this.#offset
  }

  int(): number {
    return this.#view.getInt32(this.#take(4, 'an int'))
  }

  long(): bigint {
    return this.#view.getBigInt64(this.#take(8, 'a long'))
  }

  /** Any byte but 0 is true, as in Java. */
  boolean(): boolean {
    return this.#view.getUint8(this.#take(1, 'a boolean')) !== 0
  }

  /** A copy: what it returns does not keep the frame alive. */
  buffer(): Uint8Array<ArrayBuffer> | null {
    const length = this.#length('buffer')
    if (length === null) return null
    const start = this.#take(length, `a buffer of ${length} bytes`)
    const copy = new Uint8Array(length)
    copy.set(this.#bytes.subarray(start, start + length))
    return copy
  }

  /** Malformed UTF-8 becomes U+FFFD, as in Java. */
  ustring(): string | null {
    const length = this.#length('string')
    if (length === null) return null
    if (length === 0) return ''
    const start = this.#take(length, `a string of ${length} bytes`)
    return utf8.decode(this.#bytes.subarray(start, start + length))
  }

  /**
   * The count of a vector whose items take at least `itemSize` bytes each; null for a null vector.
   * A count that the bytes in hand cannot hold is refused before anything is allocated for it.
   */
  count(itemSize: number): number | null {
    const offset = this.#offset
    const count = this.int()
    if (count === -1) return null
    if (count < 0) throw new ProtocolError(`a vector cannot have ${count} items`, { offset })
    if (count * itemSize > this.remaining) {
      throw new ProtocolError(`${this.remaining} bytes are left for a vector of ${count} items`, { offset })
    }
    return count
  }

  #length(what: string): number | null {
    const offset = this.#offset
    const length = this.int()
    if (length === -1) return null
    if (length < 0) throw new ProtocolError(`a ${what} cannot have ${length} bytes`, { offset })
    return length
  }

  #take(size: number, what: string): number {
    const start = this.#offset
    if (size > this.#bytes.byteLength - start) {
      throw new ProtocolError(`${this.remaining} bytes are left for ${what}`, { offset: start })
    }
    this.#offset = start + size
    return start
  }
}
