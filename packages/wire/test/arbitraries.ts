// Arbitraries derived from the records themselves: what a type holds is asked of the type.
import * as fc from 'fast-check'
import * as wire from '../src/index.ts'
import * as server from '../src/server.ts'
import type { MultiOp, MultiResult, OperationName, RecordType, Type } from '../src/index.ts'

type AnyRecord = RecordType<Readonly<Record<string, Type<unknown>>>>

/** Every record that the package exports, by name. */
export const records: ReadonlyMap<string, AnyRecord> = new Map(
  Object.entries({ ...wire, ...server }).flatMap(([name, value]) => (isRecord(value) ? [[name, value]] : [])),
)

const simple: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  int: fc.oneof(fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), fc.constantFrom(0, -1, 127, 128)),
  long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  boolean: fc.boolean(),
  buffer: fc.option(fc.uint8Array({ maxLength: 40 }).map((bytes) => Uint8Array.from(bytes))),
  // Around 127 bytes and around 64 characters the ways of reading and writing change.
  ustring: fc.option(
    fc.oneof(
      fc.string({ unit: 'binary-ascii', maxLength: 20 }),
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.string({ unit: 'binary-ascii', minLength: 60, maxLength: 140 }),
      fc.constantFrom('', '\ufffd', '\ufeff', 'é', '😀'),
    ),
  ),
}

/** Values of a type, by its name: the item of a vector is none of its fields. */
export function valuesOf(type: Type<unknown>): fc.Arbitrary<unknown> {
  if (isRecord(type)) return fc.record(fieldsOf(type), { noNullPrototype: true })
  const item = /^vector<(.*)>$/.exec(type.name)?.[1]
  if (item !== undefined) return fc.option(fc.array(valuesOf(typeNamed(item)), { maxLength: 8 }))
  if (type.name === 'MultiRequest') return fc.array(multiOp, { maxLength: 5 })
  if (type.name === 'MultiResponse') return fc.array(multiResult, { maxLength: 5 })
  return simple[type.name]!
}

function fieldsOf(record: AnyRecord): Record<string, fc.Arbitrary<unknown>> {
  return Object.fromEntries(Object.entries(record.fields).map(([name, type]) => [name, valuesOf(type)]))
}

function typeNamed(name: string): Type<unknown> {
  return records.get(name) ?? (wire as unknown as Record<string, Type<unknown>>)[name]!
}

function isRecord(value: unknown): value is AnyRecord {
  return typeof value === 'object' && value !== null && 'fields' in value
}

const { operations } = wire
const opNames = [
  'create',
  'create2',
  'createContainer',
  'createTTL',
  'delete',
  'setData',
  'check',
  'getData',
  'getChildren',
] as const
export const multiOp: fc.Arbitrary<MultiOp> = fc
  .constantFrom(...opNames)
  .chain((name) =>
    valuesOf(operations[name].request).map((request) => ({ type: operations[name].opCode, request }) as MultiOp),
  )

const resultNames = ['create', 'create2', 'delete', 'setData', 'check', 'getData', 'getChildren', 'error'] as const
export const multiResult: fc.Arbitrary<MultiResult> = fc.constantFrom(...resultNames).chain((name) => {
  const { opCode, response } = operations[name]
  return (response === undefined ? fc.constant({}) : valuesOf(response)).map(
    (response) => ({ type: opCode, response }) as MultiResult,
  )
})

/** Operations that a client asks for, one after the other. */
export const asked: readonly OperationName[] = (Object.keys(operations) as OperationName[]).filter(
  (name) => name !== 'notification' && name !== 'error',
)
