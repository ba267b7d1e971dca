import { describe, expect, test } from 'vitest'
import {
  decode,
  encode,
  ErrorCode,
  MultiHeader,
  type MultiOp,
  MultiRequest,
  MultiResponse,
  type MultiResult,
  OpCode,
  ProtocolError,
  Reader,
  type Type,
} from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { expectValue } from './feeding.ts'
import { stat } from './stat.ts'
import { thrownBy } from './thrown.ts'

const END = 'ffffffff 01 ffffffff'
const acl = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const data = bytesOf('beef')

describe('MultiRequest', () => {
  test.each<MultiOp>([
    { type: OpCode.create, request: { path: '/a', data, acl, flags: 1 } },
    { type: OpCode.create2, request: { path: '/a', data: null, acl, flags: 0 } },
    { type: OpCode.createContainer, request: { path: '/a', data, acl, flags: 4 } },
    { type: OpCode.createTTL, request: { path: '/a', data, acl, flags: 5, ttl: 1000n } },
    { type: OpCode.delete, request: { path: '/a', version: -1 } },
    { type: OpCode.setData, request: { path: '/a', data, version: 3 } },
    { type: OpCode.check, request: { path: '/a', version: 3 } },
    { type: OpCode.getData, request: { path: '/a', watch: false } },
    { type: OpCode.getChildren, request: { path: '/a', watch: false } },
  ])('MultiRequest reads what it writes for type $type', (op) => {
    expectValue(MultiRequest, encode(MultiRequest, [op, op]), [op, op])
  })

  test('MultiRequest writes no operation as the end alone', () => {
    expect(encode(MultiRequest, [])).toEqual(bytesOf(END))
  })

  test.each([OpCode.exists, OpCode.multi, OpCode.error, OpCode.deleteContainer, 99])(
    'MultiRequest refuses type %i',
    (type) => {
      expectRefused(
        MultiRequest,
        headerOf(type),
        `operation type ${type} cannot be part of a multi in MultiRequest at byte 0`,
      )
    },
  )

  test('MultiRequest names the record that ends too early', () => {
    const hex = `${headerOf(OpCode.check)} 00000002 2f61 0000`
    expectRefused(
      MultiRequest,
      hex,
      '2 bytes are left for an int in MultiRequest.CheckVersionRequest.version at byte 15',
    )
  })
})

describe('MultiResponse', () => {
  test.each<MultiResult>([
    { type: OpCode.create, response: { path: '/a' } },
    { type: OpCode.create2, response: { path: '/a', stat } },
    { type: OpCode.delete, response: {} },
    { type: OpCode.setData, response: { stat } },
    { type: OpCode.check, response: {} },
    { type: OpCode.getData, response: { data, stat } },
    { type: OpCode.getChildren, response: { children: ['a', 'b'] } },
    { type: OpCode.error, response: { err: ErrorCode.NoNode } },
  ])('MultiResponse reads what it writes for type $type', (result) => {
    expectValue(MultiResponse, encode(MultiResponse, [result, result]), [result, result])
  })

  test('MultiResponse gives a failed multi as it is: 0 before the culprit, its code, -2 behind', () => {
    const errors = [0, ErrorCode.BadVersion, ErrorCode.RuntimeInconsistency]
    const hex = `ffffffff 00 00000000 00000000 ffffffff 00 ffffff99 ffffff99 ffffffff 00 fffffffe fffffffe ${END}`
    const results = errors.map((err) => ({ type: OpCode.error, response: { err } }))
    expectValue(MultiResponse, bytesOf(hex), results)
    expect(hexOf(encode(MultiResponse, results))).toBe(hex.replaceAll(' ', ''))
  })

  test('MultiResponse keeps an unknown error code', () => {
    const hex = `ffffffff 00 fffffc18 fffffc18 ${END}`
    expect(decode(MultiResponse, bytesOf(hex))).toEqual([{ type: OpCode.error, response: { err: -1000 } }])
  })

  // A server answers createContainer and createTTL with create2, and Java's client knows no other answer.
  test.each([99, 0, -2, OpCode.exists, OpCode.createContainer, OpCode.createTTL])(
    'MultiResponse refuses a result of type %i (W29)',
    (type) => {
      expectRefused(
        MultiResponse,
        `${headerOf(type)} ${END}`,
        `operation type ${type} cannot be part of a multi in MultiResponse at byte 0`,
      )
    },
  )

  test('MultiResponse says where a result of unknown type stands (W29)', () => {
    const hex = `${headerOf(OpCode.check)} ${headerOf(99)} ${END}`
    expectRefused(MultiResponse, hex, 'operation type 99 cannot be part of a multi in MultiResponse at byte 9')
  })

  test('MultiResponse refuses results without the header that says done (W29)', () => {
    const hex = `${headerOf(OpCode.check)} ${headerOf(OpCode.delete)}`
    expectRefused(MultiResponse, hex, '0 bytes are left for an int in MultiResponse.MultiHeader.type at byte 18')
  })

  test('MultiResponse ends at the header that says done, whatever its type, and leaves what is behind', () => {
    const reader = new Reader(bytesOf('00000001 01 00000000 beef'))
    expect(MultiResponse.read(reader)).toEqual([])
    expect(reader.remaining).toBe(2)
  })

  test('MultiResponse names the record that ends too early', () => {
    const hex = `${headerOf(OpCode.setData)} 00`
    expectRefused(
      MultiResponse,
      hex,
      '1 bytes are left for a long in MultiResponse.SetDataResponse.stat.czxid at byte 9',
    )
  })
})

function headerOf(type: number): string {
  return hexOf(encode(MultiHeader, { type, done: false, err: 0 }))
}

function expectRefused(type: Type<unknown>, hex: string, message: string): void {
  const error = thrownBy(() => decode(type, bytesOf(hex)))
  expect(error).toBeInstanceOf(ProtocolError)
  expect(error).toHaveProperty('message', message)
}
