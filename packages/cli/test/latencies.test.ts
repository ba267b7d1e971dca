import { expect, test } from 'vitest'
import { measure, summaryOf } from '../src/ensemble/latencies.ts'

test('summaryOf takes the nearest ranks', () => {
  const times = Float64Array.from({ length: 200 }, (_, index) => 200 - index)
  expect(summaryOf(times, 400)).toEqual({
    count: 200,
    totalMs: 400,
    perSecond: 500,
    p50Ms: 100,
    p99Ms: 198,
    maxMs: 200,
  })
  expect(summaryOf(Float64Array.of(7), 7)).toMatchObject({ count: 1, p50Ms: 7, p99Ms: 7, maxMs: 7 })
})

test('measure has so many calls in flight, each in a lane of its own', async () => {
  const busy = new Set<number>()
  const lanes = new Set<number>()
  let most = 0
  const summary = await measure(10, 3, async (lane) => {
    expect(busy.has(lane)).toBe(false)
    busy.add(lane)
    lanes.add(lane)
    most = Math.max(most, busy.size)
    await Promise.resolve()
    busy.delete(lane)
  })
  expect([summary.count, most, [...lanes]]).toEqual([10, 3, [0, 1, 2]])
})

test('measure rejects with the error of a call, when the calls under way have ended, and begins no other', async () => {
  let called = 0
  let ended = 0
  const measuring = measure(10, 3, async (lane) => {
    called++
    if (lane === 0) throw new Error('no')
    await new Promise<void>((resolve) => void setImmediate(resolve))
    ended++
  })
  await expect(measuring).rejects.toThrow('no')
  expect([called, ended]).toEqual([3, 2])
})
