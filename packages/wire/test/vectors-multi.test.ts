import { describe, expect, test } from 'vitest'
import { encode, type MultiOp, MultiRequest, MultiResponse, type MultiResult, OpCode } from '../src/index.ts'
import { bytesOf, hexOf } from './bytes.ts'
import { expectValue } from './feeding.ts'
import { type Fields, lines, rows } from './vectors/lines.ts'
import { valueOf } from './vectors/values.ts'

const REQUESTS: Readonly<Record<string, string>> = {
  create: 'proto.CreateRequest',
  createContainer: 'proto.CreateRequest',
  createTTL: 'proto.CreateTTLRequest',
  delete: 'proto.DeleteRequest',
  setData: 'proto.SetDataRequest',
  check: 'proto.CheckVersionRequest',
}

const RESPONSES: Readonly<Record<number, string>> = {
  [OpCode.create]: 'proto.CreateResponse',
  [OpCode.create2]: 'proto.Create2Response',
  [OpCode.setData]: 'proto.SetDataResponse',
  [OpCode.error]: 'proto.ErrorResponse',
}

const opsOf = ({ ops }: { ops: readonly { op: string }[] }) => ops.map(({ op }) => op).join(', ') || 'nothing'
const typesOf = ({ results }: { results: readonly { type: number }[] }) =>
  results.map(({ type }) => type).join(', ') || 'nothing'

describe.each(rows(lines('multi'), opsOf))('a multi of %s', (_title, { ops, hex }) => {
  const value = ops.map(toOp)

  test('MultiRequest writes the bytes that Java writes', () => {
    expect(hexOf(encode(MultiRequest, value))).toBe(hex)
  })

  test('MultiRequest reads them, whole, never in part, and with more behind', () => {
    expectValue(MultiRequest, bytesOf(hex), value)
  })
})

describe.each(rows(lines('multiResponse'), typesOf))('a multi reply of %s', (_title, { results, hex }) => {
  const value = results.map(toResult)

  test('MultiResponse writes the bytes that Java writes', () => {
    expect(hexOf(encode(MultiResponse, value))).toBe(hex)
  })

  test('MultiResponse reads them, whole, never in part, and with more behind', () => {
    expectValue(MultiResponse, bytesOf(hex), value)
  })
})

test('every kind of operation and result of a write is in the vectors', () => {
  const ops = lines('multi').flatMap((line) => line.ops.map(({ op }) => op))
  expect(new Set(ops)).toEqual(new Set(Object.keys(REQUESTS)))
  const results = lines('multiResponse').flatMap((line) => line.results.map(({ type }) => type))
  expect(new Set(results)).toEqual(new Set([...Object.keys(RESPONSES).map(Number), OpCode.delete, OpCode.check]))
})

function toOp({ op, ...fields }: { readonly op: string } & Fields): MultiOp {
  return { type: OpCode[op as keyof typeof OpCode], request: valueOf(REQUESTS[op]!, fields) } as MultiOp
}

function toResult({ type, ...fields }: { readonly type: number } & Fields): MultiResult {
  const record = RESPONSES[type]
  return { type, response: record === undefined ? {} : valueOf(record, fields) } as MultiResult
}
