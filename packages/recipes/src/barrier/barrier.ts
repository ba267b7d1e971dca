import {
  type ACL,
  type CallOptions,
  KeeperError,
  type Stat,
  type WaitOptions,
  type Watched,
  type WatchedEvent,
  type ZooKeeper,
} from '@zk/client'
import { expecting, throwIfAborted } from '@zk/client/internal'
import { didNotOpen } from './did-not-open.ts'
import type { ACLOptions } from '../kernel/acl-options.ts'
import { checkNames, checkOwnACL, checkPlace, checkWait } from '../kernel/checks.ts'
import { committedCheck } from '../kernel/committed.ts'
import { createWithParents } from '../kernel/create-with-parents.ts'
import { inOneSegment, retryAcrossSessions, throwUnlessTransient } from '../kernel/retry.ts'
import { inEachSession } from '../kernel/sessions.ts'
import { eventOrTimeout, isUnreadable, unknownStat } from '../kernel/unreadable.ts'
import { type Limit, within, withLimitForOthers } from '../kernel/limit.ts'
import { unwatch } from '../kernel/promises.ts'

const barrierOptions = ['acl']
const waitOptions = ['timeout', 'signal']

/**
 * Programs wait at a barrier while its node exists. This is the barrier of ZooKeeper's recipe page, and Curator's
 * DistributedBarrier.
 *
 *     const barrier = new Barrier(zk, '/maintenance')
 *     await barrier.wait()
 */
export class Barrier {
  /** The path of its node. */
  readonly path: string
  readonly #zk: ZooKeeper
  readonly #acl: readonly ACL[] | undefined

  constructor(zk: ZooKeeper, path: string, options: ACLOptions = {}) {
    checkPlace(zk, path, 'a barrier needs a node of its own')
    checkNames('new Barrier', options, barrierOptions, '{ acl: CREATOR_ALL_ACL }')
    checkOwnACL(options.acl)
    this.path = path
    this.#zk = zk
    this.#acl = options.acl
  }

