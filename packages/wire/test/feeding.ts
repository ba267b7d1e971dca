// Every reader is fed three times: whole, byte by byte, and with more behind it.
import { expect } from 'vitest'
import { decode, FrameDecoder, type FrameDecoderOptions, ProtocolError, Reader, type Type } from '../src/index.ts'
import { bytesOf, hexOf, joined } from './bytes.ts'

const MOST_CUTS = 64

/** The frames in `stream` are `bodies`, however it is cut and whatever begins behind it. */
export function expectFrames(stream: Uint8Array, bodies: readonly Uint8Array[], options?: FrameDecoderOptions): void {
  const expected = bodies.map(hexOf)
  expect(framesOf([stream], options), 'whole').toEqual(expected)
  expect(framesOf(byteByByte(stream), options), 'byte by byte').toEqual(expected)
  expect(framesOf([joined(stream, bytesOf('000000'))], options), 'with half a length behind').toEqual(expected)
  expect(framesOf([joined(stream, bytesOf('00000002 beef'))], options), 'with a frame behind').toEqual([
    ...expected,
    'beef',
  ])
}

/**
 * `bytes` are `value`, also with more behind them; when any of them are missing, that is a `ProtocolError` and never a
 * part of the value. The last `optional` bytes may be missing.
 */
export function expectValue<T>(type: Type<T>, bytes: Uint8Array, value: T, optional = 0): void {
  expect(decode(type, bytes), 'whole').toStrictEqual(value)
  const reader = new Reader(joined(bytes, bytesOf('00ff7f80')))
  expect(type.read(reader), 'with more behind').toStrictEqual(value)
  expect(reader.offset, 'bytes read of more').toBe(bytes.byteLength)
  expect(readableCuts(type, bytes, optional), 'lengths that pass for the whole').toEqual([])
}

/** The frames as hex, taken down only after the last push: one that is kept must not change. */
export function framesOf(chunks: readonly Uint8Array[], options?: FrameDecoderOptions): string[] {
  const decoder = new FrameDecoder(options)
  const frames: Uint8Array[] = []
  for (const chunk of chunks) {
    decoder.push(chunk)
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(frame)
  }
  return frames.map(hexOf)
}

export function byteByByte(bytes: Uint8Array): Uint8Array[] {
  return Array.from(bytes, (byte) => Uint8Array.of(byte))
}

/** Lengths at which the cut bytes gave anything but a `ProtocolError`: every length of short values, a sample of long ones. */
function readableCuts(type: Type<unknown>, bytes: Uint8Array, optional: number): number[] {
  const step = Math.ceil(bytes.byteLength / MOST_CUTS)
  const cuts: number[] = []
  for (let length = bytes.byteLength - optional - 1; length >= 0; length -= step) {
    if (!isRefused(() => decode(type, bytes.subarray(0, length)))) cuts.push(length)
  }
  return cuts
}

function isRefused(read: () => unknown): boolean {
  try {
    read()
    return false
  } catch (error) {
    if (error instanceof ProtocolError) return true
    throw error
  }
}
