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

/** What a candidate is, and how its leadership is held. */
export interface LeaderElectionOptions extends HoldOptions {
  /** What the candidate says about itself, an address for instance; others see it in `leader`. @default empty */
  data?: Uint8Array | string | undefined
  /** The rights to the candidates' nodes. Every client that asks for the leader must be able to read them. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

/** Leadership is held as a lock is. */
export type Leadership = Held
/** The candidate that leads. */
export type Leader = ContenderInfo

/**
 * An election: of the candidates on a path the one that has stood longest leads. Its znodes are those of Curator's
 * LeaderLatch.
 *
 *     const election = new LeaderElection(zk, '/leader', { data: 'host-1:8080' })
 *     for await (const leadership of election.terms({ signal })) { … }
 */
export class LeaderElection {
  /** As it was given: the node that the candidates are below. */
  readonly path: string
  readonly #queueLock: QueueLock

  constructor(zk: ZooKeeper, path: string, options: LeaderElectionOptions = {}) {
    checkRecipe('LeaderElection', zk, path, options)
    const { data = '', ...others } = options
    this.path = path
    this.#queueLock = new QueueLock(new Queue(zk, path, candidate.rivals), candidate, { data, ...others }, plainHold)
  }

  /** Stands for election and resolves when elected. Releasing it resigns. */
  async campaign(options: AcquireOptions = {}): Promise<Leadership> {
    checkCall('campaign', options)
    return await this.#queueLock.acquire(options)
  }

  /**
   * One leadership after the other. The body of the loop is the term: when it is left, by its end, `break`, `return` or an
   * error, the candidate resigns, and where the loop goes on it stands again. The signal ends the standing, not a term: the
   * loop ends with the term under way. A term that is lost says so by `leadership.signal`; the next begins when the body
   * ends. An error of the body is seen when the candidate has resigned, at most a session timeout later.
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

  /** The candidate that leads now; undefined when none stands. */
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
   * The candidate that leads, now and whenever that changes, until the signal aborts; undefined when none stands. Leave the loop, or call
   * `return()`: they take its watch off the server, where a generator that is dropped leaves it until another candidate leads.
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
        // A generator that is dropped here leaves its watch, but no listener at the signal.
        if (isFirst || leader?.fencingToken !== last?.fencingToken) yield leader
        last = leader
        const limit = new WaitLimit(queue.zk.runtime, { signals: [signal] })
        await limit.during(watch.changed).catch(undefinedIfAborted(signal))
        limit.stop()
      } finally {
        // In the background: a loop that is left does not wait for a server that is silent.
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
