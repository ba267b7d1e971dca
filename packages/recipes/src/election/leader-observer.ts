// Follows which contender is first, and whether that is still known.
import type { Connection, Session } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import { retryAcrossSessions } from '../kernel/retry.ts'
import { withLimit } from '../kernel/limit.ts'
import { type Observation, observeFirst } from './observe.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'
import { awaitedLater, unwatch } from '../kernel/promises.ts'

/** What this client knows about the leader. */
export interface LeaderView {
  /** The candidate that leads; undefined if there is none. */
  readonly leader: ContenderInfo | undefined
  /**
   * Whether this client has no server, or a server without a quorum, so that another candidate may lead by now. `leader` is then
   * the last leader seen.
   */
  readonly isStale: boolean
}

export class LeaderObserver {
  readonly #queue: Queue
  readonly #signal: AbortSignal | undefined
  /** The session in which a server last showed the leader: after a sync, if it is not the first session. */
  #session: Session
  /** The read under way. It continues through lost connections. */
  #observing: Promise<Observation> | undefined
  /** The last result, until it may have changed. */
  #observation: Observation | undefined
  /** The connection of the last result, until it is lost. */
  #connection: Connection | undefined
  #view: LeaderView | undefined

  constructor(queue: Queue, signal: AbortSignal | undefined) {
    this.#queue = queue
    this.#signal = signal
    this.#session = queue.zk.session
  }

  /** The first view, and then each view that differs from the last. */
  async next(): Promise<LeaderView> {
    for (;;) {
      const view = await this.#look()
      const { leader, isStale } = this.#view ?? {}
      if (view.isStale === isStale && view.leader?.fencingToken === leader?.fencingToken) continue
      this.#view = view
      return view
    }
  }

  /** Removes the watch, in the background: leaving does not wait for a silent server. */
  stop(): void {
    this.#forget()
    this.#observing?.then(
      ({ watch }) => unwatch(watch),
      () => {},
    )
  }

  /** The next view. It may be equal to the last. */
  async #look(): Promise<LeaderView> {
    if (this.#observation !== undefined) {
      const event = await this.#unlessLost(this.#observation.watch.changed)
      this.#forget()
      if (event === undefined) return { leader: this.#view?.leader, isStale: true }
    }
    if (this.#observing === undefined) {
      // If this fails, the loop may have ended already, or its body may be running.
      this.#observing = awaitedLater(this.#observe())
    }
    const observation = await this.#unlessLost(this.#observing)
    if (observation === undefined) return { leader: this.#view?.leader, isStale: true }
    this.#observing = undefined
    const { leader } = observation
    const { connection } = this.#queue.zk.session
    this.#connection = connection
    // Without a connection it is read again on the next connection.
    if (connection === undefined) unwatch(observation.watch)
    else this.#observation = observation
    return { leader, isStale: connection?.readOnly !== false }
  }

  async #observe(): Promise<Observation> {
    const { zk, path } = this.#queue
    const options = { signal: this.#signal }
    for (;;) {
      const observation = await observeFirst(this.#queue, options)
      if (this.#session === zk.session) return observation
      // A server may show an earlier leader to another session.
      unwatch(observation.watch)
      this.#session = zk.session
      await retryAcrossSessions(zk, () => zk.sync(path, options), this.#signal)
    }
  }

  /** Resolves with undefined if the connection is lost first. */
  async #unlessLost<T>(promise: Promise<T>): Promise<T | undefined> {
    let unlisten = () => {}
    const lost = new Promise<undefined>((resolve) => {
      if (this.#connection !== undefined) unlisten = onAbort(this.#connection.signal, () => resolve(undefined))
    })
    try {
      const limits = { signals: [this.#signal] }
      const result = await withLimit(this.#queue.zk.runtime, limits, (limit) =>
        limit.during(Promise.race([promise, lost])),
      )
      if (result === undefined) this.#connection = undefined
      return result
    } finally {
      unlisten()
    }
  }

  #forget(): void {
    unwatch(this.#observation?.watch)
    this.#observation = undefined
  }
}
