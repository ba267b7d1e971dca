// How long many calls took.

export interface Summary {
  readonly count: number
  /** From the first call to the last answer, in ms. */
  readonly totalMs: number
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  readonly maxMs: number
}

/**
 * Calls `call` so many times, `inFlight` at a time. `lane` is 0 to `inFlight` - 1. Rejects with an error of a call when all
 * calls have ended.
 */
export async function measure(
  count: number,
  inFlight: number,
  call: (lane: number) => Promise<unknown>,
): Promise<Summary> {
  const times = new Float64Array(count)
  let next = 0
  const startedAt = performance.now()
  const lanes = Array.from({ length: Math.min(inFlight, count) }, async (_, lane) => {
    while (next < count) {
      const index = next++
      const calledAt = performance.now()
      try {
        await call(lane)
      } catch (error) {
        next = count
        throw error
      }
      times[index] = performance.now() - calledAt
    }
  })
  // After an error the others end their calls first: they must not create anything later.
  const ended = await Promise.allSettled(lanes)
  for (const lane of ended) if (lane.status === 'rejected') throw lane.reason
  return summaryOf(times, performance.now() - startedAt)
}

/** `times` has at least one time, and is sorted in place. */
export function summaryOf(times: Float64Array, totalMs: number): Summary {
  times.sort()
  const count = times.length
  // The nearest rank: at least this part of the calls took no longer.
  const percentile = (part: number): number => times[Math.max(0, Math.ceil(part * count) - 1)]!
  return {
    count,
    totalMs,
    perSecond: (count * 1_000) / totalMs,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    maxMs: times[count - 1]!,
  }
}
