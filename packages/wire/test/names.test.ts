import { describe, expect, test } from 'vitest'
import { decode, encode, ustring, vector } from '../src/index.ts'
import { bytesOf } from './bytes.ts'
import { expectValue } from './feeding.ts'
import { thrownBy } from './thrown.ts'

// Names are read many at once as long as they are short and ASCII: here is where that begins and ends.
describe('vector(ustring)', () => {
  const name = (length: number) => 'x'.repeat(length)

  test.each<[what: string, names: (string | null)[]]>([
    ['no name', []],
    ['empty names', ['', '', '']],
    ['nulls at both ends', [null, 'a', null]],
    ['a name of 127, 128 and 129 bytes', [name(127), 'a', name(128), 'b', name(129)]],
    ['names around the end of a run', Array.from({ length: 40 }, (_, index) => name(40 + index))],
    ['one name that is not ASCII', ['a', 'b', 'é', 'c']],
    ['a replacement character', ['a', '\ufffd', 'b']],
    ['a byte order mark first', ['\ufeffa', 'b']],
    ['control characters', ['\0', '\u007f', '\n']],
  ])('vector(ustring) reads %s', (_what, names) => {
    expectValue(vector(ustring), encode(vector(ustring), names), names)
  })

  test('vector(ustring) reads malformed UTF-8 that has as many bytes as characters', () => {
    expect(decode(vector(ustring), bytesOf('00000003 00000001 61 00000001 ff 00000002 8080'))).toEqual([
      'a',
      '\ufffd',
      '\ufffd\ufffd',
    ])
  })

  test('GetChildrenResponse names the string of a list that ends too early', () => {
    const refusals = ['00000003 00000001 61 00000001 62 00000002 63', '00000003 00000001 61 00000001 62 000000']
    expect(refusals.map((hex) => (thrownBy(() => decode(vector(ustring), bytesOf(hex))) as Error).message)).toEqual([
      '1 bytes are left for a string of 2 bytes in vector<ustring>[2] at byte 18',
      '3 bytes are left for an int in vector<ustring>[2] at byte 14',
    ])
  })

  test('vector(ustring) gives names that keep little of the frame alive', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `_c_${name(36)}-lock-${index}`)
    expect(decode(vector(ustring), encode(vector(ustring), names))).toEqual(names)
  })
})
