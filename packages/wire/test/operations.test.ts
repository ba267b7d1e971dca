import * as fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  encode,
  type ExistsResponse,
  type GetDataRequest,
  type MultiOp,
  MultiRequest,
  MultiResponse,
  type MultiResult,
  OpCode,
  operationName,
  operations,
  type SetDataResponse,
  type Type,
} from '../src/index.ts'
import { multiOp, multiResult } from './arbitraries.ts'
import { bytesOf } from './bytes.ts'
import { lines } from './vectors/lines.ts'

const named = Object.entries(operations)

describe('operations', () => {
  test('operations has every opcode, by its name and with its number', () => {
    expect(Object.fromEntries(named.map(([name, { opCode }]) => [name, opCode]))).toEqual(OpCode)
  })

  test('operations says what kind each is', () => {
    const ofKind = (kind: string) => named.flatMap(([name, operation]) => (operation.kind === kind ? [name] : []))
    expect(ofKind('read')).toEqual([
      'exists',
      'getData',
      'getACL',
      'getChildren',
      'getChildren2',
      'multiRead',
      'getEphemerals',
      'getAllChildrenNumber',
      'whoAmI',
    ])
    expect(ofKind('write')).toEqual([
      'create',
      'delete',
      'setData',
      'setACL',
      'check',
      'multi',
      'create2',
      'reconfig',
      'createContainer',
      'deleteContainer',
      'createTTL',
    ])
    expect(ofKind('read').length + ofKind('write').length + ofKind('neither').length).toBe(named.length)
  })

  // ZooDefs.OpCode in each release.
  test('operations says since when there is each', () => {
    expect(Object.fromEntries(named.map(([name, { since }]) => [name, since]))).toEqual({
      notification: '3.0.0',
      create: '3.0.0',
      delete: '3.0.0',
      exists: '3.0.0',
      getData: '3.0.0',
      setData: '3.0.0',
      getACL: '3.0.0',
      setACL: '3.0.0',
      getChildren: '3.0.0',
      sync: '3.0.0',
      ping: '3.0.0',
      getChildren2: '3.3.0',
      check: '3.4.0',
      multi: '3.4.0',
      create2: '3.5.0',
      reconfig: '3.5.0',
      checkWatches: '3.5.0',
      removeWatches: '3.5.0',
      createContainer: '3.5.1',
      deleteContainer: '3.5.1',
      createTTL: '3.5.3',
      multiRead: '3.6.0',
      auth: '3.0.0',
      setWatches: '3.0.0',
      sasl: '3.4.0',
      getEphemerals: '3.6.0',
      getAllChildrenNumber: '3.6.0',
      setWatches2: '3.6.0',
      addWatch: '3.6.0',
      whoAmI: '3.7.0',
      createSession: '3.0.0',
      closeSession: '3.0.0',
      error: '3.0.0',
    })
  })

  test('operations knows the type of each record', () => {
    expectTypeOf(operations.getData.request).toEqualTypeOf<typeof GetDataRequest>()
    expectTypeOf(operations.exists.response).toEqualTypeOf<typeof ExistsResponse>()
    expectTypeOf(operations.setData.response).toEqualTypeOf<typeof SetDataResponse>()
    expectTypeOf(operations.delete.response).toEqualTypeOf<undefined>()
    expectTypeOf(operations.ping.request).toEqualTypeOf<undefined>()
    expectTypeOf(operations.getData.opCode).toEqualTypeOf<4>()
    expectTypeOf(operations.getData.kind).toEqualTypeOf<'read'>()
    // @ts-expect-error -- there is no such operation
    expect(operations.getDate).toBeUndefined()
  })

  test('operationName returns the name of an opcode, undefined for an unknown one', () => {
    expect(named.map(([, { opCode }]) => operationName(opCode))).toEqual(named.map(([name]) => name))
    expect([10, 99, 500, -2].map(operationName)).toEqual([undefined, undefined, undefined, undefined])
  })
})

// What Java wrote around each opcode: a header and at most one record.
const frames = lines('frame').filter(({ what }) => /^op-?\d+$/.test(what))

test.each(frames.map(({ what, dir, parts }) => [what, dir, parts] as const))(
  'operations names the record of frame %s %s',
  (what, dir, [header, body]) => {
    const { request, response } = operations[operationName(Number(what.slice(2)))!]
    const ours = dir === 'c2s' ? request : response
    expect(Object.keys(header!)).toEqual([dir === 'c2s' ? 'proto.RequestHeader' : 'proto.ReplyHeader'])
    expect(ours?.name).toBe(body === undefined ? undefined : Object.keys(body)[0]!.slice('proto.'.length))
  },
)

test('the frames of Java are about every operation that a client of 3.8 sends, but multi and those between servers', () => {
  const inFrames = new Set(frames.map(({ what }) => operationName(Number(what.slice(2)))))
  expect(Object.keys(operations).filter((name) => !inFrames.has(name as keyof typeof operations))).toEqual([
    'notification',
    'multi',
    'deleteContainer',
    'multiRead',
    'createSession',
    'error',
  ])
})

// multi.ts has tables of its own: what may be a part, and that deletes and checks are answered with nothing.
describe('the parts of a multi are the operations', () => {
  const recordOf = (part: MultiOp | MultiResult, body: 'request' | 'response'): Type<unknown> | undefined =>
    operations[operationName(part.type)!][body]

  test('MultiRequest has the requests of the operations', () => {
    fc.assert(
      fc.property(multiOp, (op) => {
        const body = encode(MultiRequest, [op]).subarray(9, -9)
        expect(body).toEqual(encode(recordOf(op, 'request')!, op.request))
      }),
    )
  })

  test('MultiResponse has the responses of the operations, and nothing where they have none', () => {
    fc.assert(
      fc.property(multiResult, (result) => {
        const body = encode(MultiResponse, [result]).subarray(9, -9)
        const record = recordOf(result, 'response')
        expect(body).toEqual(record === undefined ? bytesOf('') : encode(record, result.response))
      }),
    )
  })
})
