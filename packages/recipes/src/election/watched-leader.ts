// Watches which contender is first.
import type { Session, ZooKeeper } from '@zk/client'
import { unwatch } from '../kernel/promises.ts'
import { retryAcrossSessions } from '../kernel/retry.ts'
import type { Source } from '../kernel/watch-values.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'
import { type Observation, observeFirst } from './observe.ts'

export class WatchedLeader implements Source<ContenderInfo | undefined> {
  readonly #queue: Queue
  readonly #signal: AbortSignal
  /** The session in which a server last showed the leader: after a sync, if it is not the first session. */
  #session: Session
  /** The last result, until it may have changed. */
  #observation: Observation | undefined
  #isStopped = false

  constructor(queue: Queue, signal: AbortSignal) {
    this.#queue = queue
    this.#signal = signal
    this.#session = queue.zk.session
  }

  get zk(): ZooKeeper {
    return this.#queue.zk
  }

  async read(): Promise<ContenderInfo | undefined> {
    const observation = await this.#observe()
    this.lost()
    this.#observation = observation
    if (this.#isStopped) this.lost()
    return observation.leader
  }

  async changed(): Promise<unknown> {
    return await this.#observation?.watch.changed
  }

  lost(): void {
    unwatch(this.#observation?.watch)
    this.#observation = undefined
  }

  isSame(one: ContenderInfo | undefined, other: ContenderInfo | undefined): boolean {
    return one?.fencingToken === other?.fencingToken
  }

  stop(): void {
    this.#isStopped = true
    this.lost()
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
}
