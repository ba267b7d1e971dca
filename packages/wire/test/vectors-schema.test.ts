import { describe, expect, test } from 'vitest'
import * as main from '../src/index.ts'
import * as server from '../src/server.ts'
import { lines } from './vectors/lines.ts'
import { recordNamed, withReadOnly } from './vectors/values.ts'

const wire = { ...main, ...server }

/** Spoken between servers, so no line of the vectors, which are about clients and files, says what fields they have. */
const NOT_IN_VECTORS: Readonly<Record<string, readonly string[]>> = {
  LearnerInfo: ['long serverid', 'int protocolVersion', 'long configVersion'],
  QuorumPacket: ['int type', 'long zxid', 'buffer data', 'vector<Id> authinfo'],
  QuorumAuthPacket: ['long magic', 'int status', 'buffer token'],
}

describe.each(lines('schema').map((line) => [line.record, line] as const))('%s', (record, { fields }) => {
  test('has the fields of zookeeper.jute in their order', () => {
    const ours = Object.entries(recordNamed(record).fields).map(([name, type]) => [name, type.name])
    const javas = fields.map(([name, type]) => [name, type.replaceAll(/\b(?:data|txn)\./g, '')])
    expect(ours).toEqual(withReadOnly(record) ? [...javas, ['readOnly', 'boolean']] : javas)
  })

  test('is named after itself', () => {
    expect(recordNamed(record).name).toBe(record.slice(record.lastIndexOf('.') + 1))
  })
})

test('every exported record has a schema line, but for those between servers', () => {
  const exported = Object.entries(wire).flatMap(([name, value]) => (hasFields(value) ? [name] : []))
  const inLines = lines('schema').map(({ record }) => record.slice(record.lastIndexOf('.') + 1))
  expect(exported.toSorted()).toEqual([...inLines, ...Object.keys(NOT_IN_VECTORS)].toSorted())
})

test.each(Object.entries(NOT_IN_VECTORS))('%s has the fields of zookeeper.jute', (name, fields) => {
  const ours = Object.entries((wire as unknown as Readonly<Record<string, { fields: object }>>)[name]!.fields)
  expect(ours.map(([name, type]) => `${(type as main.Type<unknown>).name} ${name}`)).toEqual(fields)
})

function hasFields(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'fields' in value
}
