// The periods of a job: named by the caller (`slot`), or counted by the leader's clock (`every`).

export type Period = { readonly slot: string } | { readonly every: number }

/** A run that is recorded. */
interface Recorded {
  readonly slot: string
  readonly at: number
}

/** The longest slot, in characters: it is stored in a node, and shown in messages. */
const LONGEST_SLOT = 255

/** Checks the two options, of which a call has one. */
export function toPeriod(every: unknown, slot: unknown): Period {
  if ((every === undefined) === (slot === undefined)) {
    throw new TypeError("once takes { slot: '2026-11-27' }, which names the period, or { every: 3_600_000 }, in ms")
  }
  if (slot !== undefined) {
    if (typeof slot !== 'string') throw new TypeError(`slot must be a string, not ${typeof slot}`)
    if (slot !== '' && slot.length <= LONGEST_SLOT) return { slot }
    throw new RangeError(`slot must have 1 to ${LONGEST_SLOT} characters, not ${slot.length}`)
  }
  if (typeof every === 'number' && every >= 1 && every < Infinity) return { every }
  throw new RangeError(
    `every must be a number of ms, 1 or more, not ${typeof every === 'number' ? every : typeof every}`,
  )
}

/**
 * Whether a run is recorded for this period. `at` is a time in it, by the clock by which the run was recorded. A later period than
 * this one counts, too: then the clock went back, and the run of this period may have been overwritten.
 */
export function isDone(period: Period, run: Recorded, at: number): boolean {
  if ('slot' in period) return run.slot === period.slot
  return startOf(run.at, period.every) >= startOf(at, period.every)
}

/** The name of the period: for `every` the time at which it begins. */
export function slotOf(period: Period, at: number): string {
  return 'slot' in period ? period.slot : textOf(startOf(at, period.every))
}

function startOf(at: number, every: number): number {
  return Math.floor(at / every) * every
}

export function textOf(time: number): string {
  // oxlint-disable-next-line no-restricted-globals -- turns a time into text, and asks no clock
  return new Date(time).toISOString()
}
