// What is true of every record and every value of it; fast-check prints the seed of what is not.
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  buffer,
  decode,
  encode,
  encodeFrame,
  MultiRequest,
  MultiResponse,
  ProtocolError,
  Reader,
  type Type,
  ustring,
  vector,
} from '../src/index.ts'
import { records, valuesOf } from './arbitraries.ts'
import { hexOf, joined } from './bytes.ts'
import { framesOf } from './feeding.ts'
import { lines } from './vectors/lines.ts'

const types: readonly Type<unknown>[] = [...records.values(), MultiRequest, MultiResponse]
const named = types.map((type) => [type.name, type] as const)
const OPTIONAL: Readonly<Record<string, number>> = { ConnectRequest: 1, ConnectResponse: 1, LearnerInfo: 8 }
const RUNS = { numRuns: 40 }

test('every record of zookeeper.jute has its properties here', () => {
  const names = lines('schema').map(({ record }) => record.slice(record.lastIndexOf('.') + 1))
  expect([...records.keys()]).toEqual(expect.arrayContaining(names))
})

describe.each(named)('%s', (_name, type) => {
  const values = valuesOf(type)
  /** A last field that older peers leave out may be missing, whole. */
  const optional = OPTIONAL[type.name] ?? 0

  test('is what it was after being written and read', () => {
    fc.assert(
      fc.property(values, (value) => {
        expect(decode(type, encode(type, value))).toStrictEqual(value)
      }),
      RUNS,
    )
  })

  test('cut at any byte is a ProtocolError (W06)', () => {
    fc.assert(
      fc.property(values, (value) => {
        const bytes = encode(type, value)
        for (let length = 0; length < bytes.byteLength - optional; length++) {
          expect(() => decode(type, bytes.subarray(0, length))).toThrow(ProtocolError)
        }
      }),
      { numRuns: 10 },
    )
  })

  test('is the same with more behind it, which is counted (W09)', () => {
    fc.assert(
      fc.property(values, fc.uint8Array({ minLength: 1, maxLength: 9 }), (value, more) => {
        const reader = new Reader(joined(encode(type, value), more))
        expect(type.read(reader)).toStrictEqual(value)
        expect([reader.remaining, hexOf(reader.rest())]).toEqual([more.byteLength, hexOf(more)])
      }),
      RUNS,
    )
  })

  test('with a bit flipped is a value that can be written, or a ProtocolError (W07, W08)', () => {
    fc.assert(
      fc.property(values, fc.nat(), (value, at) => {
        const bytes = encode(type, value)
        if (bytes.byteLength === 0) return
        bytes[(at >> 3) % bytes.byteLength]! ^= 1 << (at & 7)
        expectValueOrProtocolError(type, bytes)
      }),
      RUNS,
    )
  })
})

test('bytes of any kind are a value or a ProtocolError, for every record', () => {
  const small = fc.integer({ min: 0, max: 3 })
  const bytes = fc.array(fc.oneof(small, small, small, fc.integer({ min: 0, max: 255 })), {
    maxLength: 120,
    size: 'max',
  })
  fc.assert(
    fc.property(fc.constantFrom(...types), bytes, (type, bytes) =>
      expectValueOrProtocolError(type, Uint8Array.from(bytes)),
    ),
    { numRuns: 5_000 },
  )
})

describe('FrameDecoder', () => {
  const bodies = fc.array(fc.uint8Array({ maxLength: 30 }), { maxLength: 12, size: 'max' })

  test('FrameDecoder finds the same frames however the stream is cut (W01)', () => {
    fc.assert(
      fc.property(bodies, fc.array(fc.nat(400)), (bodies, cuts) => {
        const stream = joined(...bodies.map((body) => encodeFrame((writer) => writer.raw(body))))
        const places = [...cuts.filter((cut) => cut < stream.byteLength), stream.byteLength].sort((a, b) => a - b)
        const chunks = places.map((place, index) => stream.subarray(places[index - 1] ?? 0, place))
        expect(framesOf(chunks)).toEqual(bodies.map(hexOf))
      }),
    )
  })
})

// The same strings by the way that reads one after the other: names are read many at once only where they are
// `ustring`s.
describe('vector(ustring)', () => {
  const oneByOne: Type<string | null> = { ...ustring }
  const names = fc.array(valuesOf(ustring) as fc.Arbitrary<string | null>, { maxLength: 60, size: 'max' })

  test('vector(ustring) reads as one by one would', () => {
    fc.assert(
      fc.property(names, (names) => {
        const bytes = encode(vector(ustring), names)
        expect(decode(vector(ustring), bytes)).toStrictEqual(names)
        expect(decode(vector(oneByOne), bytes)).toStrictEqual(names)
      }),
      { numRuns: 300 },
    )
  })

  // Bytes of UTF-8 in every disorder, most of them not ASCII.
  const byte = fc.oneof(
    fc.integer({ min: 0x80, max: 0xff }),
    fc.constantFrom(0xc3, 0xa9, 0xe2, 0x82, 0xef, 0xbf, 0xbd, 0x61),
  )
  const malformed = fc.array(fc.array(byte, { maxLength: 5 }), { minLength: 1, maxLength: 12, size: 'max' })

  test('vector(ustring) makes of malformed UTF-8 what one by one would make', () => {
    fc.assert(
      fc.property(malformed, (strings) => {
        const bytes = encode(
          vector(buffer),
          strings.map((string) => Uint8Array.from(string)),
        )
        expect(decode(vector(ustring), bytes)).toStrictEqual(decode(vector(oneByOne), bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  test('vector(ustring) makes of altered bytes what one by one would make, errors included', () => {
    fc.assert(
      fc.property(names, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 }), (names, changes) => {
        const bytes = encode(vector(ustring), names)
        for (const [at, byte] of changes) bytes[at % bytes.byteLength] = byte
        expect(outcome(vector(ustring), bytes)).toStrictEqual(outcome(vector(oneByOne), bytes))
      }),
      { numRuns: 1_000 },
    )
  })
})

function outcome(type: Type<unknown>, bytes: Uint8Array): unknown {
  try {
    const reader = new Reader(bytes)
    return { value: type.read(reader), offset: reader.offset }
  } catch (error) {
    return (error as Error).message
  }
}

/** What decode makes of the bytes, encode can write, and decode gives again. */
function expectValueOrProtocolError(type: Type<unknown>, bytes: Uint8Array): void {
  let value: unknown
  try {
    value = decode(type, bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError)
    return
  }
  expect(decode(type, encode(type, value))).toStrictEqual(value)
}
