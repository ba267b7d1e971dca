// The wait for a name that another member has. A name is part of the path of a node, so only one member of the group has it at a time.
import { KeeperError, type Session, type Stat, type Watched, type ZooKeeper } from '@zk/client'
import { withLimit } from '../kernel/limit.ts'
import { unwatch } from '../kernel/promises.ts'
import { eventOrTimeout } from '../kernel/unreadable.ts'
import { Claims } from './claims.ts'
import type { NameOwner } from '../errors/wait-timeout-error.ts'
import { nameTaken } from './errors.ts'

export class NameWait {
  readonly #zk: ZooKeeper
  readonly #path: string
  readonly #timeout: number
  /** Aborts when the membership is over. */
  readonly #over: AbortSignal
  /** Who has the name, when last seen. */
  #owner: NameOwner | undefined
  /** The ids of the sessions since the member was last present. */
  readonly #formerSessions = new Set<bigint>()
  /** When the wait ends; undefined until the name is seen taken. */
  #deadline: number | undefined
  #isFirst = true

  constructor(zk: ZooKeeper, path: string, timeout: number, over: AbortSignal) {
    this.#zk = zk
    this.#path = path
    this.#timeout = timeout
    this.#over = over
  }

  /** Waits for other memberships of this client under the same name. Resolves with a function that gives the name back. */
  async claim(session: Session): Promise<() => void> {
    for (;;) {
      const claim = Claims.of(session).take(this.#zk, this.#path)
      if (typeof claim === 'function') return claim
      this.#owner = { sessionId: session.id, since: this.#zk.runtime.wallNow(), isOwn: true }
      await this.#unlessOver(claim, session, this.#limit())
      this.#owner = undefined
    }
  }

  /** Waits until the node that has the name may be gone. */
  async freed({ ephemeralOwner, ctime }: Stat, watch: Watched, session: Session): Promise<void> {
    // A node of our own former session goes with that session, which no other client uses. It is not deleted: a delete has a path
    // and no owner, and by the time it is executed another member may have the name.
    const deadline = this.#formerSessions.has(ephemeralOwner) ? Infinity : this.#limit()
    this.#owner = { sessionId: ephemeralOwner, since: ctime, isOwn: false }
    try {
      const mayBeFree = eventOrTimeout(this.#zk.runtime, watch.changed, session.signal, this.#over)
      await this.#unlessOver(mayBeFree, session, deadline)
    } finally {
      unwatch(watch)
    }
  }

  /** The member has the name. */
  won(): void {
    this.#owner = undefined
    this.#deadline = undefined
    this.#formerSessions.clear()
    this.#isFirst = false
  }

  /** The session has expired, maybe before the ensemble knows it. The wait for the name starts over. */
  expired({ id }: Session): void {
    this.#deadline = undefined
    // A session that no server has created has no node.
    if (id !== 0n) this.#formerSessions.add(id)
  }

  /** Why the wait has ended. */
  late(): Error {
    return this.#owner === undefined
      ? new KeeperError('RequestTimeout', { op: 'join', path: this.#path })
      : nameTaken(this.#path, this.#timeout, this.#owner)
  }

  /** The first wait is limited by `join`, unless the timeout is 0. */
  #limit(): number {
    if (this.#isFirst && this.#timeout > 0) return Infinity
    return (this.#deadline ??= this.#zk.runtime.now() + this.#timeout)
  }

  /** Settles as the promise does. It rejects when the membership or the session is over, or, at the deadline, with `late`. */
  async #unlessOver<T>(promise: Promise<T>, session: Session, deadline: number): Promise<T> {
    const { runtime } = this.#zk
    const timeout = { after: deadline - runtime.now(), error: () => this.late() }
    const limits = { signals: [this.#over, session.signal], timeout }
    return await withLimit(runtime, limits, (limit) => limit.during(promise))
  }
}
