// When a command is to be ended, so that nothing of it is left when its lease ends. T is the session timeout. Times are in ms.

/** The longest default grace. */
const LONGEST_GRACE = 5_000

/**
 * So long before the lease ends, SIGKILL is sent: a busy machine takes a while to find the processes and to end them. The guardian
 * does it after a quarter of this time, if zk has not done it.
 */
export function reserve(T: number): number {
  return Math.min(Math.max(150, T / 16), 500, T / 10)
}

/**
 * With less than this left, a lease that could still be renewed is not any more: a round takes up to T/8 (`leaseTimes.round` of
 * the recipes), and begins before.
 */
function tooLate(T: number): number {
  return T / 8
}

/** From SIGTERM to SIGKILL, for a command whose connection is lost with so much of its lease left. */
export function graceAfter(remaining: number, T: number): number {
  return Math.max(0, Math.min(LONGEST_GRACE, (remaining - reserve(T)) / 3))
}

export type Verdict =
  /** Ask again in so many ms. */
  | { readonly name: 'run'; readonly for: number }
  /** SIGTERM now, and SIGKILL after the grace. */
  | { readonly name: 'end'; readonly grace: number }

/**
 * What is to become of a command whose lease has so much left. `grace` is for a command without a connection, and undefined for
 * one with a connection: it runs as long as its lease can be renewed in time.
 */
export function verdict(remaining: number, T: number, grace: number | undefined): Verdict {
  const left = Math.max(0, remaining - reserve(T))
  const endAt = grace ?? tooLate(T) - reserve(T)
  return left > endAt ? { name: 'run', for: left - endAt } : { name: 'end', grace: left }
}

/** What is left of a lease, in ms, in words. */
export function byTheLease(left: number): string {
  return left >= 0 ? `${Math.floor(left)} ms before the lease ends` : `${Math.ceil(-left)} ms after the lease has ended`
}
