const MOST_PERMITS = 1_000_000
/** The most permits that one transaction can take. */
const MOST_AT_ONCE = 1_000

export function checkPermits(permits: unknown): void {
  if (isInteger(permits, MOST_PERMITS)) return
  throw new RangeError(`permits must be a whole number from 1 to ${MOST_PERMITS}, not ${String(permits)}`)
}

/** `permits` is how many there are, if that is known. */
export function checkCount(count: number, permits: number | undefined): void {
  if (!isInteger(count, MOST_AT_ONCE)) {
    throw new RangeError(`count must be a whole number from 1 to ${MOST_AT_ONCE}, not ${String(count)}`)
  }
  if (permits === undefined || count <= permits) return
  throw new RangeError(`count is ${count}, and there are only ${permits} permits`)
}

function isInteger(value: unknown, most: number): boolean {
  return Number.isInteger(value) && (value as number) >= 1 && (value as number) <= most
}
