import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A jute type: how one kind of value is read from bytes and written to them. */
export interface Type<T> {
  /** The name in zookeeper.jute; it appears in errors. */
  readonly name: string
  /** The fewest bytes a value can take: what keeps a vector's count honest. */
  readonly minSize: number
  read(reader: Reader): T
  write(writer: Writer, value: T): void
}

/** The values of a type: `TypeOf<typeof CreateRequest>`. */
export type TypeOf<X> = X extends Type<infer T> ? T : never

/** Bytes of one whole value. */
export function encode<T>(type: Type<T>, value: T): Uint8Array<ArrayBuffer> {
  const writer = new Writer()
  type.write(writer, value)
  return writer.toBytes()
}

/** One value from its bytes. Bytes after it are ignored, as ZooKeeper does: a newer peer may have more fields. */
export function decode<T>(type: Type<T>, bytes: Uint8Array): T {
  return readNamed(type, new Reader(bytes))
}

/** Reads a value; an error names the type it was reading. */
export function readNamed<T>(type: Type<T>, reader: Reader): T {
  try {
    return type.read(reader)
  } catch (error) {
    throw located(error, type.name)
  }
}

export const int: Type<number> = {
  name: 'int',
  minSize: 4,
  read: (reader) => reader.int(),
  write: (writer, value) => writer.int(value),
}

export const long: Type<bigint> = {
  name: 'long',
  minSize: 8,
  read: (reader) => reader.long(),
  write: (writer, value) => writer.long(value),
}

export const boolean: Type<boolean> = {
  name: 'boolean',
  minSize: 1,
  read: (reader) => reader.boolean(),
  write: (writer, value) => writer.boolean(value),
}

export const buffer: Type<Uint8Array | null> = {
  name: 'buffer',
  minSize: 4,
  read: (reader) => reader.buffer(),
  write: (writer, value) => writer.buffer(value),
}

export const ustring: Type<string | null> = {
  name: 'ustring',
  minSize: 4,
  read: (reader) => reader.ustring(),
  write: (writer, value) => writer.ustring(value),
}

export function vector<T>(item: Type<T>): Type<readonly T[] | null> {
  return {
    name: `vector<${item.name}>`,
    minSize: 4,
    read: (reader) => readVector(item, reader),
    write: (writer, values) => {
      if (values === null) return writer.int(-1)
      writer.int(values.length)
      for (const value of values) item.write(writer, value)
    },
  }
}

/** The last field of a record, which older peers leave out: `absent` then stands for it. It is always written. */
export function trailing<T>(type: Type<T>, absent: T): Type<T> {
  return {
    name: type.name,
    minSize: 0,
    read: (reader) => (reader.remaining === 0 ? absent : type.read(reader)),
    write: (writer, value) => type.write(writer, value),
  }
}

type Fields = Readonly<Record<string, Type<unknown>>>
type RecordOf<F extends Fields> = { readonly [Name in keyof F]: TypeOf<F[Name]> }

/** A type whose fields can be looked at: what tools (vectors, arbitraries, printers) are derived from. */
export interface RecordType<F extends Fields> extends Type<RecordOf<F>> {
  readonly fields: F
}

/** A jute record: its fields, in wire order. */
export function record<F extends Fields>(name: string, fields: F): RecordType<F> {
  const entries = Object.entries(fields)
  return {
    name,
    fields,
    minSize: entries.reduce((sum, [, type]) => sum + type.minSize, 0),
    read(reader) {
      const value: Record<string, unknown> = {}
      for (const [field, type] of entries) {
        try {
          value[field] = type.read(reader)
        } catch (error) {
          throw located(error, field)
        }
      }
      return value as RecordOf<F>
    },
    write(writer, value) {
      for (const [field, type] of entries) type.write(writer, value[field])
    },
  }
}

function readVector<T>(item: Type<T>, reader: Reader): readonly T[] | null {
  const count = reader.count(item.minSize)
  if (count === null) return null
  const items: T[] = []
  for (let index = 0; index < count; index++) {
    try {
      items.push(item.read(reader))
    } catch (error) {
      throw located(error, `[${index}]`)
    }
  }
  return items
}

function located(error: unknown, name: string): unknown {
  return error instanceof ProtocolError ? error.within(name) : error
}
