// One round: it proves that the ensemble has not given away the holds of a session:
//
//     p, sync   a touch that the leader has received (relay.ts)
//     check     of the held nodes: committed, and sent after the sync's answer, on the same connection
//
// Then no leader lets the session expire before p + T.
import { type Connection, KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import { type Timestamp, timestamp } from '@zk/client/internal'
import type { Grant } from '../queue/contender.ts'
import { NodeVanished } from '../queue/node-vanished.ts'
import type { WaitLimit } from '../queue/wait.ts'
import { followerRelayDelayOf, type HoldOptions, isLeased } from '../hold-options.ts'
import { Lease, leaseTimes } from './lease.ts'
import { Relay } from './relay.ts'
import { throwUnlessTransient, pinnedTo } from '../queue/retry.ts'

/** A node that a round checks. */
export interface Checked {
  readonly path: string
}

export interface Proof<C extends Checked> {
  /** The time of a touch that the leader has certainly received. */
  readonly touched: Timestamp
  readonly found: readonly C[]
  readonly refused: readonly Refused<C>[]
}

/** The check of a node failed for good: it was deleted (`NoNode`), or the right to read it was removed. */
export interface Refused<C extends Checked> {
  readonly checked: C
  readonly cause: KeeperError
}

/** The result of a renewal for one hold. */
type Outcome<C extends Checked> = 'found' | 'unknown' | Refused<C>

/** The largest sum of the paths of one transaction, in characters: a fraction of jute.maxbuffer. */
const CHUNK_SIZE = 64 * 1024

export class LeaseRenewal {
  readonly #zk: ZooKeeper
  readonly #session: Session

  constructor(zk: ZooKeeper, session: Session) {
    this.#zk = zk
    this.#session = session
  }

  /**
   * Repeats the proof until it succeeds, over any number of connections. `checked` is called when the checks are to be sent.
   * If it returns none, there is nothing to prove. Rejects when the session is over.
   */
  async prove<C extends Checked>(
    checked: () => readonly C[],
    followerRelayDelay: number,
  ): Promise<Proof<C> | undefined> {
    while (checked().length > 0) {
      const { at: touched, connection } = await Relay.of(this.#session).sync(this.#zk, followerRelayDelay)
      const proof = await this.#check(checked(), connection)
      if (proof !== undefined) return { touched, ...proof }
    }
    return undefined
  }

  /** undefined when the connection was lost meanwhile, or the servers were too busy. */
  async #check<C extends Checked>(
    all: readonly C[],
    connection: Connection,
  ): Promise<Omit<Proof<C>, 'touched'> | undefined> {
    const refused: Refused<C>[] = []
    let found = all
    for (;;) {
      const outcomes = await this.#commitAll(chunks(found))
      if (this.#session.connection !== connection || outcomes.includes('unknown')) return undefined
      const culprits = outcomes.filter((outcome) => typeof outcome === 'object')
      if (culprits.length === 0) return { found, refused }
      // A failed check fails its whole transaction: the others are checked again.
      refused.push(...culprits)
      const isCulprit = new Set(culprits.map(({ checked }) => checked))
      found = found.filter((each) => !isCulprit.has(each))
    }
  }

  /** Sends the transactions one after the other: the client's options may let few calls wait. */
  async #commitAll<C extends Checked>(chunks: readonly (readonly C[])[]): Promise<Outcome<C>[]> {
    const outcomes: Outcome<C>[] = []
    for (const chunk of chunks) outcomes.push(...(await this.#commit(chunk)))
    return outcomes
  }

  async #commit<C extends Checked>(chunk: readonly C[]): Promise<Outcome<C>[]> {
    try {
      const checks = chunk.map(({ path }) => op.check(path))
      await this.#zk.multi(checks, pinnedTo(this.#session))
      return ['found']
    } catch (error) {
      // It is longer than the client's options allow.
      if (error instanceof RangeError && chunk.length > 1) {
        const half = Math.ceil(chunk.length / 2)
        return await this.#commitAll([chunk.slice(0, half), chunk.slice(half)])
      }
      // Any other error, such as that of a session that moved, is not about a node.
      if (KeeperError.is(error, 'NoNode', 'NoAuth') && error.index !== undefined) {
        return [{ checked: chunk[error.index]!, cause: error }]
      }
      await throwUnlessTransient(this.#zk, error, leaseTimes.retry(this.#session.shortestTimeout))
      return ['unknown']
    }
  }
}

function chunks<C extends Checked>(all: readonly C[]): C[][] {
  const chunks: C[][] = []
  let size = Infinity
  for (const each of all) {
    size += each.path.length
    if (size > CHUNK_SIZE) {
      chunks.push([])
      size = each.path.length
    }
    chunks.at(-1)!.push(each)
  }
  return chunks
}

/** After so many proofs that leave too little, the contender gives up its place, and queues again at the end. */
const ATTEMPTS = 3

/**
 * The lease of a grant. The request that granted was committed, so the touch before it counts. If that is too old, it is
 * proven again.
 */
export async function firstLease(
  zk: ZooKeeper,
  session: Session,
  { nodes, touch }: Grant,
  terms: HoldOptions,
  limit: WaitLimit,
): Promise<Lease> {
  const { runtime } = zk
  if (!isLeased(terms)) return new Lease(runtime, timestamp(runtime), () => Infinity)
  const followerRelayDelay = followerRelayDelayOf(terms, session)
  const confirmation = new LeaseRenewal(zk, session)
  let touched = touch?.at
  for (let attempt = 1; ; attempt++) {
    const lease = touched && new Lease(runtime, touched, () => leaseTimes.proven(session.shortestTimeout))
    if (lease !== undefined && lease.remaining > leaseTimes.round(session.shortestTimeout)) return lease
    // Answers take too long. Contenders nearer to the servers may go on.
    if (attempt > ATTEMPTS) throw new NodeVanished()
    // Touches from before the process stood still are too old. Those that were sent since then will have been relayed by
    // then.
    if (lease !== undefined) await limit.pause(followerRelayDelay)
    const proof = await confirmation.prove(() => nodes, followerRelayDelay)
    if (proof === undefined) throw new NodeVanished()
    for (const { cause } of proof.refused) throw cause.code === 'NoNode' ? new NodeVanished() : cause
    ;({ touched } = proof)
  }
}
