import type { CallOptions, Session, ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import type {
  Acquirable,
  AcquireOptions,
  RunOptions,
  TryAcquireOptions,
  TryRunOptions,
  TryRunResult,
} from '../held/acquirable.ts'
import {
  acquireOptions,
  checkBody,
  checkCall,
  checkRecipe,
  lockOptions,
  runOptions,
  tryOptions,
  tryRunOptions,
} from '../held/checks.ts'
import { checkCount, checkPermits } from './checks.ts'
import type { LockOptions } from '../held/lock-options.ts'
import type { ContenderOptions } from '../queue/contender.ts'
import type { Entry, WaitListener } from '../queue/queue-position.ts'
import type { Kind } from '../queue/names.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'
import { QueueLock, type QueueLockOptions, subjectOf } from '../held/queue-lock.ts'
import { exclusive, type Role } from '../queue/roles.ts'
import { within } from '../kernel/limit.ts'
import { type HolderInfo, Leases } from './leases.ts'
import { checkRoom, hasRoom, PermitContender, type Wanted } from './permit-contender.ts'
import { PermitQueue } from './permit-queue.ts'
import { SemaphoreHeld } from './semaphore-held.ts'
import { StoredPermits } from './stored-permits.ts'

/** The options of a `Semaphore`. */
export interface SemaphoreOptions extends LockOptions {
  /**
   * The total number of permits: 1 to 1,000,000. It is stored in the node of the path if nothing is stored there yet. Calls
   * reject with a `RecipeError`, `PermitsDiffer`, if another number is stored. Once both have been equal, this object follows
   * the stored number.
   * @default the stored number
   */
  permits?: number | undefined
}

/** How many permits. */
export interface CountOption {
  /** How many permits, 1 to 1,000: all at once, or none. @default 1 */
  count?: number | undefined
}

const kind: Kind = { ...exclusive.kind, name: 'semaphore', granted: 'none' }
/** The queue is a Curator InterProcessMutex: its nodes have the names of a lock's nodes. The first in it reads `leases`. */
const role: Role = { ...exclusive, kind, kinds: [kind], trustsOwnSession: false }

/**
 * A fair semaphore: at most `permits` are held at a time, and they are granted in the order of the calls. Its znodes are those of
 * Curator's InterProcessSemaphoreV2: waiting contenders are below `<path>/locks`, and each permit that is taken is a node below
 * `<path>/leases`. The number of permits is stored as in Curator's SharedCount.
 *
 *     const semaphore = new Semaphore(zk, '/semaphores/encoder', { permits: 4 })
 *     await semaphore.run(async (held) => { … held.permit … })
 *
 * A call that asks for many permits waits until that many are free. Later contenders wait, too.
 *
 * The node of the path is persistent, and stays. `locks` and `leases` below it are containers.
 */
export class Semaphore implements Acquirable<SemaphoreHeld> {
  /** The path passed to the constructor: the node that stores the number of permits. */
  readonly path: string
  readonly #permits: number | undefined
  readonly #queue: Queue
  readonly #leases: Leases
  readonly #stored: StoredPermits
  readonly #options: QueueLockOptions

  constructor(zk: ZooKeeper, path: string, options: SemaphoreOptions = {}) {
    checkRecipe('Semaphore', zk, path, options, [...lockOptions, 'permits'])
    const { permits, label = '', ...others } = options
    if (permits !== undefined) checkPermits(permits)
    this.path = path
    this.#permits = permits
    this.#leases = new Leases(zk, path, kind)
    this.#stored = new StoredPermits(zk, path, permits, others.acl)
    this.#queue = new PermitQueue(role, this.#leases, this.#stored)
    this.#options = { data: label, ...others }
  }

  /**
   * See `Acquirable`. Rejects with a `RecipeError`, `PermitsDiffer`, if the stored number of permits is different, and with a
   * `RangeError` if it is, or becomes, less than `count`: the call would wait forever.
   */
  async acquire(options: AcquireOptions & CountOption = {}): Promise<SemaphoreHeld> {
    checkCall('Semaphore.acquire', options, ['count', ...acquireOptions])
    const { count, ...others } = options
    return await this.#lock(count).acquire(others)
  }

  /** See `Acquirable`. Rejects as `acquire` does. Gets nothing while another contender waits in line, even if permits are free. */
  async tryAcquire(options: TryAcquireOptions & CountOption = {}): Promise<SemaphoreHeld | undefined> {
    checkCall('Semaphore.tryAcquire', options, ['count', ...tryOptions])
    const { count, ...others } = options
    return await this.#lock(count).tryAcquire(others)
  }

  /** See `Acquirable`. It rejects as `acquire` does. */
  async run<T>(body: (held: SemaphoreHeld) => T | Promise<T>, options: RunOptions & CountOption = {}): Promise<T> {
    checkBody('run', body)
    checkCall('Semaphore.run', options, ['count', ...runOptions])
    const { count, ...others } = options
    return await this.#lock(count).run(body, others)
  }

  /** See `Acquirable`. It rejects as `acquire` does. */
  async tryRun<T>(
    body: (held: SemaphoreHeld) => T | Promise<T>,
    options: TryRunOptions & CountOption = {},
  ): Promise<TryRunResult<T>> {
    checkBody('tryRun', body)
    checkCall('Semaphore.tryRun', options, ['count', ...tryRunOptions])
    const { count, ...others } = options
    return await this.#lock(count).tryRun(body, others)
  }

  /**
   * Stores another number of permits, 1 to 1,000,000. All programs that follow the stored number use it from the next grant on.
   * If more permits are held, no holder loses any: nothing is granted until there is room again. If two calls are made at the
   * same time, the later one wins.
   */
  async resize(permits: number, options: CallOptions = {}): Promise<void> {
    checkCall('resize', options)
    checkPermits(permits)
    const { zk } = this.#queue
    const resize = (limited: CallOptions, sending: () => void) => this.#stored.resize(permits, limited, sending)
    await within({ zk, path: this.path }, 'resize', options, resize)
  }

  /** The stored number of permits; undefined if none is stored yet. */
  async permits(options: CallOptions = {}): Promise<number | undefined> {
    checkCall('permits', options)
    const stored = await within(this.#queue, 'permits', options, (limited) => this.#stored.read(limited))
    return stored?.permits
  }

  /**
   * The permits that are taken, oldest first: a holder of several is listed once for each. Nodes of other programs count, even a
   * Curator node that still waits for room.
   */
  async holders(options: CallOptions = {}): Promise<HolderInfo[]> {
    checkCall('holders', options)
    return await within(this.#queue, 'holders', options, (limited) => this.#leases.holders(limited))
  }

  /** The waiting contenders, oldest first. A contender leaves this line with its grant: `holders` lists the granted permits. */
  contenders(options?: CallOptions): Promise<ContenderInfo[]> {
    return this.#lock().contenders(options)
  }

  #lock(count = 1): PermitLock {
    checkCount(count, this.#stored.followsStored ? undefined : this.#permits)
    return new PermitLock(this.#queue, this.#options, { leases: this.#leases, stored: this.#stored, count })
  }
}

/** Acquires this many permits. */
class PermitLock extends QueueLock<SemaphoreHeld> {
  readonly #entry: Entry
  readonly #wanted: Wanted

  constructor(queue: Queue, options: QueueLockOptions, wanted: Wanted) {
    const entry = { queue, role }
    super(subjectOf(entry), [entry], options, (...granted) => new SemaphoreHeld(...granted))
    this.#entry = entry
    this.#wanted = wanted
  }

  protected override makeContender(options: ContenderOptions, listener: WaitListener): PermitContender {
    return new PermitContender(this.#entry, options, listener, this.#wanted)
  }

  protected override async hasBlocker(options: CallOptions & { readonly session: Session }): Promise<boolean> {
    const { leases, stored, count } = this.#wanted
    const [permits, hasBlocker, names] = await Promise.all([
      stored.followsStored ? stored.read(options) : stored.readAfterSync(options),
      super.hasBlocker(options),
      leases.list(options),
    ])
    // Nothing is stored yet: the contender stores the number.
    if (permits === undefined) return hasBlocker
    const present = stored.accepts(permits, count)
      ? permits
      : await stored.agree(options.session, count, () => throwIfAborted(options.signal))
    checkRoom(this.#wanted, present.permits)
    return hasBlocker || !hasRoom(this.#wanted, names, present.permits)
  }
}
