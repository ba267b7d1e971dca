import { unsignedHex } from '../connection/describe.ts'

/**
 * Gives data of the controls a `toJSON` that turns each bigint into text, `0x…`: `JSON.stringify` throws at a bigint. Copies and
 * comparisons of the fields leave it out.
 */
export function inJson<Data extends object>(data: Data): Data {
  return Object.defineProperty(data, 'toJSON', { value: () => withoutBigints(data), configurable: true })
}

function withoutBigints(data: object): object {
  return Object.fromEntries(Object.entries(data).map(([name, value]) => [name, jsonOf(value)]))
}

function jsonOf(value: unknown): unknown {
  return typeof value === 'bigint' ? hex(value) : value
}

/** The number as servers print it. */
export const hex = (number: bigint) => `0x${unsignedHex(number)}`
