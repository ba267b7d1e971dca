import { type ACL, type CallOptions, KeeperError, op, type Stat, type Watched, type ZooKeeper } from '@zk/client'
import { checkACL, checkKeys, expecting } from '@zk/client/internal'
import { BarrierTimeoutError } from './barrier/barrier-timeout-error.ts'
import { checkPlace, checkWait } from './checks.ts'
import { createWithParents } from './calls/create-with-parents.ts'
import { retryAcrossSessions, throwUnlessTransient } from './calls/retry.ts'
import { WaitLimit, within } from './calls/wait-limit.ts'

/** The options of `Barrier`. */
export interface BarrierOptions {
  /** The rights to the node of the barrier. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

/** How long to wait at a barrier. */
export interface BarrierWaitOptions {
  /** The longest wait in ms, 0 or more. Then the call rejects with a `BarrierTimeoutError`. @default for ever */
  timeout?: number | undefined
  /** Ends the wait: the call rejects with its reason. */
  signal?: AbortSignal | undefined
}

const barrierOptions = ['acl']
const waitOptions = ['timeout', 'signal']

/**
 * Programs wait at a barrier while its node exists. It is the barrier of ZooKeeper's recipe page, and Curator's
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

  constructor(zk: ZooKeeper, path: string, options: BarrierOptions = {}) {
    checkPlace(zk, path, 'a barrier needs a node of its own')
    checkKeys('new Barrier', options, barrierOptions, '{ acl: CREATOR_ALL_ACL }')
    if (options.acl !== undefined) checkACL(options.acl)
    this.path = path
    this.#zk = zk
    this.#acl = options.acl
  }

  /**
   * Closes the barrier: creates its node, which is persistent, and missing nodes above it as containers. It stays closed until
   * a program calls `remove`, even after this program has ended. If it is closed already, nothing happens.
   *
   * It goes on after a lost connection. If an answer was lost, and the node is not there, it is made: even if another
   * program has removed it meanwhile. After `timeout`, the session timeout by default, it rejects with `RequestTimeout`, and
   * with `outcomeUnknown` if it may still happen.
   */
  async set(options: BarrierWaitOptions = {}): Promise<void> {
    checkWait('set', options, waitOptions)
    options.signal?.throwIfAborted()
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
   * the delete stays closed, even if the answer is lost. One that is closed at the same time may be deleted. It ends as `set` does.
   */
  async remove(options: BarrierWaitOptions = {}): Promise<void> {
    checkWait('remove', options, waitOptions)
    options.signal?.throwIfAborted()
    await within({ zk: this.#zk, path: this.path }, 'remove', options, async ({ signal }, sending) => {
      const first = await this.#read(signal)
      for (let stat = first; stat !== undefined && stat.czxid === first?.czxid; stat = await this.#read(signal)) {
        sending()
        try {
          await this.#zk.delete(this.path, { signal })
        } catch (error) {
          if (KeeperError.is(error, 'NoNode')) return
          if (!hasNextSession(this.#zk, error)) await throwUnlessTransient(this.#zk, error, undefined, signal)
        }
      }
    })
  }

  /** Whether it is closed, as the server of this client has it. Call `zk.sync(path)` before it for a newer answer. */
  async isSet(options: CallOptions = {}): Promise<boolean> {
    return (await this.#zk.exists(this.path, options)) !== undefined
  }

  /**
   * Resolves when the barrier is open: at once if it is open when the first request is executed, and otherwise when it is removed
   * after that, even if another program closes it again at once. It goes on after a lost connection and after an expired session.
   */
  async wait(options: BarrierWaitOptions = {}): Promise<void> {
    checkWait('wait', options, waitOptions)
    const { timeout = Infinity, signal } = options
    signal?.throwIfAborted()
    const late = () => new BarrierTimeoutError(this.path, timeout, 'it was not removed', [this.path])
    const limit = new WaitLimit(this.#zk.runtime, { signals: [signal], timeout: { after: timeout, error: late } })
    try {
      await limit.asking((over) => this.#opened(limit, over))
    } finally {
      limit.stop()
    }
  }

  async #opened(limit: WaitLimit, signal: AbortSignal): Promise<void> {
    let closed: Stat | undefined
    for (;;) {
      const watch = await this.#watch(signal)
      if (watch === undefined) return
      try {
        if (watch.stat === undefined || watch.stat.czxid !== (closed ??= watch.stat).czxid) return
        const { type } = await limit.during(watch.changed)
        if (type === 'NodeDeleted') return
      } finally {
        // In the background: no caller waits for a silent server.
        watch.unwatch().catch(() => {})
      }
    }
  }

  async #watch(signal: AbortSignal): Promise<({ stat: Stat | undefined } & Watched) | undefined> {
    const discard = (watch: Watched) => void watch.unwatch().catch(() => {})
    return await this.#behindCheck(signal, (options) => this.#zk.existsAndWatch(this.path, options), discard)
  }

  async #read(signal: AbortSignal): Promise<Stat | undefined> {
    return await this.#behindCheck(signal, (options) => this.#zk.exists(this.path, options))
  }

  /**
   * Reads behind a committed request, in its session: so all that was committed before the call is seen. A sync is not enough: a
   * leader that lags answers it at once. Both are sent in one segment, so that hardly anything is committed between them.
   * undefined if the request has found no node. What is read then is discarded.
   */
  async #behindCheck<T>(
    signal: AbortSignal,
    read: (options: CallOptions) => Promise<T>,
    discard: (unused: T) => void = () => {},
  ): Promise<T | undefined> {
    const zk = this.#zk
    const checkAndRead = async () => {
      const options = expecting({ session: zk.session, repeatThrottled: false, signal }, 'NoNode')
      const checking = zk.multi([op.check(this.path)], options)
      const reading = read(options)
      try {
        await checking
      } catch (error) {
        // It exists, and may not be read.
        if (KeeperError.is(error, 'NoAuth')) return await reading
        reading.then(discard, () => {})
        if (KeeperError.is(error, 'NoNode')) return undefined
        throw error
      }
      return await reading
    }
    return await retryAcrossSessions(zk, checkAndRead, signal)
  }
}

function hasNextSession({ session }: ZooKeeper, error: unknown): boolean {
  return KeeperError.is(error, 'SessionExpired') && !session.signal.aborted
}
