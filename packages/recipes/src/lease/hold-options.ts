import type { Session } from '@zk/client'
import { internalsOf } from '@zk/client/internal'
import { leaseTimes } from './lease.ts'

/**
 * When a hold ends:
 *
 * - `confirmed`: when its lease ends. This is safe, under the assumptions of the lease.
 * - `connected`: when the connection is lost (Curator's strict rule). Another client may be granted earlier: a server that is
 *   cut off from its leader keeps its connections.
 * - `sessionAlive`: when the client knows that its session is over (kazoo's rule). While the client is disconnected, another
 *   client may be granted without its knowledge.
 */
export type HeldWhile = 'confirmed' | 'connected' | 'sessionAlive'

/** How long a hold lasts. */
export interface HoldOptions {
  /** @default 'confirmed' */
  heldWhile?: HeldWhile | undefined
  /**
   * The follower relay delay: the time in ms after which the leader has received every touch that a follower has answered. It
   * must be longer than half a tick, the interval at which the leader asks for touches. Behind an observer master it must be
   * longer than a tick and two round trips. It must not exceed half the session timeout.
   * @default a third of the session timeout
   */
  followerRelayDelay?: number | undefined
}

/**
 * Callbacks during a hold. They run in the async context (`AsyncLocalStorage`) of the call that made the hold. If a callback throws, the
 * error is an uncaught exception.
 */
export interface HoldListeners {
  /**
   * Called when the connection is lost. The hold continues until its lease ends: `leaseRemaining` is how many ms are left, `Infinity` with
   * `sessionAlive`. Called again only after `onResumed`.
   */
  onSuspended?: ((suspension: { readonly leaseRemaining: number }) => void) | undefined
  /** Called when a suspended hold is confirmed again. */
  onResumed?: (() => void) | undefined
}

export interface HoldTerms extends HoldOptions, HoldListeners {}

export function isLeased({ heldWhile = 'confirmed' }: HoldOptions): boolean {
  return heldWhile === 'confirmed'
}

/** Throws if no lease is possible in this session, or if it would be too old when it is proven. */
export function checkLease(options: HoldOptions, session: Session): void {
  const { shortestTimeout } = internalsOf(session)
  const { followerRelayDelay = 0 } = options
  const longest = leaseTimes.longestRelay(shortestTimeout)
  if (!isLeased(options)) return
  if (shortestTimeout === 0) {
    throw new TypeError(
      'no lease is possible in a session that was resumed without session.shortestTimeout, the smallest timeout it ever ' +
        "had: resume it with everything that zk.detach() returned, or hold while 'connected'",
    )
  }
  if (followerRelayDelay <= longest) return
  throw new RangeError(
    `followerRelayDelay must not exceed half the session timeout, ${longest} ms here, but is ${followerRelayDelay}`,
  )
}

export function followerRelayDelayOf({ followerRelayDelay }: HoldOptions, session: Session): number {
  return followerRelayDelay ?? leaseTimes.relay(internalsOf(session).shortestTimeout)
}
