import { invalid } from './invalid.ts'

/**
 * Bytes in memory that no other thread shares, as Web APIs ask for: `Uint8Array<ArrayBuffer>`, which compilers before
 * TypeScript 5.7 call `Uint8Array`. The type that `slice` returns is right in both.
 */
export type Bytes = ReturnType<Uint8Array['slice']>

/** The chunks, one after the other, in one piece: a copy, unless there is only one. */
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

/** The same memory without a subclass: the `slice` of Node's Buffer, for one, does not copy. */
export function plain(bytes: Uint8Array): Uint8Array {
  if (bytes.constructor === Uint8Array) return bytes
  return new Uint8Array(sureBytes(bytes).buffer, bytes.byteOffset, bytes.byteLength)
}

/** The bytes, which may be of a subclass or of another realm; a `TypeError` for a string, an array, wider items. */
export function sureBytes(bytes: Uint8Array): Uint8Array {
  if (bytes?.BYTES_PER_ELEMENT !== 1) throw invalid(bytes, 'buffer', 'a Uint8Array')
  return bytes
}
