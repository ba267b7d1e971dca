import { describe, expect, test } from 'vitest'
import { compareTranscripts } from '@zk/conform/internal'

const kinds = (expected: string, actual: string): readonly string[] =>
  compareTranscripts([expected], [actual]).map(({ kind }) => kind)

describe('compareTranscripts', () => {
  test('equal transcripts have no difference', () => {
    expect(kinds('a: create {} -> Ok z1', 'a: create {} -> Ok z1')).toEqual([])
  })

  test('a difference that comes again has the same kind, and what comes after it is compared', () => {
    const expected = `a: getData { path: "/a" } -> Ok z1 { data: '' }
a: getData { path: "/b" } -> Ok z1 { data: '' }
a: getData { path: "/c" } -> NoNode z1`
    const actual = `a: getData { path: "/a" } -> Ok z1 { data: null }
a: getData { path: "/b" } -> Ok z1 { data: null }
a: getData { path: "/c" } -> NoAuth z1`
    expect(kinds(expected, actual)).toEqual([
      `getData: data '' → null`,
      `getData: data '' → null`,
      'getData: NoNode → NoAuth',
    ])
  })

  test('one transaction too many is no difference in the lines after it', () => {
    const expected = 'a: create {} -> Ok z1\na: delete {} -> NoNode z2\na: create {} -> Ok z3'
    const actual = 'a: create {} -> Ok z1\na: delete {} -> NoNode z3\na: create {} -> Ok z4'
    expect(kinds(expected, actual)).toEqual([])
  })

  test('a zxid that is the one of another transaction is a difference', () => {
    const expected = 'a: create {} -> Ok z1\na: setData {} -> Ok z2\na: exists {} -> Ok z2'
    const actual = 'a: create {} -> Ok z1\na: setData {} -> Ok z2\na: exists {} -> Ok z1'
    expect(kinds(expected, actual)).toEqual(['exists: zxid → zxid'])
  })

  test('an event that is missing, and one that is not expected, are told by their type', () => {
    const expected = 'a: event NodeCreated "/a" state 3 -1\na: exists {} -> Ok z1'
    const actual = 'a: exists {} -> Ok z1\na: event NodeDeleted "/a" state 3 -1'
    expect(kinds(expected, actual)).toEqual(['event: missing NodeCreated', 'event: not expected NodeDeleted'])
  })

  test('an answer that is missing does not shift those after it', () => {
    const expected = 'a: ping {} -> Ok 0\na: exists {} -> Ok z1'
    expect(kinds(expected, 'a: exists {} -> NoNode z1')).toEqual(['ping: missing Ok', 'exists: Ok → NoNode'])
  })
})
