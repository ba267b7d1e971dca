import type { Session } from '@zk/client'
import { leaseTimes } from './lease/lease.ts'

/**
 * When a hold ends:
 *
 * - `confirmed`: with its lease. This is safe, under the assumptions of the lease.
 * - `connected`: with the connection (Curator's strict rule). A server that is cut off from its leader keeps connections
 *   while another client is granted.
 * - `sessionAlive`: when the client knows that its session is over (kazoo's rule). While it is disconnected another client
 *   may be granted, and it does not learn of it.
 */
export type HeldWhile = 'confirmed' | 'connected' | 'sessionAlive'

/** The terms of a hold. */
export interface HoldOptions {
  /** @default 'confirmed' */
  heldWhile?: HeldWhile | undefined
  /**
   * After how many ms the leader has received every touch that a follower has answered. It must be longer than half a tick,
   * the interval at which the leader asks. Behind an observer master it must be longer than a tick and two round trips. At
   * most half the session timeout.
   * @default a third of it
   */
  followerRelayDelay?: number | undefined
}

/** Callbacks during a hold. An error that they throw is an uncaught exception. */
export interface HoldListeners {
  /** The connection is lost. The hold goes on until its lease ends. Called again only after `onResumed`. */
  onSuspended?: ((suspension: Suspension) => void) | undefined
  /** A suspended hold is confirmed again. */
  onResumed?: (() => void) | undefined
}

/** The argument of `onSuspended`. */
export interface Suspension {
  /** How many ms of the lease are left. `Infinity` with `sessionAlive`. */
  readonly leaseRemaining: number
}

export interface HoldTerms extends HoldOptions, HoldListeners {}

export function isLeased({ heldWhile = 'confirmed' }: HoldOptions): boolean {
  return heldWhile === 'confirmed'
}

/** Throws if no lease can be proven in this session, or not in time. */
export function checkLease(options: HoldOptions, { shortestTimeout }: Session): void {
  const { followerRelayDelay = 0 } = options
  const longest = leaseTimes.longestRelay(shortestTimeout)
  if (!isLeased(options)) return
  if (shortestTimeout === 0) {
    throw new TypeError(
      'no lease is possible in a session that was resumed without session.shortestTimeout, the smallest timeout it ever ' +
        "had: resume it with all that zk.detach() gave, or hold while 'connected'",
    )
  }
  if (followerRelayDelay <= longest) return
  throw new RangeError(
    `followerRelayDelay must not be above half the session timeout, ${longest} ms here, but is ${followerRelayDelay}`,
  )
}

export function followerRelayDelayOf({ followerRelayDelay }: HoldOptions, { shortestTimeout }: Session): number {
  return followerRelayDelay ?? leaseTimes.relay(shortestTimeout)
}
