const utf8 = new TextEncoder()
const INITIAL_CAPACITY = 256

/** Writes jute values one after the other into memory that grows. */
export class Writer {
  #bytes: Uint8Array<ArrayBuffer> = new Uint8Array(INITIAL_CAPACITY)
  #view: DataView = new DataView(this.#bytes.buffer)
  #length = 0

  get length(): number {
    return this.#length
  }

  int(value: number): void {
    const at = this.#grow(4)
    this.#view.setInt32(at, value)
  }

  long(value: bigint): void {
    const at = this.#grow(8)
    this.#view.setBigInt64(at, value)
  }

  boolean(value: boolean): void {
    const at = this.#grow(1)
    this.#view.setUint8(at, value ? 1 : 0)
  }

  buffer(value: Uint8Array | null): void {
    if (value === null) return this.int(-1)
    this.int(value.byteLength)
    const at = this.#grow(value.byteLength)
    this.#bytes.set(value, at)
  }

  /** Standard UTF-8. A lone surrogate becomes U+FFFD (Java would write three bytes that its own reader refuses). */
  ustring(value: string | null): void {
    if (value === null) return this.int(-1)
    const at = this.#grow(4)
    // A UTF-16 unit takes at most three bytes of UTF-8.
    this.#reserve(value.length * 3)
    const { written } = utf8.encodeInto(value, this.#bytes.subarray(this.#length))
    this.#length += written
    this.#view.setInt32(at, written)
  }

  /** Overwrites an int that was written before. */
  setInt(offset: number, value: number): void {
    this.#view.setInt32(offset, value)
  }

  /** A copy of what was written so far. */
  toBytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length)
  }

  /** Where the next `size` bytes go. It may replace the memory: call it before `#view` or `#bytes` is looked at. */
  #grow(size: number): number {
    this.#reserve(size)
    const start = this.#length
    this.#length = start + size
    return start
  }

  #reserve(size: number): void {
    const needed = this.#length + size
    if (needed <= this.#bytes.byteLength) return
    const larger = new Uint8Array(Math.max(needed, this.#bytes.byteLength * 2))
    larger.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
