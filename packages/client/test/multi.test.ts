import { codecOf } from '../src/operations/ops.ts'
import {
  decode,
  encode,
  ErrorCode,
  MultiRequest,
  MultiResponse,
  type MultiResult,
  OpCode,
  ProtocolError,
  Reader,
  Writer,
} from '@zk/wire'
import { describe, expect, test } from 'vitest'
import { Chroot } from '../src/base/chroot.ts'
import { sizeInMulti } from '../src/operations/batch.ts'
import { multi } from '../src/operations/multi.ts'
import { op, type Op } from '../src/operations/ops.ts'
import { ErrorReply } from '../src/operations/error-reply.ts'
import { prepare } from './support/made-requests.ts'
import { stat, wireStat } from './support/stat.ts'

const app = new Chroot('/app')

function requestOf(...ops: Op<unknown>[]) {
  const prepared = prepare(multi(ops), app, [])
  const { opCode, kind, op: name, path } = prepared
  const writer = new Writer()
  prepared.body(writer)
  return { opCode, kind, name, path, ops: decode(MultiRequest, writer.toBytes()) }
}

function resultOf(ops: readonly Op<unknown>[], ...results: MultiResult[]): unknown {
  return prepare(multi(ops), app, []).result(new Reader(encode(MultiResponse, results)))
}

const error = (err: number): MultiResult => ({ type: OpCode.error, response: { err } })
const all = [op.create('/a'), op.check('/a', { version: 3 }), op.setData('/a', 'b'), op.delete('/a')] as const

describe('multi that is answered with another kind of result', () => {
  const results: Record<string, MultiResult> = {
    create: { type: OpCode.create, response: { path: '/app/a' } },
    check: { type: OpCode.check, response: {} },
    setData: { type: OpCode.setData, response: { stat: wireStat } },
    delete: { type: OpCode.delete, response: {} },
  }
  const names = Object.keys(results)
  test.each(names.flatMap((name) => names.map((other) => [name, other] as const)))(
    'op.%s takes no result but its own: that of %s',
    (name, other) => {
      const asked = [all[names.indexOf(name)]!]
      if (name === other) expect(resultOf(asked, results[other]!)).toHaveLength(1)
      else expect(() => resultOf(asked, results[other]!)).toThrow(ProtocolError)
    },
  )
})

