import type { CallOptions, WaitOptions, WatchIterator, ZooKeeper } from '@zk/client'
import type { AcquireOptions } from '../held/acquirable.ts'
import { acquireOptions, checkCall, checkRecipe, lockOptions } from '../held/checks.ts'
import { type LockOptions, nodeOptionsOf } from '../held/lock-options.ts'
import { QueueLock, plainHold } from '../held/queue-lock.ts'
import { type Held, unlessLate } from '../held/held.ts'
import { WatchedLeader } from './watched-leader.ts'
import { firstOf } from './observe.ts'
import { undefinedIfAborted, within } from '../kernel/limit.ts'
import { FreshValues, watchValues } from '../kernel/watch-values.ts'
import { type ContenderInfo, Queue } from '../queue/queue.ts'
import { candidate } from '../queue/roles.ts'

/**
 * An election: the oldest candidate of a path leads. Its znodes are those of Curator's LeaderLatch.
 *
 *     const election = new LeaderElection(zk, '/leader', { label: 'host-1:8080' })
 *     for await (const leadership of election.terms({ signal })) { … }
 */
export class LeaderElection {
  /** The path passed to the constructor: the parent of the candidates' nodes. */
  readonly path: string
  readonly #queue: Queue
  readonly #queueLock: QueueLock

  constructor(zk: ZooKeeper, path: string, options: LockOptions = {}) {
    checkRecipe('LeaderElection', zk, path, options, lockOptions)
    this.path = path
    this.#queue = new Queue(zk, path, candidate.kinds)
    const entry = { queue: this.#queue, role: candidate }
    this.#queueLock = QueueLock.of(entry, nodeOptionsOf(options), plainHold)
  }

  /** Becomes a candidate, and resolves when elected. Call `release` of the leadership to resign. */
  async campaign(options: AcquireOptions = {}): Promise<Held> {
    checkCall('campaign', options, acquireOptions)
    return await this.#queueLock.acquire(options)
  }

  /**
   * Yields one leadership after another. The body of the loop is the term. When the body ends, by its end, `break`, `return` or
   * an error, the candidate resigns. If the loop continues, it becomes a candidate again. The signal ends the wait for an
   * election, but not a term: the loop then ends after the current term. When the leadership is lost, `leadership.signal` aborts,
   * and the client becomes a candidate again when the body has ended. If the body throws, the error is thrown when the candidate
   * has resigned, at most a session timeout later.
   */
  async *terms(options: Omit<AcquireOptions, 'timeout'> = {}): AsyncGenerator<Held, void, undefined> {
    checkCall('terms', options, ['signal', 'onQueued', 'onSuspended', 'onResumed'])
    while (!options.signal?.aborted) {
      const leadership = await this.campaign(options).catch(undefinedIfAborted(options.signal))
      if (leadership === undefined) return
      try {
        yield leadership
      } finally {
        await leadership.release().catch(unlessLate)
      }
    }
  }

  /** The candidate that leads now; undefined if there is none. */
  async leader(options: CallOptions = {}): Promise<ContenderInfo | undefined> {
    checkCall('leader', options)
    return await within(this.#queue, 'leader', options, (limited) => firstOf(this.#queue, limited))
  }

  /** All candidates, oldest first: the first one leads. */
  async contenders(options: CallOptions = {}): Promise<ContenderInfo[]> {
    checkCall('contenders', options)
    return await within(this.#queue, 'contenders', options, (limited) => this.#queue.contenders(limited))
  }

  /**
   * Which candidate leads, now and after each change; undefined while none does. When the signal aborts, it ends without an error, as
   * `terms` does: check the signal after the loop. When this client loses its server, the last leader is yielded again, and
   * `isStale` of the iterator is true: another candidate may lead by now. It is yielded once more when it is confirmed. Leave
   * the loop, or call `return()`: both remove the watch from the server. The watch of an iterator that is dropped stays until
   * another candidate leads.
   */
  watchLeader(options: Pick<WaitOptions, 'signal'> = {}): WatchIterator<ContenderInfo | undefined> {
    return watchValues(options, (signal) => {
      checkCall('watchLeader', options, ['signal'])
      return new FreshValues(new WatchedLeader(this.#queue, signal), signal)
    })
  }
}
