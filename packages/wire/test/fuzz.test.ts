// The short form of `pnpm fuzz`: the same cases in every run.
import { expect, test } from 'vitest'
import * as wire from '../src/index.ts'
import { thrownBy } from './thrown.ts'

interface Done {
  readonly cases: number
  readonly bytes: number
  readonly messages: number
  readonly errors: number
}
type Fuzz = (
  implementation: typeof wire,
  frames: unknown,
  options: { readonly seed: number; readonly bytes: number; readonly from?: number },
) => Generator<Done>

// Plain JavaScript, which Node 20 runs as it is, and which has no types.
const load = async (file: string): Promise<unknown> => import(new URL(`../fuzz/${file}`, import.meta.url).href)
const { fuzz } = (await load('fuzzer.mjs')) as { readonly fuzz: Fuzz }
const { realFrames } = (await load('frames.mjs')) as { readonly realFrames: () => unknown }
const frames = realFrames()

test('altered frames are messages or ProtocolErrors, for a million bytes', () => {
  const done = run(wire, 1)
  expect(done.bytes).toBeGreaterThanOrEqual(1_000_000)
  // Were all refused, or none, the cases would prove nothing.
  expect(done.messages).toBeGreaterThan(1_000)
  expect(done.errors).toBeGreaterThan(1_000)
})

test('the same seed makes the same cases, another one others', () => {
  const outcomes = [3, 3, 4].map((seed) => run(wire, seed, 100_000))
  expect(outcomes[1]).toEqual(outcomes[0])
  expect(outcomes[2]).not.toEqual(outcomes[0])
})

test.each<[what: string, broken: Partial<typeof wire>, cause: RegExp]>([
  ['another error', { ProtocolError: class extends wire.ProtocolError {} }, /./],
  [
    'a message that is another one after being written',
    { encodeMessage: (message) => wire.encodeMessage(message.type === 'event' ? { ...message, zxid: 0n } : message) },
    /not the same after writing and reading/,
  ],
  [
    'a message that weighs more than its bytes',
    {
      encodeMessage: (message) => {
        const bytes = wire.encodeMessage(message)
        return bytes.byteLength > 200 ? bytes.subarray(0, 4) : bytes
      },
    },
    /4 bytes became a message of weight/,
  ],
])('%s is found, and found again by seed and case', (_what, broken, cause) => {
  const sabotaged = { ...wire, ...broken }
  const error = thrownBy(() => run(sabotaged, 5)) as Error
  const [, seed, index] = /--seed (\d+) --case (\d+)$/.exec(error.message)!
  expect(String(error.cause)).toMatch(cause)
  const again = thrownBy(() => fuzz(sabotaged, frames, { seed: Number(seed), bytes: 1, from: Number(index) }).next())
  expect(again).toHaveProperty('message', error.message)
})

function run(implementation: typeof wire, seed: number, bytes = 1_000_000): Done {
  let last: Done | undefined
  for (const done of fuzz(implementation, frames, { seed, bytes })) last = done
  return last!
}