describe('multi', () => {
  test('multi is one write of all its operations, in order, below the chroot', () => {
    const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
    const data = Uint8Array.of(98)
    expect(requestOf(...all)).toEqual({
      opCode: OpCode.multi,
      kind: 'write',
      name: 'multi',
      path: undefined,
      ops: [
        { type: OpCode.create, request: { path: '/app/a', data: new Uint8Array(0), acl, flags: 0 } },
        { type: OpCode.check, request: { path: '/app/a', version: 3 } },
        { type: OpCode.setData, request: { path: '/app/a', data, version: -1 } },
        { type: OpCode.delete, request: { path: '/app/a', version: -1 } },
      ],
    })
  })

  test('multi of nothing is fine, as it is for the server', () => {
    expect(requestOf().ops).toEqual([])
    expect(resultOf([])).toEqual([])
  })

  test('multi gives the results by position, paths as the caller writes them', () => {
    const results = resultOf(
      all,
      { type: OpCode.create, response: { path: '/app/a' } },
      { type: OpCode.check, response: {} },
      { type: OpCode.setData, response: { stat: wireStat } },
      { type: OpCode.delete, response: {} },
    )
    expect(results).toEqual([{ path: '/a' }, undefined, stat, undefined])
  })

  test('op.create of a container has its own opcode, and is answered as create2 is', () => {
    const container = op.create('/c', undefined, { mode: 'CONTAINER' })
    expect(requestOf(container).ops).toMatchObject([{ type: OpCode.createContainer, request: { flags: 4 } }])
    expect(resultOf([container], { type: OpCode.create2, response: { path: '/app/c', stat: wireStat } })).toEqual([
      { path: '/c' },
    ])
  })

  test.each([
    [
      'the second fails: what was before is rolled back, what comes after was not tried',
      [ErrorCode.Ok, ErrorCode.NoNode, ErrorCode.RuntimeInconsistency, ErrorCode.RuntimeInconsistency],
      { code: ErrorCode.NoNode, index: 1, results: ['Ok', 'NoNode', 'RuntimeInconsistency', 'RuntimeInconsistency'] },
    ],
    [
      'the first fails',
      [ErrorCode.NodeExists, -2, -2, -2],
      {
        code: ErrorCode.NodeExists,
        index: 0,
        results: ['NodeExists', 'RuntimeInconsistency', 'RuntimeInconsistency', 'RuntimeInconsistency'],
      },
    ],
    [
      'the last fails',
      [0, 0, 0, ErrorCode.NotEmpty],
      { code: ErrorCode.NotEmpty, index: 3, results: ['Ok', 'Ok', 'Ok', 'NotEmpty'] },
    ],
    [
      'an unknown code',
      [0, -200, -2, -2],
      { code: -200, index: 1, results: ['Ok', 'Unknown', 'RuntimeInconsistency', 'RuntimeInconsistency'] },
    ],
    [
      'no culprit is named',
      [0, -2, -2, -2],
      { code: -2, index: 1, results: ['Ok', 'RuntimeInconsistency', 'RuntimeInconsistency', 'RuntimeInconsistency'] },
    ],
  ])('multi that failed says which operation did it: %s', (_, codes, { code, index, results }) => {
    const refusal = resultOf(all, ...codes.map(error))
    expect(refusal).toBeInstanceOf(ErrorReply)
    expect(refusal).toEqual(new ErrorReply(code, { index, path: '/a', results: results as [] }))
  })

  test('multi takes another number of results for a broken protocol', () => {
    for (const count of [0, 3, 5]) {
      const answer = () => resultOf(all, ...Array.from({ length: count }, () => error(0)))
      expect(answer).toThrow(ProtocolError)
      expect(answer).toThrow(`${count} results for a multi of 4 operations`)
    }
  })

  test.each(all.map((each, index) => [['create', 'check', 'setData', 'delete'][index]!, each] as const))(
    'op.%s takes the result of another operation for a broken protocol',
    (name, each) => {
      const others: Record<string, MultiResult> = {
        create: { type: OpCode.create, response: { path: '/app/a' } },
        check: { type: OpCode.check, response: {} },
        setData: { type: OpCode.setData, response: { stat: wireStat } },
        delete: { type: OpCode.delete, response: {} },
        // A rolled-back one in a multi that did not fail.
        error: error(0),
      }
      for (const [other, result] of Object.entries(others)) {
        if (other === name) continue
        const answer = () => resultOf([each], result)
        expect(answer).toThrow(ProtocolError)
        expect(answer).toThrow(
          `a multi was answered with a result of type ${result.type}, but another type was expected`,
        )
      }
    },
  )

  test('op.create takes no path for an answer', () => {
    expect(() => resultOf([op.create('/a')], { type: OpCode.create, response: { path: null } })).toThrow(
      'null where a value is required in MultiResponse.path',
    )
  })

  test.each([
    ['create', op.create('a'), TypeError],
    ['create', op.create('/a', 5 as unknown as string), TypeError],
    ['create', op.create('/a', '', { mode: 'PERSISTENT_WITH_TTL' as 'PERSISTENT' }), TypeError],
    ['create', op.create('/a', '', { acl: [] }), TypeError],
    ['delete', op.delete('/a/'), TypeError],
    ['delete', op.delete('/a', { version: -(2 ** 31) - 1 }), RangeError],
    ['setData', op.setData('', 'x'), TypeError],
    ['setData', op.setData('/a', undefined as unknown as string), TypeError],
    ['setData', op.setData('/a', 'x', { version: NaN }), RangeError],
    ['check', op.check('/..'), TypeError],
    ['check', op.check('/a', { version: 0.5 }), RangeError],
  ])('op.%s is refused when the multi is called, before anything of it is sent', (_, wrong, type) => {
    expect(() => requestOf(op.check('/fine'), wrong)).toThrow(type)
  })

  test('op is made once and may be used in many a multi, below any chroot', () => {
    const check = op.check('/a', { version: 1 })
    expect(check.path).toBe('/a')
    expect(requestOf(check, check).ops).toHaveLength(2)
    expect(codecOf(check)!.encode(new Chroot())).toEqual({ type: OpCode.check, request: { path: '/a', version: 1 } })
    expect({ ...check }).toEqual({ kind: 'write', path: '/a' })
  })
})

test('sizeInMulti counts the bytes of paths and chroots in UTF-8', () => {
  const sizeOf = (chroot: string, path: string) => sizeInMulti({ chroot }, path) - sizeInMulti({ chroot: '/' }, '/')
  for (const character of ['\u007f', '\u0080', '\u07ff', '\u0800', '\ud7ff', '\ue000', '\ufffd', '\u{1f600}']) {
    const { byteLength } = new TextEncoder().encode(character)
    expect([character, sizeOf('/', `/${character}`)]).toEqual([character, byteLength])
    expect([character, sizeOf(`/${character}`, '/')]).toEqual([character, 1 + byteLength])
  }
})
