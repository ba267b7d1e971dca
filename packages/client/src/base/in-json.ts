// How public objects survive `JSON.stringify`, which throws when it finds a bigint, and being copied without their prototype.
// Test runners send such copies to their parent process.
//
// - Plain data has its bigints in ordinary fields, and a `toJSON` of its own. Objects that are made for each read inherit it
//   from their class, which costs less: `inJson` takes a fifth of a microsecond.
// - An error has no enumerable bigint.
import { hex } from './hex.ts'

/** Gives plain data a `toJSON` that turns each bigint into text, `0x…`. Copies and comparisons of its fields leave it out. */
export function inJson<Data extends object>(data: Data): Data {
  return Object.defineProperty(data, 'toJSON', descriptor)
}

/** For the `toJSON` of a class: the fields, each bigint as text. */
export function fieldsInJson(data: object): object {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, jsonOf(value)]))
}

/** The function uses `this`, so it also works on a copy that has it. */
const descriptor: PropertyDescriptor = {
  value(this: object) {
    return fieldsInJson(this)
  },
  configurable: true,
}

/** `JSON.stringify` turns most errors into {}, and throws for some: the error of a certificate is circular. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return hex(value)
  return value instanceof Error && !('toJSON' in value) ? value.message : value
}

/** Sets fields of an error that are not enumerable, so that copies lack them. */
export function setHidden<Fields extends object>(error: Fields & Error, fields: Partial<Fields>): void {
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value, configurable: true })
}
