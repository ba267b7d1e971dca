// From the values of the lines to ours, by the schema of the lines.
import * as main from '../../src/index.ts'
import * as server from '../../src/server.ts'
import type { RecordType, Type } from '../../src/index.ts'
import { bytesOf } from '../bytes.ts'
import { type Fields, lines } from './lines.ts'

const wire = { ...main, ...server }
const schemas = new Map(lines('schema').map(({ record, fields }) => [record, fields]))

/** Records that a readOnly byte follows from 3.4 on. It is the last field of ours, and ours always write it. */
const WITH_READ_ONLY = ['proto.ConnectRequest', 'proto.ConnectResponse']

export function withReadOnly(record: string): boolean {
  return WITH_READ_ONLY.includes(record)
}

/** Our record for `proto.CreateRequest`, by the jute name that it is exported under. */
export function recordNamed(record: string): RecordType<Readonly<Record<string, Type<unknown>>>> {
  const name = record.slice(record.lastIndexOf('.') + 1)
  const found = (wire as unknown as Record<string, ReturnType<typeof recordNamed> | undefined>)[name]
  if (found === undefined) throw new Error(`no record ${name} is exported`)
  return found
}

const asWritten = (text: string): string => text

/** The value we mean by the fields of a line; `text` says what becomes of each string. */
export function valueOf(record: string, fields: Fields, text = asWritten): Readonly<Record<string, unknown>> {
  const schema = schemas.get(record)
  if (schema === undefined) throw new Error(`no schema line for ${record}`)
  const value = Object.fromEntries(schema.map(([name, type]) => [name, fieldOf(type, fields[name], text)]))
  return withReadOnly(record) ? { ...value, readOnly: false } : value
}

function fieldOf(type: string, json: Fields[string] | undefined, text: (value: string) => string): unknown {
  if (json === undefined) throw new Error(`a field of type ${type} is missing`)
  if (json === null || type === 'int' || type === 'boolean') return json
  if (type === 'long') return BigInt(json as string)
  if (type === 'buffer') return bytesOf(json as string)
  if (type === 'ustring') return text(json as string)
  const item = /^vector<(.*)>$/.exec(type)?.[1]
  if (item === undefined) return valueOf(type, json as Fields, text)
  return (json as readonly Fields[string][]).map((each) => fieldOf(item, each, text))
}

export function hasSurrogates(fields: unknown): boolean {
  return /[\ud800-\udfff]|\\ud[89a-f]/.test(JSON.stringify(fields))
}

/** What our writer keeps of a string: a lone surrogate is none of Unicode's characters and becomes U+FFFD. */
export const wellFormed = (text: string): string => text.replaceAll(/\p{Surrogate}/gu, '\ufffd')
/** What our reader makes of a string by Java's writer: three bytes of nonsense for every surrogate, paired or not. */
export const asReadFromJava = (text: string): string => text.replaceAll(/[\ud800-\udfff]/g, '\ufffd'.repeat(3))
/** What Java's reader makes of it: one U+FFFD for every surrogate. */
export const asJavaReads = (text: string): string => text.replaceAll(/[\ud800-\udfff]/g, '\ufffd')
