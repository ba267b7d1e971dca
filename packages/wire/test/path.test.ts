import { describe, expect, test } from 'vitest'
import { parentOf, validatePath } from '../src/index.ts'

describe('validatePath says what is wrong', () => {
  test.each([
    ['', `path "" must not be empty; the root is '/'`],
    ['a', `path "a" must start with '/'`],
    ['/a/', `path "/a/" must not end with '/'`],
    ['//', `path "//" must not end with '/'`],
    ['/a//b', `path "/a//b" must not have an empty name between two '/'`],
    ['/./b', 'path "/./b" must not have the relative part "."'],
    ['/a/..', 'path "/a/.." must not have the relative part ".."'],
    [
      '/a\0b',
      'path "/a\\u0000b" must not have the character U+0000 (index 2): control, private use, surrogates and U+FFF0 on are refused',
    ],
    [
      '/a\t',
      'path "/a\\t" must not have the character U+0009 (index 2): control, private use, surrogates and U+FFF0 on are refused',
    ],
  ])('validatePath refuses %j', (path, message) => {
    expect(() => validatePath(path)).toThrow(new TypeError(message))
  })

  test.each<unknown>([null, undefined, 7, ['/a']])('validatePath refuses %j, which is no string', (path) => {
    expect(() => validatePath(path as string)).toThrow(TypeError)
    expect(() => validatePath(path as string)).toThrow(/^path must be a string, not (null|undefined|number|object)$/)
  })
})

describe('validatePath', () => {
  test.each([
    '/',
    '/a',
    '/a/b',
    '/...',
    '/.a',
    '/a.',
    '/..a/b..',
    '/ ',
    '/a b',
    '/中/文',
    '/a,b:c',
    '/-',
    '/\ud7ff',
    '/\uf900',
    '/\uffef',
  ])('validatePath returns %j', (path) => {
    expect(validatePath(path)).toBe(path)
  })

  // The borders of PathUtils' ranges, inside and out.
  test.each([
    ['\u0000', '\u001f', '\u0020'],
    ['\u007f', '\u009f', '\u00a0'],
    ['\ud800', '\uf8ff', '\uf900'],
    ['\ufff0', '\uffff', ''],
  ])('validatePath refuses from %j to %j, and not %j', (first, last, after) => {
    expect(() => validatePath(`/a${first}`)).toThrow(TypeError)
    expect(() => validatePath(`/a${last}b`)).toThrow(TypeError)
    expect(validatePath(`/a${after}`)).toBe(`/a${after}`)
  })

  test('validatePath refuses an emoji, whose two units are surrogates (W27)', () => {
    expect(() => validatePath('/a/😀')).toThrow('must not have the character U+D83D (index 3)')
  })

  test('validatePath refuses a lone surrogate (W27)', () => {
    expect(() => validatePath('/\udc00')).toThrow('must not have the character U+DC00 (index 1)')
  })
})

describe('validatePath for a sequential create', () => {
  test.each(['/', '/a/', '/a-', '/.', '/a/..'])('validatePath returns %j: digits will follow', (path) => {
    expect(validatePath(path, { sequential: true })).toBe(path)
  })

  test.each(['', 'a', '//', '/a//', '/./', '/\0'])('validatePath refuses %j', (path) => {
    expect(() => validatePath(path, { sequential: true })).toThrow(TypeError)
  })

  test('validatePath shows the path as it was given, without the digit it was tried with', () => {
    expect(() => validatePath('a/', { sequential: true })).toThrow(new TypeError(`path "a/" must start with '/'`))
  })
})

test.each([
  ['/a/b', '/a'],
  ['/a', '/'],
  ['/', '/'],
])('parentOf %s is %s', (path, parent) => {
  expect(parentOf(path)).toBe(parent)
})
