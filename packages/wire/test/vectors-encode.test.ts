import { describe, expect, test } from 'vitest'
import { decode, encode } from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { expectValue } from './feeding.ts'
import { lines, rows } from './vectors/lines.ts'
import {
  asJavaReads,
  asReadFromJava,
  hasSurrogates,
  recordNamed,
  valueOf,
  wellFormed,
  withReadOnly,
} from './vectors/values.ts'

const plain = lines('encode').filter((line) => line.java_decode === undefined)
const withSurrogates = lines('encode').filter((line) => line.java_decode !== undefined)

test('the vectors hold 371 values without and 54 with surrogates', () => {
  expect([plain.length, withSurrogates.length]).toEqual([371, 54])
  expect(plain.filter(({ v }) => hasSurrogates(v))).toEqual([])
  expect(withSurrogates.every(({ v }) => hasSurrogates(v))).toBe(true)
})

const records = lines('schema').map(({ record }) => record)

describe.each(records)('%s', (record) => {
  const ours = recordNamed(record)
  // Our handshake records end in the readOnly byte, false here; Java's of this release end before it.
  const readOnly = withReadOnly(record) ? '00' : ''
  const values = plain.filter((line) => line.record === record)

  test('is in the vectors', () => {
    expect(values).not.toEqual([])
  })

  test.each(rows(values))('encode writes the bytes that Java writes: %s', (_title, { v, hex }) => {
    expect(hexOf(encode(ours, valueOf(record, v)))).toBe(hex + readOnly)
  })

  test.each(rows(values))(
    'decode reads the bytes that Java writes, whole, never in part, and with more behind (W06, W09): %s',
    (_title, { v, hex }) => {
      expect(decode(ours, bytesOf(hex))).toStrictEqual(valueOf(record, v))
      expectValue(ours, bytesOf(hex + readOnly), valueOf(record, v), readOnly.length / 2)
    },
  )
})

// Java writes every UTF-16 unit by itself: six bytes for a pair, three for a lone surrogate. Nobody reads that back, Java
// included. We write standard UTF-8, as every other client does, and U+FFFD where there is no character to write.
const titled = rows(withSurrogates, ({ record }) => record)

describe.each(titled)('a string with surrogates in %s (W27)', (_title, { record, v, hex, java_decode }) => {
  const ours = recordNamed(record)

  test('encode writes standard UTF-8, with U+FFFD for a lone surrogate', () => {
    const written = encode(ours, valueOf(record, v))
    expect(hexOf(written)).toBe(hexOf(encode(ours, valueOf(record, v, wellFormed))))
    expect(decode(ours, written)).toStrictEqual(valueOf(record, v, wellFormed))
    expect(hexOf(written)).not.toBe(hex)
  })

  test("decode reads three U+FFFD for each surrogate of Java's, where Java reads one", () => {
    expect(decode(ours, bytesOf(hex))).toStrictEqual(valueOf(record, v, asReadFromJava))
    expect(valueOf(record, java_decode!)).toStrictEqual(valueOf(record, v, asJavaReads))
  })
})
