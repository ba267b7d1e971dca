// When a command is ended: the decisions alone, without a process.
import { expect, test } from 'vitest'
import { graceAfter, reserve, verdict } from '../src/lock/ending.ts'

const T = 12_000

test('verdict lets a command run as long as its lease can be renewed in time', () => {
  // The shortest lease of a grant, and what is left of a renewed one just before the next round.
  for (const remaining of [0.98 * T, 0.31 * T - 50, T / 6]) {
    expect(verdict(remaining, T, undefined)).toMatchObject({ name: 'run' })
  }
})

test('verdict asks again when the command must be ended at the latest', () => {
  for (const grace of [undefined, 0, 2_000]) {
    const now = verdict(0.6 * T, T, grace)
    expect(now.name).toBe('run')
    const later = verdict(0.6 * T - (now.name === 'run' ? now.for : 0), T, grace)
    expect(later).toEqual({ name: 'end', grace: grace ?? T / 8 - reserve(T) })
  }
})

test('verdict never gives a command longer than its lease lasts', () => {
  for (let remaining = 0; remaining < T; remaining += 100) {
    for (const grace of [undefined, 0, 3_000, 60_000]) {
      const now = verdict(remaining, T, grace)
      if (now.name === 'end') expect(now.grace).toBe(Math.max(0, remaining - reserve(T)))
    }
  }
})

test('graceAfter is a third of what is left, at most 5 s, and never negative', () => {
  expect(graceAfter(6_000 + reserve(T), T)).toBe(2_000)
  expect(graceAfter(100_000, 120_000)).toBe(5_000)
  expect(graceAfter(10, T)).toBe(0)
})

test.each([1_000, 4_000, 12_000, 60_000])(
  'reserve leaves time for SIGTERM before a lease of T = %i is too old',
  (T) => {
    expect(reserve(T)).toBeLessThan(T / 8)
  },
)
