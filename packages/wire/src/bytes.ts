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
export function plain(bytes: Uint8Array): Uint8Array {
  return bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
