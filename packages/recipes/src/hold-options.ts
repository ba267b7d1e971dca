import type { Session } from '@zk/client'
import { leaseTimes } from './lease/lease.ts'

/**
 * What has to be so for something to be held:
 *
 * - `confirmed`: its lease runs. Safe, under the assumptions of the lease.
 * - `connected`: the connection stands (Curator's strict rule). A server that is cut off from its leader keeps connections
 *   while another client is granted.
 * - `sessionAlive`: the client does not know that its session is over (kazoo's rule). While it is disconnected another
 *   client may be granted, and it does not learn of it.
 */
export type HeldWhile = 'confirmed' | 'connected' | 'sessionAlive'

/** On which terms something is acquired and held. */
export interface HoldOptions {
  /** @default 'confirmed' */
  heldWhile?: HeldWhile | undefined
  /**
   * After how many ms the leader knows of a request that a server answered. It must be longer than half a tick: so often the
   * leader asks. Behind an observer master it must be longer than a tick and two round trips. At most half the session timeout.
   * @default a third of it
   */
  followerRelayDelay?: number | undefined
}

/** What is called while it is held. What a listener throws is an uncaught exception. */
export interface HoldListeners {
  /** The connection is lost. What was acquired is held on until its lease ends. Called again only after `onResumed`. */
  onSuspended?: ((suspension: Suspension) => void) | undefined
  /** It was suspended, and is confirmed again. */
  onResumed?: (() => void) | undefined
}

/** What `onSuspended` is called with. */
export interface Suspension {
  /** ms until it is lost, if nothing can be confirmed before. `Infinity` while `sessionAlive`. */
  readonly leaseRemaining: number
}

export interface HoldTerms extends HoldOptions, HoldListeners {}

export function isLeased({ heldWhile = 'confirmed' }: HoldOptions): boolean {
  return heldWhile === 'confirmed'
}

/** Throws where no lease can be proven in this session, or none in time. */
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
