import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chroot } from '../src/base/chroot.ts'

const root = new Chroot()
const app = new Chroot('/app')

describe('Chroot.absolute', () => {
  test.each([
    [root, '/', '/'],
    [root, '/a/b', '/a/b'],
    [new Chroot('/'), '/a', '/a'],
    [app, '/', '/app'],
    [app, '/a', '/app/a'],
    [app, '/app', '/app/app'],
    [new Chroot('/a/b'), '/c', '/a/b/c'],
  ])('Chroot.absolute below $path makes of %s', (chroot, path, absolute) => {
    expect(chroot.absolute(path)).toBe(absolute)
  })

  test('Chroot.absolute keeps the counter of a sequential node within the chroot', () => {
    expect(app.absolute('/', { sequential: true })).toBe('/app/')
    expect(app.absolute('/a/', { sequential: true })).toBe('/app/a/')
    expect(root.absolute('/', { sequential: true })).toBe('/')
  })

  test.each(['', 'a', '/a/', '/a//b', '/a/../b', '/./a', '/a\u0000'])('Chroot.absolute refuses %j', (path) => {
    expect(() => app.absolute(path)).toThrow(TypeError)
  })

  test('Chroot.absolute refuses what is no string', () => {
    expect(() => app.absolute(undefined as unknown as string)).toThrow('path must be a string, not undefined')
  })
})

describe('Chroot.relative', () => {
  test.each([
    [root, '/', '/'],
    [root, '/app/a', '/app/a'],
    [app, '/app', '/'],
    [app, '/app/a', '/a'],
    [app, '/app/app', '/app'],
  ])('Chroot.relative below $path makes of %s', (chroot, path, relative) => {
    expect(chroot.relative(path)).toBe(relative)
  })

  test.each(['/application', '/app2/a', '/', '/zookeeper/config', '/other/app/a'])(
    'Chroot.relative leaves %s, which is not below /app, as it is',
    (path) => {
      expect(app.relative(path)).toBe(path)
    },
  )
})

const name = fc.string({ unit: fc.constantFrom('a', 'p', 'app', '-', 'é', '€'), minLength: 1, maxLength: 4 })
const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join('/')}`)

test('Chroot.relative undoes Chroot.absolute', () => {
  fc.assert(
    fc.property(path, path, (prefix, path) => {
      const chroot = new Chroot(prefix)
      expect(chroot.relative(chroot.absolute(path))).toBe(path)
    }),
  )
})

test('Chroot.path is what the client was given', () => {
  expect([root.path, app.path]).toEqual(['/', '/app'])
})
