// The jute module of node-zookeeper-client, which has no types, and our values in its representation.
import { createRequire } from 'node:module'

/** An object of one of its classes. */
interface JuteRecord {
  byteLength(): number
  serialize(buffer: Buffer, offset: number): number
  deserialize(buffer: Buffer, offset: number): number
}
type JuteClass = new (...fields: unknown[]) => JuteRecord
type JuteModule = Readonly<Record<'protocol' | 'data', Readonly<Record<string, JuteClass>>>> & {
  readonly Request: new (header: JuteRecord, payload: JuteRecord | null) => { toBuffer(): Buffer }
}

const require = createRequire(import.meta.url)
const jute = require('node-zookeeper-client/lib/jute') as JuteModule

/** A record by name, and its fields in wire order. */
export type Named = readonly [name: string, fields: object]

/** The input of one frame: header and body as its own records, made beforehand. */
export class JuteFrame {
  readonly #parts: readonly { readonly type: JuteClass; readonly fields: readonly unknown[] }[]
  readonly #records: readonly JuteRecord[]

  constructor(parts: readonly Named[]) {
    this.#parts = parts.map(([name, fields]) => ({
      type: jute.protocol[name]!,
      fields: Object.values(fields).map(asJute),
    }))
    this.#records = this.#make()
  }

  /** From values to bytes, as its client does for every request. */
  encode(): Buffer {
    return toBuffer(this.#make())
  }

  /** From records made beforehand: without the first half of the work. */
  encodeRecords(): Buffer {
    return toBuffer(this.#records)
  }

  /** From the body of a frame. */
  decode(body: Buffer): readonly JuteRecord[] {
    let offset = 0
    return this.#parts.map(({ type: Type }) => {
      const record = new Type()
      offset += record.deserialize(body, offset)
      return record
    })
  }

  #make(): JuteRecord[] {
    return this.#parts.map(({ type: Type, fields }) => new Type(...fields))
  }
}

function toBuffer([header, body]: readonly JuteRecord[]): Buffer {
  return new jute.Request(header!, body ?? null).toBuffer()
}

function asJute(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const long = Buffer.alloc(8)
    long.writeBigInt64BE(value)
    return long
  }
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (Array.isArray(value)) return value.map(asJute)
  if (typeof value !== 'object' || value === null) return value
  // By their fields: those that messages hold are few.
  const [type, fields] = 'czxid' in value ? ['Stat', value] : 'perms' in value ? ['ACL', value] : ['Id', value]
  return new jute.data[type]!(...Object.values(fields).map(asJute))
}
