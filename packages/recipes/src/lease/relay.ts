// Which touch of a session the leader has taken in: what a lease is reckoned from.
//
//     p      the earlier of two requests that were answered at least the follower relay delay before the sync was sent
//     sync   answered, on the same connection
//
// The leader takes p in ahead of whatever this connection sends behind the sync's answer: when that is committed, the session
// lives until p + T at the least. The handshake of a connection is taken in by the leader itself, and needs no sync.
// ARCHITECTURE.md says why.
import { type Connection, type Session, type ZooKeeper } from '@zk/client'
import { elapsedSince, type Timestamp } from '@zk/client/internal'
import { type HoldOptions, isLeased, followerRelayDelayOf } from '../hold-options.ts'
import { leaseTimes } from './lease.ts'
import { throwUnlessTransient, pinnedTo } from '../queue/retry.ts'

/** Proves the session when a request that this connection sends from now on is committed. */
export interface RelayedTouch {
  readonly at: Timestamp
  readonly connection: Connection
}

/** With this follower relay delay. A longer one asks for an older touch. */
interface Synced {
  readonly followerRelayDelay: number
  readonly touch: RelayedTouch
}

interface Syncing {
  readonly followerRelayDelay: number
  readonly touch: Promise<RelayedTouch>
}

/** What is known of the touches of one session: all that is acquired or held in it shares it. */
export class Relay {
  static readonly #ofSession = new WeakMap<Session, Relay>()
  readonly #session: Session
  #synced: Synced | undefined
  #syncing: Syncing | undefined

  static of(session: Session): Relay {
    const relay = Relay.#ofSession.get(session) ?? new Relay(session)
    Relay.#ofSession.set(session, relay)
    return relay
  }

  private constructor(session: Session) {
    this.#session = session
  }

  /** One that is known, and recent enough for a grant; undefined where a sync must be answered first. */
  known({ runtime }: ZooKeeper, followerRelayDelay: number): RelayedTouch | undefined {
    const { connection, shortestTimeout: T } = this.#session
    if (connection === undefined || connection.readOnly) return undefined
    const synced = this.#synced
    const isOnThisConnection =
      synced?.touch.connection === connection && followerRelayDelay <= synced.followerRelayDelay
    const touch = isOnThisConnection ? synced.touch : { at: connection.handshakeAt, connection }
    return leaseTimes.proven(T) - elapsedSince(runtime, touch.at) >= leaseTimes.recent(T) ? touch : undefined
  }

  /** Asks with a sync, over as many connections as that takes. Rejects when the session is over. */
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
        // A lease does not wait for as long as others might.
        await throwUnlessTransient(zk.runtime, error, leaseTimes.retry(session.shortestTimeout))
        continue
      }
      const { connection } = session
      // Sent again on another connection, it says nothing of what this one's server was sent before.
      if (connection !== undefined) {
        return { at: connection === before && answered !== undefined ? answered : connection.handshakeAt, connection }
      }
    }
  }
}

/** One that a grant on these terms may be reckoned from at once; undefined where a sync must be answered first, or there is no lease. */
export function knownTouch(zk: ZooKeeper, session: Session, terms: HoldOptions): RelayedTouch | undefined {
  return isLeased(terms) ? Relay.of(session).known(zk, followerRelayDelayOf(terms, session)) : undefined
}
