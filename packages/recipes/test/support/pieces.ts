const LENGTH = 4

/** Bytes cut where a frame ends. What is no frame stays in one piece with the frame before it. */
export function piecesOf(bytes: Uint8Array): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let start = 0
  for (let end = endOfFrame(bytes, 0); end !== undefined;) {
    const next = endOfFrame(bytes, end)
    pieces.push(bytes.slice(start, next === undefined ? bytes.byteLength : end))
    start = end
    end = next
  }
  return pieces.length === 0 ? [bytes.slice()] : pieces
}

/** undefined where no whole frame begins. */
function endOfFrame(bytes: Uint8Array, start: number): number | undefined {
  if (start + LENGTH > bytes.byteLength) return undefined
  const length = new DataView(bytes.buffer, bytes.byteOffset + start).getInt32(0)
  const end = start + LENGTH + length
  return length >= 0 && end <= bytes.byteLength ? end : undefined
}
