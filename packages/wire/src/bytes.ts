import { invalid } from './invalid.ts'

/**
 * Bytes in memory that is not shared with other threads, as Web APIs require. The type is `Uint8Array<ArrayBuffer>`, and for
 * compilers before TypeScript 5.7 `Uint8Array`. The return type of `slice` is the right one for both.
 */
export type Bytes = ReturnType<Uint8Array['slice']>

/** Joins the chunks. A single chunk is returned as it is, not copied. */
export function concat(chunks: readonly Uint8Array[]): Uint8Array {
  if (chunks.length === 1) return chunks[0]!
  const whole = new Uint8Array(chunks.reduce((total, chunk) => total + chunk.byteLength, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/** Returns the same memory as a plain `Uint8Array`, because the `slice` of Node's Buffer does not copy. */
export function asUint8Array(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(checkedBytes(bytes).buffer, bytes.byteOffset, bytes.byteLength)
}

/** Returns its argument. Throws a `TypeError` if the items are not one byte wide. Accepts subclasses and other realms. */
export function checkedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes?.BYTES_PER_ELEMENT !== 1) throw invalid(bytes, 'buffer', 'a Uint8Array')
  return bytes
}
