import type { ACL, CallOptions, ZooKeeper } from '@zk/client'
import type { AcquireOptions } from './acquirable.ts'
import { checkCall, checkRecipe } from './checks.ts'
import { QueueLock, plainHold } from './queue/queue-lock.ts'
import { type Held, unlessLate } from './held.ts'
import { observeFirst } from './queue/observe.ts'
import { WaitLimit, within } from './queue/wait.ts'
import { type ContenderInfo, Queue } from './queue/queue.ts'
import { candidate } from './queue/roles.ts'
import type { HoldOptions } from './hold-options.ts'

/** The candidate's data, and the terms of its leadership. */
export interface LeaderElectionOptions extends HoldOptions {
  /** The candidate's data, an address for instance. Others see it in `leader`. @default empty */
  data?: Uint8Array | string | undefined
  /**
   * The rights to the candidates' nodes. Every client that reads the leader must be able to read them.
   * @default OPEN_ACL_UNSAFE
   */
  acl?: readonly ACL[] | undefined
}

/** Leadership is held as a lock is. */
export type Leadership = Held
/** The candidate that leads. */
export type Leader = ContenderInfo

/**
 * An election: the candidate of a path that has stood the longest leads. Its znodes are those of Curator's LeaderLatch.
 *
 *     const election = new LeaderElection(zk, '/leader', { data: 'host-1:8080' })
 *     for await (const leadership of election.terms({ signal })) { … }
 */
export class LeaderElection {
  /** The path that was given: the parent of the candidates' nodes. */
  readonly path: string
  readonly #queueLock: QueueLock

  constructor(zk: ZooKeeper, path: string, options: LeaderElectionOptions = {}) {
    checkRecipe('LeaderElection', zk, path, options)
    const { data = '', ...others } = options
    this.path = path
    this.#queueLock = new QueueLock(new Queue(zk, path, candidate.rivals), candidate, { data, ...others }, plainHold)
  }

  /** Stands for election, and resolves when elected. `release` resigns. */
  async campaign(options: AcquireOptions = {}): Promise<Leadership> {
    checkCall('campaign', options)
    return await this.#queueLock.acquire(options)
  }

  /**
   * One leadership after the other. The body of the loop is the term. When it is left, by its end, `break`, `return` or an
   * error, the candidate resigns. If the loop goes on, it stands again. The signal ends the wait for an election, not a term:
   * the loop ends with the term under way. When a term is lost, `leadership.signal` aborts, and the next term begins when the
   * body has ended. An error of the body is thrown when the candidate has resigned, at most a session timeout later.
   */
  async *terms(options: Omit<AcquireOptions, 'timeout'> = {}): AsyncGenerator<Leadership, void, undefined> {
    checkCall('terms', options)
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

  /** The candidate that leads now; undefined when there is none. */
  async leader(options: CallOptions = {}): Promise<Leader | undefined> {
    checkCall('leader', options)
    const { queue } = this.#queueLock
    return await within(queue, 'leader', options, (limited) => queue.first(limited))
  }

  /** All candidates, oldest first: the first one leads. */
  async candidates(options: CallOptions = {}): Promise<Leader[]> {
    checkCall('candidates', options)
    const { queue } = this.#queueLock
    return await within(queue, 'candidates', options, (limited) => queue.contenders(limited))
  }

  /**
   * The candidate that leads, now and whenever that changes, until the signal aborts; undefined when there is none. Leave the
   * loop, or call `return()`: both remove its watch from the server. A generator that is dropped leaves its watch until
   * another candidate leads.
   */
  async *leaders(options: Pick<AcquireOptions, 'signal'> = {}): AsyncGenerator<Leader | undefined, void, undefined> {
    checkCall('leaders', options)
    const { signal } = options
    const { queue } = this.#queueLock
    let last: Leader | undefined
    for (let isFirst = true; !signal?.aborted; isFirst = false) {
      const observation = await observeFirst(queue, { signal }).catch(undefinedIfAborted(signal))
      if (observation === undefined) return
      const { leader, watch } = observation
      try {
        // A generator that is dropped here leaves its watch, but no listener on the signal.
        if (isFirst || leader?.fencingToken !== last?.fencingToken) yield leader
        last = leader
        const limit = new WaitLimit(queue.zk.runtime, { signals: [signal] })
        await limit.during(watch.changed).catch(undefinedIfAborted(signal))
        limit.stop()
      } finally {
        // In the background: leaving the loop does not wait for a silent server.
        watch.unwatch().catch(() => {})
      }
    }
  }
}

function undefinedIfAborted(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    if (!signal?.aborted) throw error
  }
}
