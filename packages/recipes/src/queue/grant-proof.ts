// The proof of a grant: a request that is committed after a touch of the session, on the same connection. It shows that the nodes
// and the session exist at that time, and that the lease from this touch holds (docs/lease.md). The request is the create itself
// if the contender is first at once, otherwise a check of its nodes.
import { type Connection, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { unawaited } from '../kernel/promises.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import { vanishedIfMissing } from '../kernel/sessions.ts'
import { followerRelayDelayOf, type HoldOptions, isLeased } from '../lease/hold-options.ts'
import { knownTouch, Relay, type RelayedTouch } from '../lease/relay.ts'
import type { ContenderNodes } from './contender-node.ts'

/** The result when a committed request has proven that no blocker is left. */
export interface Grant {
  readonly nodes: ContenderNodes
  /**
   * The touch from which the lease is counted. The committed request was sent after this touch, on the same connection.
   * undefined if no such touch is known, or if there is no lease.
   */
  readonly touch: RelayedTouch | undefined
}

/** What is noted before a request that must be committed is sent. */
export interface ProofStart {
  /** A touch for its lease; undefined if there is no lease. */
  readonly touch: RelayedTouch | undefined
  /** The connection at that time. The request may be sent on a later one. */
  readonly connection: Connection | undefined
}

export class GrantProof {
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #options: HoldOptions
  readonly #pinned: ReturnType<typeof pinnedTo>

  constructor(zk: ZooKeeper, session: Session, options: HoldOptions) {
    this.#zk = zk
    this.#session = session
    this.#options = options
    this.#pinned = pinnedTo(session)
  }

  /** Sends the sync of `synced` ahead of time, if it is needed. */
  prepare(): void {
    if (this.now() === undefined) unawaited(this.synced())
  }

  /** The start for a request that is sent now; undefined if a lease needs a touch that only a sync can give: see `synced`. */
  now(): ProofStart | undefined {
    const touch = knownTouch(this.#zk, this.#session, this.#options)
    return touch === undefined && isLeased(this.#options) ? undefined : { touch, connection: this.#session.connection }
  }

  async synced(): Promise<ProofStart> {
    const followerRelayDelay = followerRelayDelayOf(this.#options, this.#session)
    const touch = await Relay.of(this.#session).sync(this.#zk, followerRelayDelay)
    return { touch, connection: touch.connection }
  }

  /** Whether everything that was sent since `start`, and is answered, went over its connection. */
  isUnbroken({ connection }: ProofStart): boolean {
    return connection !== undefined && connection === this.#session.connection
  }

  /** Sends a committed check of the nodes. `first` is the start for the first attempt. */
  async confirm(nodes: ContenderNodes, first?: ProofStart): Promise<Grant> {
    const zk = this.#zk
    let start: ProofStart | undefined
    const check = async () => {
      start = (start === undefined ? first : undefined) ?? this.now() ?? (await this.synced())
      return await zk.multi(checksOf(nodes), this.#pinned)
    }
    await retry(zk, check).catch(vanishedIfMissing)
    return this.granted(nodes, start!)
  }

  /** The grant from a request that was sent after `start` and was committed. */
  granted(nodes: ContenderNodes, { touch }: ProofStart): Grant {
    return { nodes, touch: touch?.connection === this.#session.connection ? touch : undefined }
  }
}

function checksOf(nodes: ContenderNodes): Op<void>[] {
  return nodes.map(({ path }) => op.check(path))
}
