// The names of children as bytes: the same names as strings are, and the same errors.
import { encode, GetChildren2Response, ProtocolError, Reader, type Type, type TypeOf } from '@zk/wire'
import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Chroot, noChroot } from '../src/base/chroot.ts'
import { getChildNames, getChildren } from '../src/operations/children.ts'
import { NameList } from '../src/operations/name-list.ts'
import { prepare } from './support/made-requests.ts'
import { wireStat } from './support/stat.ts'
import { thrownBy } from './support/thrown.ts'

const body = (children: TypeOf<typeof GetChildren2Response>['children']) =>
  encode(GetChildren2Response as Type<TypeOf<typeof GetChildren2Response>>, { children, stat: wireStat })

/** What a call makes of the body of a reply: behind a header, as in a frame. */
function read(operation: typeof getChildren | typeof getChildNames, bytes: Uint8Array): unknown {
  const frame = new Uint8Array(16 + bytes.length)
  frame.set(bytes, 16)
  return prepare(operation as typeof getChildren, noChroot, ['/a']).result(new Reader(frame, 16))
}

const textsOf = (names: NameList) => Array.from({ length: names.count }, (_, index) => names.text(index))
const name = fc.string({ unit: 'binary', maxLength: 12 })

describe('getChildNames', () => {
  test('getChildNames asks as getChildren does', () => {
    const app = new Chroot('/app')
    const { op, opCode, kind, path } = prepare(getChildNames, app, ['/a'])
    expect({ op, opCode, kind, path }).toMatchObject({ op: 'getChildren', kind: 'read', path: '/a' })
    expect(opCode).toBe(prepare(getChildren, app, ['/a']).opCode)
    expect(getChildNames.encode(app, '/a')).toEqual({ path: '/app/a', watch: false })
  })

  test('getChildNames gives the names that getChildren gives, also with more bytes behind them', () => {
    fc.assert(
      fc.property(fc.array(name), fc.uint8Array({ maxLength: 9 }), (names, more) => {
        const bytes = Uint8Array.of(...body(names), ...more)
        const { children } = read(getChildren, bytes) as { children: string[] }
        expect(textsOf(read(getChildNames, bytes) as NameList)).toEqual(children)
      }),
    )
  })

  test('getChildNames keeps a copy: the memory of the frame may be used again', () => {
    const bytes = body(['a', 'b'])
    const reader = new Reader(bytes)
    const names = prepare(getChildNames, noChroot, ['/a']).result(reader) as NameList
    bytes.fill(0)
    expect(textsOf(names)).toEqual(['a', 'b'])
  })

  test('getChildNames refuses what getChildren refuses, with the same error, byte by byte', () => {
    const whole = body(['first', '', 'é', 'last'])
    for (let length = 0; length < whole.length; length++) {
      const cut = whole.slice(0, length)
      const error = thrownBy(() => read(getChildNames, cut))
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toEqual(thrownBy(() => read(getChildren, cut)))
    }
  })

  test('getChildNames refuses what getChildren refuses, whichever bytes are wrong', () => {
    const outcome = (operation: typeof getChildren | typeof getChildNames, bytes: Uint8Array) => {
      try {
        const result = read(operation, bytes)
        return result instanceof NameList ? textsOf(result) : (result as { children: string[] }).children
      } catch (error) {
        expect(error).toBeInstanceOf(ProtocolError)
        return 'refused'
      }
    }
    const change = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2, 0x7f, 0x80, 0xfe, 0xff))
    fc.assert(
      fc.property(fc.array(name, { maxLength: 4 }), fc.array(change, { maxLength: 4 }), (names, changes) => {
        const bytes = body(names)
        for (const [at, value] of changes) bytes[at % bytes.length] = value
        expect(outcome(getChildNames, bytes)).toEqual(outcome(getChildren, bytes))
      }),
      { numRuns: 2_000 },
    )
  })

  test.each([
    ['no list', Uint8Array.of(255, 255, 255, 255)],
    ['a list shorter than nothing', Uint8Array.of(255, 255, 255, 254)],
    ['more names than there are bytes', Uint8Array.of(127, 255, 255, 255)],
  ])('getChildNames refuses %s', (_, count) => {
    const bytes = body([])
    bytes.set(count)
    expect(() => read(getChildNames, bytes)).toThrow(ProtocolError)
  })

  test('getChildNames refuses a list in which a name is null', () => {
    const bytes = body(['a', null])
    expect(() => read(getChildNames, bytes)).toThrow('null where a value is required in GetChildren2Response.children')
  })
})

describe('NameList.ofStrings', () => {
  test('NameList.ofStrings has the names that it is given', () => {
    fc.assert(
      fc.property(fc.array(name), (names) => {
        expect(textsOf(NameList.ofStrings(names))).toEqual(names)
      }),
    )
  })
})
