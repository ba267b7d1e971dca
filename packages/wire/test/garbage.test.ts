import { expect, test } from 'vitest'
import { decode, encode, MultiRequest, MultiResponse, ProtocolError, type Type } from '../src/index.ts'
import { bytesOf } from './bytes.ts'
import { lines } from './vectors/lines.ts'
import { recordNamed } from './vectors/values.ts'

const ROUNDS = 200
const LONGEST = 96

const types: readonly Type<unknown>[] = [
  ...lines('schema').map(({ record }) => recordNamed(record)),
  MultiRequest,
  MultiResponse,
]
const named = types.map((type) => [type.name, type] as const)

test.each(named)('%s makes of random bytes a value that can be written, or a ProtocolError', (_name, type) => {
  const random = mulberry32(0x5eed)
  for (let round = 0; round < ROUNDS; round++) {
    // Small numbers more often than others: they are lengths that fit.
    const bytes = Uint8Array.from({ length: random() % LONGEST }, () => (random() % 4 === 0 ? random() : random() % 3))
    expectValueOrProtocolError(type, bytes)
  }
})

test.each(named)(
  '%s makes of bytes of Java with one bit flipped a value that can be written, or a ProtocolError',
  (_name, type) => {
    const random = mulberry32(0xb17)
    for (const hex of hexOfJava(type.name)) {
      const bytes = bytesOf(hex).subarray(0, 4096)
      for (let round = 0; round < 8 && bytes.byteLength > 0; round++) {
        const at = random() % bytes.byteLength
        const bit = 1 << (random() % 8)
        bytes[at]! ^= bit
        expectValueOrProtocolError(type, bytes)
        bytes[at]! ^= bit
      }
    }
  },
)

function hexOfJava(name: string): readonly string[] {
  if (name === 'MultiRequest') return lines('multi').map(({ hex }) => hex)
  if (name === 'MultiResponse') return lines('multiResponse').map(({ hex }) => hex)
  return lines('encode').flatMap(({ record, hex }) => (record.endsWith(`.${name}`) ? [hex] : []))
}

/** What decode makes of the bytes, encode can write, and decode gives again. */
function expectValueOrProtocolError(type: Type<unknown>, bytes: Uint8Array): void {
  let value: unknown
  try {
    value = decode(type, bytes)
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError)
    return
  }
  expect(decode(type, encode(type, value))).toStrictEqual(value)
}

/** A small random generator: the same numbers in every run. */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
