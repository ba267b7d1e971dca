// One round. It proves that no leader lets the session expire before p + T, and that the held nodes exist:
//
//     p, sync   a touch that the leader has received (relay.ts)
//     check     a multi that checks the held nodes: sent after the sync's answer, on the same connection, and committed
import { type Connection, KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import {
  internalsOf,
  MULTI_SIZE,
  type SessionInternals,
  sizeInMulti,
  type Timestamp,
  timestamp,
} from '@zk/client/internal'
import { NodeVanished } from '../kernel/sessions.ts'
import type { Limit } from '../kernel/limit.ts'
import { followerRelayDelayOf, type HoldOptions, isLeased } from './hold-options.ts'
import { Lease, leaseTimes } from './lease.ts'
import { Relay, type RelayedTouch } from './relay.ts'
import { SlowAnswers, type Slowness } from './slow-answers.ts'
import { throwUnlessTransient, pinnedTo } from '../kernel/retry.ts'

/** What a round checks: it exists if all of its nodes do. */
export interface Checked {
  readonly paths: readonly string[]
}

export interface Proof<C extends Checked> {
  /** The time of a touch that the leader has certainly received. */
  readonly touched: Timestamp
  readonly found: readonly C[]
  readonly refused: readonly Refused<C>[]
}

/** The check of one of its nodes failed for good: it was deleted (`NoNode`), or the right to read it was removed. */
export interface Refused<C extends Checked> {
  readonly checked: C
  readonly cause: KeeperError
}

/** What a lease is proven for: nodes that were just granted. */
export interface Granted {
  readonly nodes: readonly { readonly path: string }[]
  /** A touch before the committed request that has shown the grant; undefined if none is known. */
  readonly touch: RelayedTouch | undefined
}

/** The result of one check. */
type Outcome<C extends Checked> = 'found' | 'unknown' | Refused<C>

export class LeaseRenewal {
  readonly #zk: ZooKeeper
  readonly #session: SessionInternals
  /** The longest transaction, in bytes. This limit is halved when servers do not accept it. */
  #chunkSize = MULTI_SIZE

  constructor(zk: ZooKeeper, session: Session) {
    this.#zk = zk
    this.#session = internalsOf(session)
  }

  /**
   * Repeats the round until it succeeds, over any number of connections. `checked` returns what to check, and is called
   * just before that is checked. If it returns none, the result is undefined. Rejects when the session is over.
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

  /** Checks all nodes. The result is undefined if the connection was lost meanwhile, or if the servers were too busy. */
  async #check<C extends Checked>(
    all: readonly C[],
    connection: Connection,
  ): Promise<Omit<Proof<C>, 'touched'> | undefined> {
    const refused: Refused<C>[] = []
    let found = all
    for (;;) {
      const outcomes = await this.#commitAll(this.#chunks(found))
      if (this.#session.connection !== connection || outcomes.includes('unknown')) return undefined
      const failures = outcomes.filter((outcome) => typeof outcome === 'object')
      if (failures.length === 0) return { found, refused }
      // A failed check makes its whole transaction fail, so all others are checked again.
      refused.push(...failures)
      const failed = new Set(failures.map(({ checked }) => checked))
      found = found.filter((each) => !failed.has(each))
    }
  }

  /** Sends the transactions one after the other, because the client's options may allow few calls to wait. */
  async #commitAll<C extends Checked>(chunks: readonly (readonly C[])[]): Promise<Outcome<C>[]> {
    const outcomes: Outcome<C>[] = []
    for (const chunk of chunks) outcomes.push(...(await this.#commit(chunk)))
    return outcomes
  }

  async #commit<C extends Checked>(chunk: readonly C[]): Promise<Outcome<C>[]> {
    try {
      const checks = chunk.flatMap(({ paths }) => paths.map((path) => op.check(path)))
      await this.#zk.multi(checks, pinnedTo(this.#session))
      return ['found']
    } catch (error) {
      // The transaction is too long for the client's options, or for the servers.
      if (chunk.length > 1 && (error instanceof RangeError || KeeperError.is(error, 'RequestTooLarge'))) {
        const half = Math.ceil(chunk.length / 2)
        this.#chunkSize = Math.min(this.#chunkSize, this.#sizeOf(chunk) / 2)
        return await this.#commitAll([chunk.slice(0, half), chunk.slice(half)])
      }
      // An error of any other kind, such as SessionMoved, is not about one node.
      if (KeeperError.is(error, 'NoNode', 'NoAuth') && error.index !== undefined) {
        return [{ checked: ofCheck(chunk, error.index), cause: error }]
      }
      await throwUnlessTransient(this.#zk, error, leaseTimes.retry(this.#session.shortestTimeout))
      return ['unknown']
    }
  }

  /** All nodes of a hold are in one transaction, however many there are: they were also created in one. */
  #chunks<C extends Checked>(all: readonly C[]): C[][] {
    const chunks: C[][] = []
    let size = Infinity
    for (const each of all) {
      const added = this.#sizeOf([each])
      size += added
      if (size > this.#chunkSize) {
        chunks.push([])
        size = added
      }
      chunks.at(-1)!.push(each)
    }
    return chunks
  }

  #sizeOf(all: readonly Checked[]): number {
    return all.flatMap(({ paths }) => paths).reduce((sum, path) => sum + sizeInMulti(this.#zk, path), 0)
  }
}

/** The entry that the n-th check belongs to. */
function ofCheck<C extends Checked>(chunk: readonly C[], n: number): C {
  let end = 0
  return chunk.find(({ paths }) => n < (end += paths.length))!
}

/** If a lease was proven this many times, but each time too little of it was left, the contender queues again at the end. */
const ATTEMPTS = 3

/** Called when the proof of a lease begins, and, with its `Slowness`, each time it was too late. */
export type OnProving = (slowness?: Slowness) => void

/**
 * The lease of a grant. It is counted from the touch of the grant, since the request that showed the grant was committed. If
 * too little of this lease is left, or if there is no touch, a round proves a new one.
 */
export function firstLease(
  zk: ZooKeeper,
  session: Session,
  grant: Granted,
  terms: HoldOptions,
  { limit, onProving = () => {} }: { readonly limit: Limit; readonly onProving?: OnProving },
): Lease | Promise<Lease> {
  const { runtime } = zk
  const { touch } = grant
  if (!isLeased(terms)) return new Lease(runtime, timestamp(runtime), () => Infinity)
  const followerRelayDelay = followerRelayDelayOf(terms, session)
  const known = touch && leaseFrom(zk, session, touch.at)
  if (known !== undefined && isLongEnough(known, session)) return known
  return limit.during(provenLease(zk, session, grant, { known, followerRelayDelay, limit, onProving }))
}

interface Proving {
  readonly known: Lease | undefined
  readonly followerRelayDelay: number
  readonly limit: Limit
  readonly onProving: OnProving
}

async function provenLease(
  zk: ZooKeeper,
  session: Session,
  { nodes }: Granted,
  { known, followerRelayDelay, limit, onProving }: Proving,
): Promise<Lease> {
  const renewal = new LeaseRenewal(zk, session)
  const checked = { paths: nodes.map(({ path }) => path) }
  let lease = known
  onProving()
  for (let attempt = 1; ; attempt++) {
    if (lease !== undefined) {
      // The known touches are too old: the process was paused, or answers are slow. So it touches now, and waits until the
      // leader has received that. Without these touches every attempt would be as late as the first: an attempt delays the next
      // heartbeat, so its p would always be the sync of the previous attempt.
      await limit.during(internalsOf(session).touch())
      await limit.pause(followerRelayDelay)
    }
    const proof = await renewal.prove(() => [checked], followerRelayDelay)
    if (proof === undefined) throw new NodeVanished()
    for (const { cause } of proof.refused) throw cause.code === 'NoNode' ? new NodeVanished() : cause
    lease = leaseFrom(zk, session, proof.touched)
    if (isLongEnough(lease, session)) return lease
    const slowness = slownessOf(lease, session, followerRelayDelay)
    onProving(slowness)
    if (attempt === ATTEMPTS) throw new SlowAnswers(slowness)
  }
}

/** A proof takes three answers and the follower relay delay, from p to the answer of the check. */
function slownessOf({ remaining }: Lease, session: Session, followerRelayDelay: number): Slowness {
  const { shortestTimeout: T } = internalsOf(session)
  const took = leaseTimes.proven(T) - remaining
  const longest = leaseTimes.proven(T) - leaseTimes.round(T)
  return { answers: (took - followerRelayDelay) / 3, within: (longest - followerRelayDelay) / 3, T }
}

function leaseFrom({ runtime }: ZooKeeper, session: Session, touched: Timestamp): Lease {
  return new Lease(runtime, touched, () => leaseTimes.proven(internalsOf(session).shortestTimeout))
}

function isLongEnough({ remaining }: Lease, session: Session): boolean {
  return remaining > leaseTimes.round(internalsOf(session).shortestTimeout)
}
