import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Jitter } from '../src/session/servers/jitter.ts'

/** Seeds as they come from a Runtime: spread over 32 bits. */
function seeds(count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.imul(index + 1, 0x9e3779b9) >>> 0)
}

test('Jitter.upTo gives numbers from 0 up to, not including, the limit', () => {
  fc.assert(
    fc.property(fc.integer(), fc.double({ min: 1e-3, max: 1e9, noNaN: true }), (seed, limit) => {
      const jitter = new Jitter(seed)
      for (let draw = 0; draw < 20; draw++) {
        const number = jitter.upTo(limit)
        expect(number).toBeGreaterThanOrEqual(0)
        expect(number).toBeLessThan(limit)
      }
    }),
  )
})

test('Jitter.upTo spreads over the whole of its range', () => {
  const jitter = new Jitter(0x5eed)
  const tenths = Array.from({ length: 10 }, () => 0)
  for (let draw = 0; draw < 10_000; draw++) tenths[Math.floor(jitter.upTo(10))]!++
  for (const count of tenths) expect(count).toBeGreaterThan(850)
})

test('Jitter.upTo(0) is no pause', () => {
  expect(new Jitter(1).upTo(0)).toBe(0)
})

test('Jitter gives the same numbers for the same seed, and others for another', () => {
  const draws = (seed: number) => {
    const jitter = new Jitter(seed)
    return [jitter.upTo(1), jitter.upTo(1), jitter.upTo(1)]
  }
  expect(draws(42)).toEqual(draws(42))
  expect(new Set(seeds(100).map((seed) => draws(seed).join())).size).toBe(100)
})

test('Jitter takes any seed, 0 and multiples of 2³² too', () => {
  for (const seed of [0, -1, 2 ** 32, 2 ** 32 - 1, 0.5]) {
    const jitter = new Jitter(seed)
    expect(jitter.upTo(1)).not.toBe(jitter.upTo(1))
  }
})

test('Jitter.shuffled gives the same items in another array', () => {
  fc.assert(
    fc.property(fc.integer(), fc.array(fc.integer()), (seed, items) => {
      const before = [...items]
      const shuffled = new Jitter(seed).shuffled(items)
      expect(items).toEqual(before)
      expect(shuffled).not.toBe(items)
      expect(shuffled.sort((a, b) => a - b)).toEqual(before.sort((a, b) => a - b))
    }),
  )
})

test('Jitter.shuffled puts every item everywhere about equally often', () => {
  const counts = new Map<string, number>()
  for (const seed of seeds(6_000)) {
    const order = new Jitter(seed).shuffled(['a', 'b', 'c']).join('')
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  expect(counts.size).toBe(6)
  for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(150)
})
