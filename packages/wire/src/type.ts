import type { Bytes } from './bytes.ts'
import { invalid } from './invalid.ts'
import { ProtocolError } from './protocol-error.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A jute type: how one kind of value is read from bytes and written to them. */
export interface Type<T> {
  /** The name in zookeeper.jute. Errors contain it. */
  readonly name: string
  /** The number of bytes that the smallest value takes. So a frame bounds the number of items in a vector. */
  readonly minSize: number
  /** Reads one value. Throws a `ProtocolError` if the bytes are not such a value. */
  read(reader: Reader): T
  /** Writes one value. Throws a `TypeError` or a `RangeError` if the value does not have this type. */
  write(writer: Writer, value: T): void
}

/** The values of a type: `TypeOf<typeof CreateRequest>`. */
export type TypeOf<X> = X extends Type<infer T> ? T : never

/** Encodes one whole value. */
export function encode<T>(type: Type<T>, value: T): Bytes {
  const writer = new Writer()
  writeNamed(type, writer, value)
  return writer.finish()
}

/** Decodes one value. Bytes after the value are ignored, as by ZooKeeper: a newer peer may have more fields. */
export function decode<T>(type: Type<T>, bytes: Uint8Array): T {
  return readNamed(type, new Reader(bytes))
}

/** Reads a value. The path in an error begins with the name of the type. */
export function readNamed<T>(type: Type<T>, reader: Reader): T {
  try {
    return type.read(reader)
  } catch (error) {
    throw readErrorWithin(error, type.name)
  }
}

/** Writes a value. The message of an error begins with the name of the type. */
export function writeNamed<T>(type: Type<T>, writer: Writer, value: T): void {
  try {
    type.write(writer, value)
  } catch (error) {
    throw writeErrorWithin(error, type.name)
  }
}

/** The jute type `int`: 32 bits with a sign. */
export const int: Type<number> = {
  name: 'int',
  minSize: 4,
  read: (reader) => reader.int(),
  write: (writer, value) => writer.int(value),
}

/** The jute type `long`: 64 bits with a sign. */
export const long: Type<bigint> = {
  name: 'long',
  minSize: 8,
  read: (reader) => reader.long(),
  write: (writer, value) => writer.long(value),
}

/** The jute type `boolean`: one byte. Any byte except 0 is true. */
export const boolean: Type<boolean> = {
  name: 'boolean',
  minSize: 1,
  read: (reader) => reader.boolean(),
  write: (writer, value) => writer.boolean(value),
}

/**
 * The type of `buffer`. It has a name because the declarations of records contain it. Otherwise they would contain
 * `Uint8Array<ArrayBufferLike>`, which compilers before TypeScript 5.7 do not know.
 */
export interface BufferType extends Type<Uint8Array | null> {}

/** The jute type `buffer`: a length and as many bytes, or null. */
export const buffer: BufferType = {
  name: 'buffer',
  minSize: 4,
  read: (reader) => reader.buffer(),
  write: (writer, value) => writer.buffer(value),
}

/** The jute type `ustring`: a length and as many bytes of UTF-8, or null. */
export const ustring: Type<string | null> = {
  name: 'ustring',
  minSize: 4,
  read: (reader) => reader.ustring(),
  write: (writer, value) => writer.ustring(value),
}

/**
 * Makes a jute type `vector<item>`: a count and as many items, or null. Each item must take at least one byte. Otherwise a
 * hostile peer could send any count.
 */
export function vector<T>(item: Type<T>): Type<readonly T[] | null> {
  if (item.minSize < 1) throw new TypeError(`vector<${item.name}>: an item may take no bytes at all`)
  return {
    name: `vector<${item.name}>`,
    minSize: 4,
    read(reader) {
      const count = reader.count(item.minSize)
      if (count === null) return null
      if ((item as unknown) === ustring) return reader.ustrings(count) as readonly unknown[] as readonly T[]
      const items: T[] = []
      try {
        while (items.length < count) items.push(item.read(reader))
      } catch (error) {
        throw readErrorWithin(error, `[${items.length}]`)
      }
      return items
    },
    write(writer, values) {
      if (values === null) return writer.int(-1)
      if (!Array.isArray(values)) throw invalid(values, 'vector', 'an array or null')
      writer.int(values.length)
      let at = 0
      try {
        for (; at < values.length; at++) item.write(writer, values[at] as T)
      } catch (error) {
        throw writeErrorWithin(error, `[${at}]`)
      }
    },
  }
}

/**
 * Makes the type of a last field that older peers leave out: it is then read as `absent`. An undefined one is not written.
 */
export function trailing<T>(type: Type<NonNullable<T>>, absent: T): Type<T> {
  return {
    name: type.name,
    minSize: 0,
    read: (reader) => (reader.remaining === 0 ? absent : type.read(reader)),
    write: (writer, value) => {
      if (value !== undefined) type.write(writer, value as NonNullable<T>)
    },
  }
}

/** The types of the fields of a record, by name. */
type Fields = Readonly<Record<string, Type<unknown>>>
/** The values of a record. */
type RecordOf<F extends Fields> = { readonly [Name in keyof F]: TypeOf<F[Name]> }

/** The type of a record, with the list of its fields. Tools derive test vectors, random values and printers from it. */
export interface RecordType<F extends Fields> extends Type<RecordOf<F>> {
  /** The fields, in wire order. */
  readonly fields: F
}

/** Makes the type of a jute record. `fields` are in wire order. */
export function record<F extends Fields>(name: string, fields: F): RecordType<F> {
  const names = Object.keys(fields)
  const types = Object.values(fields)
  return {
    name,
    fields,
    minSize: types.reduce((sum, type) => sum + type.minSize, 0),
    read(reader) {
      const value: Record<string, unknown> = {}
      let at = 0
      try {
        for (; at < names.length; at++) value[names[at]!] = types[at]!.read(reader)
      } catch (error) {
        throw readErrorWithin(error, names[at]!)
      }
      return value as RecordOf<F>
    },
    write(writer, value) {
      let at = 0
      try {
        for (; at < names.length; at++) types[at]!.write(writer, value[names[at]!])
      } catch (error) {
        throw writeErrorWithin(error, names[at]!)
      }
    },
  }
}

function readErrorWithin(error: unknown, name: string): unknown {
  return error instanceof ProtocolError ? error.within(name) : error
}

/** Adds `name` to the path before the reason of an error: `CreateRequest.acl[1].perms: …`. */
function writeErrorWithin(error: unknown, name: string): unknown {
  if (!(error instanceof TypeError || error instanceof RangeError)) return error
  const message = `${name}: ${error.message}`.replace(/^(\S+): (?=[\w[\].]+: )/, '$1.').replace('.[', '[')
  return new (error.constructor as ErrorConstructor)(message)
}
