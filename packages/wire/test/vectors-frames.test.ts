import { describe, expect, test } from 'vitest'
import { boolean, encodeFrame, Reader, type Type } from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { expectFrames } from './feeding.ts'
import { type Fields, lines, rows } from './vectors/lines.ts'
import { asReadFromJava, hasSurrogates, recordNamed, valueOf } from './vectors/values.ts'

const frames = lines('frame').map((line) => ({ ...line, surrogates: hasSurrogates(line.parts) }))

/** Before 3.4 a peer knew no readOnly byte. We read such frames, but always write the byte. */
const isFrom33 = (what: string) => what.endsWith('-3.3')

test('the vectors hold 92 frames: 16 of a 3.3 peer, 9 with surrogates', () => {
  expect(frames).toHaveLength(92)
  expect(frames.filter(({ what }) => isFrom33(what))).toHaveLength(16)
  expect(frames.filter(({ surrogates }) => surrogates)).toHaveLength(9)
})

const nameOf = ({ what, dir }: { what: string; dir: string }) => `${what} ${dir}`

describe.each(rows(frames, nameOf))('frame %s', (_title, { parts, hex }) => {
  const stream = bytesOf(hex)
  const body = stream.subarray(4)

  test('FrameDecoder finds it whole, byte by byte, and with more behind (W01)', () => {
    expectFrames(stream, [body])
  })

  test('a Reader finds its parts and nothing behind them', () => {
    const reader = new Reader(body)
    for (const { type, value } of typed(parts, asReadFromJava)) expect(type.read(reader)).toStrictEqual(value)
    expect(reader.remaining).toBe(0)
  })
})

const written = frames.filter(({ surrogates }) => !surrogates)

test.each(
  rows(
    written.filter(({ what }) => !isFrom33(what)),
    nameOf,
  ),
)('encodeFrame writes frame %s', (_title, { parts, hex }) => {
  expect(hexOf(encodeParts(parts))).toBe(hex)
})

test.each(
  rows(
    written.filter(({ what }) => isFrom33(what)),
    nameOf,
  ),
)('encodeFrame writes a readOnly byte behind frame %s', (_title, { parts, hex }) => {
  const body = `${hex.slice(8)}00`
  expect(hexOf(encodeParts(parts))).toBe(`${(body.length / 2).toString(16).padStart(8, '0')}${body}`)
})

function encodeParts(parts: readonly Fields[]): Uint8Array {
  return encodeFrame((writer) => {
    for (const { type, value } of typed(parts)) type.write(writer, value)
  })
}

/** The parts with their types. The readOnly byte, a part of its own in Java, is the last field of the record before it. */
function typed(parts: readonly Fields[], text?: (value: string) => string): { type: Type<unknown>; value: unknown }[] {
  const [handshake, readOnly] = parts
  if (readOnly !== undefined && boolean.name in readOnly) {
    return typed([handshake!], text).map(({ type, value }) => ({
      type,
      value: { ...(value as object), readOnly: readOnly.boolean },
    }))
  }
  return parts.flatMap((part) =>
    Object.entries(part).map(([record, fields]) => ({
      type: recordNamed(record) as Type<unknown>,
      value: valueOf(record, fields as Fields, text),
    })),
  )
}
