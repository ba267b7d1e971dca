// Finds p: a touch of the session that the leader has certainly received, from which a lease is counted.
//
//     p      the second-last of the touches that were answered at least the follower relay delay before the sync is sent
//     sync   answered, on the same connection
//
// The leader learns of p before it receives any request that is sent on this connection after the sync's answer. If such a
// request is committed, the session lives until p + T at least. The handshake of a connection may be p without a sync, because
// the leader itself receives it. docs/lease.md explains why.
import { type Connection, type Session, type ZooKeeper } from '@zk/client'
import { elapsedSince, internalsOf, type SessionInternals, type Timestamp } from '@zk/client/internal'
import { memoized } from '../kernel/memoized.ts'
import { type HoldOptions, isLeased, followerRelayDelayOf } from './hold-options.ts'
import { leaseTimes } from './lease.ts'
import { throwUnlessTransient, pinnedTo } from '../kernel/retry.ts'

/** A touch that may be p: it proves a lease if a request that is sent on this connection from now on is committed. */
export interface RelayedTouch {
  readonly at: Timestamp
  readonly connection: Connection
}

/** A touch that was found by a sync, and the follower relay delay for which it counts. A longer delay needs an older touch. */
interface Synced {
  readonly followerRelayDelay: number
  readonly touch: RelayedTouch
}

interface Syncing {
  readonly followerRelayDelay: number
  readonly touch: Promise<RelayedTouch>
}

const ofSessions = new WeakMap<Session, Relay>()

/** The touches for p that are known in one session. All contenders and holds of the session share them. */
export class Relay {
  readonly #session: SessionInternals
  #synced: Synced | undefined
  #syncing: Syncing | undefined

  static of(session: Session): Relay {
    return memoized(ofSessions, session, () => new Relay(session))
  }

  private constructor(session: Session) {
    this.#session = internalsOf(session)
  }

  /** A known touch that is recent enough for a grant; undefined if a sync must be answered first. */
  known({ runtime }: ZooKeeper, followerRelayDelay: number): RelayedTouch | undefined {
    const { connection, shortestTimeout: T } = this.#session
    if (connection === undefined || connection.readOnly) return undefined
    const synced = this.#synced
    const isOnThisConnection =
      synced?.touch.connection === connection && followerRelayDelay <= synced.followerRelayDelay
    const touch = isOnThisConnection ? synced.touch : { at: connection.handshakeAt, connection }
    return leaseTimes.proven(T) - elapsedSince(runtime, touch.at) >= leaseTimes.recent(T) ? touch : undefined
  }

  /** Finds a touch by a sync, over any number of connections. Rejects when the session is over. */
  async sync(zk: ZooKeeper, followerRelayDelay: number): Promise<RelayedTouch> {
    const underWay = this.#syncing
    if (underWay !== undefined && followerRelayDelay <= underWay.followerRelayDelay) return await underWay.touch
    const syncing = { followerRelayDelay, touch: this.#sync(zk, followerRelayDelay) }
    this.#syncing = syncing
    try {
      const touch = await syncing.touch
      this.#synced = { followerRelayDelay, touch }
      return touch
    } finally {
      if (this.#syncing === syncing) this.#syncing = undefined
    }
  }

  async #sync(zk: ZooKeeper, followerRelayDelay: number): Promise<RelayedTouch> {
    const session = this.#session
    for (;;) {
      const before = session.connection
      const answered = before?.touchAnsweredBy(zk.runtime.now() - followerRelayDelay)
      try {
        await zk.sync('/', pinnedTo(session))
      } catch (error) {
        // The pause is shorter than that of other calls, because a lease depends on it.
        await throwUnlessTransient(zk, error, leaseTimes.retry(session.shortestTimeout))
        continue
      }
      const { connection } = session
      // If the sync was sent again on another connection, `answered` is a touch of the old server, and does not count.
      if (connection !== undefined) {
        return { at: connection === before && answered !== undefined ? answered : connection.handshakeAt, connection }
      }
    }
  }
}

/** Like `knownTouch`, but if a sync must be answered first, it sends one; undefined if there is no lease. */
export async function touchFor(zk: ZooKeeper, session: Session, terms: HoldOptions): Promise<RelayedTouch | undefined> {
  if (!isLeased(terms)) return undefined
  return knownTouch(zk, session, terms) ?? (await Relay.of(session).sync(zk, followerRelayDelayOf(terms, session)))
}

/**
 * A known touch from which the lease of a grant with these terms can be counted; undefined if a sync must be answered first, or
 * if the terms need no lease.
 */
export function knownTouch(zk: ZooKeeper, session: Session, terms: HoldOptions): RelayedTouch | undefined {
  return isLeased(terms) ? Relay.of(session).known(zk, followerRelayDelayOf(terms, session)) : undefined
}
