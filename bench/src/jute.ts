// The jute module of node-zookeeper-client, which has no types, and our values in the form that it takes.
import { createRequire } from 'node:module'

/** An object of a class of that module. */
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

/** The name of a record, and its fields in wire order. */
export type Named = readonly [name: string, fields: object]

/** The input for one frame: its header and its body, each as a record that is made before the measurement. */
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

  /** Encodes from values, as that client does for each request. */
  encode(): Buffer {
    return toBuffer(this.#make())
  }

  /** Encodes records that were made before, which is only the second half of the work. */
  encodeRecords(): Buffer {
    return toBuffer(this.#records)
  }

  /** Decodes the body of a frame. */
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
  // The fields show the class: messages contain only these three.
  const [type, fields] = 'czxid' in value ? ['Stat', value] : 'perms' in value ? ['ACL', value] : ['Id', value]
  return new jute.data[type]!(...Object.values(fields).map(asJute))
}
