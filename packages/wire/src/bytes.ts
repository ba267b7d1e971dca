import { invalid } from './invalid.ts'

/**
 * Bytes in memory that no other thread shares. Web APIs require them. The type is `Uint8Array<ArrayBuffer>`, and
 * `Uint8Array` for compilers before TypeScript 5.7. The return type of `slice` is right for both.
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

/** The same memory as a plain `Uint8Array`. (The `slice` of Node's Buffer does not copy.) */
export function asUint8Array(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(checkedBytes(bytes).buffer, bytes.byteOffset, bytes.byteLength)
}

/** Accepts bytes of a subclass or of another realm, too. Throws a `TypeError` for a string, an array, or wider items. */
export function checkedBytes(bytes: Uint8Array): Uint8Array {
  if (bytes?.BYTES_PER_ELEMENT !== 1) throw invalid(bytes, 'buffer', 'a Uint8Array')
  return bytes
}
