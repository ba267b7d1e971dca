// How public objects survive `JSON.stringify`, which throws at a bigint, and copies without their prototype, such as those that
// test runners send to their parent process:
//
// - Plain data has its bigints as usual fields, and a `toJSON` of its own. What is made for each read has it from its class, which
//   costs less: `inJson` takes a fifth of a microsecond.
// - An error has no enumerable bigint.
import { hex } from './hex.ts'

/** Gives plain data a `toJSON` by which each bigint is text, `0x…`. Copies and comparisons of its fields leave it out. */
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

/** JSON makes {} of most errors, and throws at some: that of a certificate has a circle. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return hex(value)
  return value instanceof Error && !('toJSON' in value) ? value.message : value
}

/** Sets fields of an error that no copy of its enumerable fields has. */
export function setHidden<Fields extends object>(error: Fields & Error, fields: Partial<Fields>): void {
  for (const [name, value] of Object.entries(fields)) Object.defineProperty(error, name, { value, configurable: true })
}
