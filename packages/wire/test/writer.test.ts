import { runInNewContext } from 'node:vm'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CreateRequest, encode, int, long, Reader, Writer } from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'

describe('Writer refuses numbers that do not fit', () => {
  test.each([2 ** 31, -(2 ** 31) - 1, 2 ** 32, 0.5, NaN, Infinity, -Infinity])(
    'Writer refuses %d as an int',
    (value) => {
      expect(() => new Writer().int(value)).toThrow(new RangeError(`int must be an integer of 32 bits, not ${value}`))
      expect(() => new Writer().setInt(0, value)).toThrow(RangeError)
    },
  )

  test('Writer takes every int up to both ends, and -0 for 0', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (value) => {
        expect(new Reader(encode(int, value)).int()).toBe(value)
      }),
    )
    expect([2 ** 31 - 1, -(2 ** 31), -0].map((value) => hexOf(encode(int, value)))).toEqual([
      '7fffffff',
      '80000000',
      '00000000',
    ])
  })

  test.each([2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n])('Writer refuses %d as a long', (value) => {
    const message = `long must be a bigint of 64 bits, not ${value}`
    expect(() => new Writer().long(value)).toThrow(new RangeError(message))
    expect(() => encode(long, value)).toThrow(new RangeError(`long: ${message}`))
  })

  test('Writer takes every long up to both ends', () => {
    const ends = [2n ** 63n - 1n, -(2n ** 63n), -1n, 2n ** 32n, -(2n ** 32n), 2n ** 31n, 0xffff_ffffn]
    const longs = fc.oneof(fc.constantFrom(...ends), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }))
    fc.assert(
      fc.property(longs, (value) => {
        expect(new Reader(encode(long, value)).long()).toBe(value)
      }),
    )
  })

  test('Writer has not written the number that it refused', () => {
    const writer = new Writer()
    writer.int(1)
    expect(() => writer.int(2 ** 31)).toThrow(RangeError)
    expect(() => writer.long(2n ** 63n)).toThrow(RangeError)
    expect(hexOf(writer.toBytes())).toBe('00000001')
  })

  test('CreateRequest refuses flags that no int holds instead of wrapping them around', () => {
    expect(() => encode(CreateRequest, { path: '/a', data: null, acl: null, flags: 2 ** 32 + 1 })).toThrow(RangeError)
  })
})

describe('Writer refuses values of another type instead of changing them', () => {
  const of = (kind: 'int' | 'long' | 'boolean' | 'ustring' | 'buffer' | 'raw', wanted: string, ...values: unknown[]) =>
    values.map((value) => [kind, value, wanted] as const)

  test.each([
    ...of('int', 'int must be an integer of 32 bits', '5', null, undefined, true, 5n, {}, Symbol('5')),
    ...of('long', 'long must be a bigint of 64 bits', 5, '5', 'x', null, undefined, true),
    ...of('boolean', 'boolean must be true or false', undefined, null, 'false', 0, 1),
    ...of('ustring', 'ustring must be a string or null', undefined, 5, {}, [], ['a'], () => 'a', Symbol('a')),
    ...of('buffer', 'buffer must be a Uint8Array', 'a', [1], { byteLength: 3 }, new ArrayBuffer(2)),
    ...of('buffer', 'buffer must be a Uint8Array', new DataView(new ArrayBuffer(2)), new Uint16Array(2)),
    ...of('raw', 'buffer must be a Uint8Array', 'a', [1], new ArrayBuffer(2), new Uint16Array(2)),
  ])('Writer.%s refuses %o', (kind, value, wanted) => {
    const writer = new Writer()
    const type = value === null ? 'null' : typeof value
    expect(() => writer[kind](value as never)).toThrow(new TypeError(`${wanted}, not ${type}`))
    expect(writer.length).toBe(0)
  })

  test.each<[string, Uint8Array]>([
    ['a Buffer', Buffer.from('beef', 'hex')],
    ['a Uint8Array of another realm', runInNewContext('Uint8Array.of(0xbe, 0xef)') as Uint8Array],
  ])('Writer.buffer takes %s', (_what, bytes) => {
    const writer = new Writer()
    writer.buffer(bytes)
    expect(hexOf(writer.toBytes())).toBe('00000002beef')
  })
})

describe('Writer', () => {
  test('Writer.raw writes bytes as they are, without their length', () => {
    const writer = new Writer()
    writer.raw(bytesOf('beef'))
    writer.raw(bytesOf(''))
    expect(hexOf(writer.toBytes())).toBe('beef')
  })

  test.each([0, 1, 63, 64, 65, 255, 256, 257])(
    'Writer.finish gives the %i bytes that were written, from the first on',
    (size) => {
      const bytes = Uint8Array.from({ length: size }, (_, index) => index)
      const writer = new Writer()
      writer.raw(bytes)
      const finished = writer.finish()
      expect(hexOf(finished)).toBe(hexOf(bytes))
      expect(finished.byteOffset).toBe(0)
    },
  )

  // 64 characters are the end of the short way, a character of two bytes that of the ASCII one.
  test.each([0, 1, 63, 64, 65, 200])(
    'Writer.ustring writes %i characters of ASCII, and one more of another kind',
    (length) => {
      const ascii = 'x'.repeat(length)
      const expected = (text: string) => {
        const bytes = Buffer.from(text)
        const head = Buffer.alloc(4)
        head.writeInt32BE(bytes.length)
        return Buffer.concat([head, bytes]).toString('hex')
      }
      for (const text of [ascii, `${ascii}é`, `é${ascii}`, `${ascii}😀`]) {
        const writer = new Writer()
        writer.ustring(text)
        writer.boolean(true)
        expect(hexOf(writer.toBytes())).toBe(`${expected(text)}01`)
      }
    },
  )
})