  /**
   * Closes the barrier: creates its node, which is persistent, and missing nodes above it as containers. It stays closed until
   * a program calls `remove`, even after this program has ended. If it is closed already, nothing happens.
   *
   * The call continues after a lost connection. If an answer was lost, and the node does not exist, it is created, even if
   * another program has removed it meanwhile. After `timeout`, the session timeout by default, it rejects with `RequestTimeout`,
   * and with `outcomeUnknown` if it may still happen.
   */
  async set(options: WaitOptions = {}): Promise<void> {
    checkWait('set', options, waitOptions)
    await within({ zk: this.#zk, path: this.path }, 'set', options, async ({ signal }, sending) => {
      const creating = { acl: this.#acl, signal }
      const create = () => {
        sending()
        return createWithParents(this.#zk, this.path, '', creating)
      }
      await retryAcrossSessions(this.#zk, create, signal).catch((error: unknown) => {
        if (!KeeperError.is(error, 'NodeExists')) throw error
      })
    })
  }

  /**
   * Opens the barrier: deletes its node, once. If it is open already, nothing happens. A barrier that another program closes after
   * the delete stays closed, even if the answer is lost (unless this client may not read the node: then it cannot tell them apart).
   * A barrier that is closed at the same time may be deleted. It ends as `set` does.
   */
  async remove(options: WaitOptions = {}): Promise<void> {
    checkWait('remove', options, waitOptions)
    await within({ zk: this.#zk, path: this.path }, 'remove', options, async ({ signal }, sending) => {
      let first: Stat | undefined
      const deleteFirst = async () => {
        for (;;) {
          const stat = await this.#read(signal)
          first ??= stat
          if (stat === undefined || !mayBeSame(stat, first)) return
          sending()
          try {
            return await this.#zk.delete(this.path, { signal })
          } catch (error) {
            if (KeeperError.is(error, 'NoNode')) return
            await throwUnlessTransient(this.#zk, error, undefined, signal)
          }
        }
      }
      await inEachSession(this.#zk, deleteFirst, { signal })
    })
  }

  /** Whether it is closed, according to the server of this client. Call `zk.sync(path)` first for a newer answer. */
  async isSet(options: CallOptions = {}): Promise<boolean> {
    try {
      return (await this.#zk.exists(this.path, options)) !== undefined
    } catch (error) {
      if (!isUnreadable(error, options)) throw error
      return true
    }
  }

  /**
   * Resolves when the barrier is open: at once if it is open when the first request is executed, and otherwise when it is removed
   * after that, even if another program closes it again at once. The call continues after a lost connection and after an expired session.
   *
   * If this client may not read the node, servers send no events of it. Then the call looks every two seconds, and may miss that
   * the barrier was opened and closed again in between.
   *
   * After `timeout` (by default it waits forever) it rejects with a `WaitTimeoutError`. With 0 it does not wait for the program that
   * opens the barrier, but up to the session timeout for servers.
   */
  async wait(options: WaitOptions = {}): Promise<void> {
    checkWait('wait', options, waitOptions)
    const { signal } = options
    throwIfAborted(signal)
    const late = (after: number) => didNotOpen('BarrierSet', this.path, after, 'it was not removed', [this.path])
    await withLimitForOthers(this.#zk, options, late, (limit, mustWait) =>
      limit.asking((over) => this.#opened(limit, mustWait, over)),
    )
  }

  async #opened(limit: Limit, mustWait: () => void, signal: AbortSignal): Promise<void> {
    let first: Stat | undefined
    for (;;) {
      const closed = await this.#afterCheck(signal, (options) => this.#zk.existsAndWatch(this.path, options), unwatch)
      if (closed === undefined) return
      const { read: watch } = closed
      try {
        const { stat } = watch ?? { stat: unknownStat }
        if (stat === undefined || !mayBeSame(stat, first)) return
        if (stat !== unknownStat) first = stat
        mustWait()
        const event = await limit.during(this.#event(closed, signal))
        if (event?.type === 'NodeDeleted') return
      } finally {
        // In the background: no caller waits for a silent server.
        unwatch(watch)
      }
    }
  }

  /** Returns undefined if it is time to look again. */
  async #event({ read: watch, isReadable }: Read<Watched>, signal: AbortSignal): Promise<WatchedEvent | undefined> {
    const changed = watch?.changed ?? new Promise<never>(() => {})
    return isReadable ? await changed : await eventOrTimeout(this.#zk.runtime, changed, signal)
  }

  /** Resolves with undefined if there is no node. */
  async #read(signal: AbortSignal): Promise<Stat | undefined> {
    const closed = await this.#afterCheck(signal, (options) => this.#zk.exists(this.path, options))
    if (closed === undefined) return undefined
    return closed.isReadable ? closed.read : (closed.read ?? unknownStat)
  }

  /**
   * Reads after a committed request of the same session, so the read shows everything that was committed before the call.
   * Both are sent in one segment, so that hardly anything is committed between them. Resolves with undefined if the request
   * has found no node. What is read then is discarded.
   */
  async #afterCheck<T>(
    signal: AbortSignal,
    read: (options: CallOptions) => Promise<T>,
    discard: (unused: T) => void = () => {},
  ): Promise<Read<T> | undefined> {
    const zk = this.#zk
    const checkAndRead = async () => {
      const options = expecting({ session: zk.session, repeatThrottled: false, signal }, 'NoNode')
      const checking = committedCheck(zk, this.path, options)
      const reading = inOneSegment(checking, () => read(options))
      try {
        await checking
      } catch (error) {
        if (isUnreadable(error, options)) {
          const undefinedIfRefused = (refusal: unknown) => {
            if (!isUnreadable(refusal, options)) throw refusal
            return undefined
          }
          return { read: await reading.catch(undefinedIfRefused), isReadable: false }
        }
        reading.then(discard, () => {})
        if (KeeperError.is(error, 'NoNode')) return undefined
        throw error
      }
      return { read: await reading, isReadable: true }
    }
    return await retryAcrossSessions(zk, checkAndRead, signal)
  }
}

/** What was read of a node that exists. */
interface Read<T> {
  /** Returns undefined if the server has refused it. */
  readonly read: T | undefined
  /** Whether this client may read the node. If not, servers of some releases do not send it events. */
  readonly isReadable: boolean
}

/** Whether a node may be the node that was seen first. */
function mayBeSame(stat: Stat, first: Stat | undefined): boolean {
  const isKnown = first !== undefined && first !== unknownStat && stat !== unknownStat
  return !isKnown || stat.czxid === first.czxid
}
