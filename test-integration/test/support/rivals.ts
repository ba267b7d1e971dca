// One holder and one contender waiting behind it, observed in one process on one clock.
import {
  connect,
  type Held,
  type HoldOptions,
  KeeperError,
  Lock,
  type LostError,
  type LostErrorCode,
  LeaderElection,
  Semaphore,
  SharedLock,
  type WriteHeld,
  type ZooKeeper,
} from '@zk/recipes'
import { caughtUp } from './clients.ts'
import { type EnsembleNode, until } from '../../src/ensemble/index.ts'
import { machineTime } from '../../src/history/index.ts'

export type Recipe = 'lock' | 'shared' | 'election' | 'semaphore'

type Acquire = (zk: ZooKeeper, path: string, options: HoldOptions, signal?: AbortSignal) => Promise<Held>

interface Rivalry {
  readonly acquire: Acquire
  /** Below this part of its path are the nodes of holders. @default the path itself */
  readonly holders?: string
}

/** What one holds at a time. */
const rivalries: Readonly<Record<Recipe, Rivalry>> = {
  lock: { acquire: (zk, path, options, signal) => new Lock(zk, path, options).acquire({ signal }) },
  shared: { acquire: (zk, path, options, signal) => new SharedLock(zk, path, options).write.acquire({ signal }) },
  election: { acquire: (zk, path, options, signal) => new LeaderElection(zk, path, options).campaign({ signal }) },
  semaphore: {
    acquire: (zk, path, options, signal) => new Semaphore(zk, path, { ...options, permits: 1 }).acquire({ signal }),
    holders: '/leases',
  },
}

export interface HolderOptions {
  readonly kind: 'plain' | 'resumed' | 'authenticated'
  /** In ms. */
  readonly sessionTimeout: number
  /** The timeout that the session was created with, if it is resumed; in ms. */
  readonly createdWith?: number
}

/** How often the credentials of an authenticated session are added, in ms. */
const AUTH_EVERY = 150
/** How often a holder's `isHeld` is read, in ms. */
const ASKED_EVERY = 5

/** The waiting contenders, in one client, and the clients of the holders; all of them below one node of their own. */
export class Contest implements AsyncDisposable {
  readonly #other: ZooKeeper
  readonly #chroot: string
  readonly #clients: ZooKeeper[] = []
  readonly #rivals: Rivals[] = []

  /** The waiting contenders are at these servers, and outlive all faults there. */
  static async begin(at: readonly EnsembleNode[], sessionTimeout: number): Promise<Contest> {
    const connectString = at.map(({ address }) => address).join(',')
    await using root = await connect(connectString, { sessionTimeout, connectTimeout: 20_000 })
    const { path } = await root.create('/contest-', '', { mode: 'PERSISTENT_SEQUENTIAL' })
    const other = await connect(connectString + path, { sessionTimeout, connectTimeout: 20_000 })
    return new Contest(other, path)
  }

  private constructor(other: ZooKeeper, chroot: string) {
    this.#other = other
    this.#chroot = chroot
  }

  /** A client that knows only this server, and ends with its session. */
  async holderAt(
    { address }: EnsembleNode,
    { kind, sessionTimeout, createdWith = sessionTimeout }: HolderOptions,
  ): Promise<ZooKeeper> {
    const options = { connectTimeout: 20_000, renewSession: false }
    const first = await connect(address + this.#chroot, { ...options, sessionTimeout: createdWith })
    let zk = first
    if (kind === 'resumed') {
      const session = await first.detach()
      zk = await connect(address + this.#chroot, { ...options, sessionTimeout, session })
    }
    this.#clients.push(zk)
    if (kind === 'authenticated') authenticate(zk, AUTH_EVERY)
    return zk
  }

  /** The other contender queues as soon as it sees one in the queue. */
  async rivals(recipe: Recipe): Promise<Rivals> {
    const { path } = await this.#other.create('/line-', '', { mode: 'PERSISTENT_SEQUENTIAL' })
    await this.#other.ensurePath(holdersOf(recipe, path))
    const rivals = new Rivals(this.#other, path, recipe)
    this.#rivals.push(rivals)
    return rivals
  }

  /** Waits until all other contenders with a holder before them were granted. The rest is aborted. */
  async decided(): Promise<void> {
    // All committed changes are visible by now.
    await caughtUp(this.#other)
    await Promise.all(this.#rivals.map((each) => each.abandonIfNoHolder()))
    await Promise.all(this.#rivals.map((each) => each.granted))
  }

  /** Waits until holders have received late replies or the end of their session, and until their last holds have ended. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#clients.map((zk) => zk.sync('/')))
    await Promise.all(this.#rivals.map((each) => each.ended()))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#rivals) each.stop()
    await Promise.all([...this.#clients, this.#other].map((zk) => zk.close()))
  }
}

/** Adds the same credentials again and again, until the session is over. */
export function authenticate(zk: ZooKeeper, every: number): void {
  const adding = setInterval(() => void zk.addAuth('digest', 'user:password').catch(() => {}), every)
  zk.session.signal.addEventListener('abort', () => clearInterval(adding), { once: true })
}

/** Repeats the attempt if its session has expired: happens on an overloaded machine. */
export async function whileExpired<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      if (!KeeperError.is(error, 'SessionExpired')) throw error
    }
  }
}

/** The holder of a path and the contender waiting behind it. Times in ms, on the clock that both share. */
export class Rivals {
  readonly path: string
  readonly recipe: Recipe
  /** Settled when the other one was granted, or aborted. */
  readonly granted: Promise<void>
  readonly #other: ZooKeeper
  readonly #abandon = new AbortController()
  readonly #asking: NodeJS.Timeout
  readonly #held: Held[] = []
  #waiting = false
  #others: Held | undefined
  #heldUntil: number | undefined
  #endedBy: LostErrorCode | undefined
  #grantedAt: number | undefined
  #bothSince: number | undefined
  #overlap = 0

  constructor(other: ZooKeeper, path: string, recipe: Recipe) {
    this.path = path
    this.recipe = recipe
    this.#other = other
    this.#asking = setInterval(() => this.#ask(), ASKED_EVERY)
    this.granted = this.#wait().catch((error: unknown) => {
      if (!this.#abandon.signal.aborted) throw error
    })
    // Callers that wait for it are notified later.
    this.granted.catch(() => {})
  }

  /** For how long both held, in steps of 5 ms; one moment counts as 1 ms. */
  get overlap(): number {
    return this.#overlap
  }

  /** When the hold ended, by its lease, and when the other one was granted; undefined unless both happened. */
  get turn(): { readonly heldUntil: number; readonly grantedAt: number } | undefined {
    const [heldUntil, grantedAt] = [this.#heldUntil, this.#grantedAt]
    return heldUntil === undefined || grantedAt === undefined ? undefined : { heldUntil, grantedAt }
  }

  /** From the end of the hold to the other's grant. */
  get margin(): number | undefined {
    return this.turn && this.turn.grantedAt - this.turn.heldUntil
  }

  /** Why the holder lost its last hold: by its lease, or because it was notified. */
  get endedBy(): LostErrorCode | undefined {
    return this.#endedBy
  }

  /** Acquires for the holder, which may hold several things, one after the other. */
  async acquire(zk: ZooKeeper, options: HoldOptions = {}): Promise<Held> {
    return this.#holds(await rivalries[this.recipe].acquire(zk, this.path, options))
  }

  /** Downgrades to a reader. */
  async downgrade(held: Held): Promise<Held> {
    return this.#holds(await (held as WriteHeld).downgrade())
  }

  /** Checks that the holder holds nothing if the other one was granted. */
  async ended(): Promise<void> {
    if (this.#grantedAt === undefined) return
    await until('the holder to hold nothing', async () => !this.#held.some((each) => each.isHeld()), { interval: 5 })
  }

  async abandonIfNoHolder(): Promise<void> {
    const { children } = await this.#other.getChildren(holdersOf(this.recipe, this.path))
    if (children.length === 0 && !this.#waiting) this.#abandon.abort()
  }

  stop(): void {
    clearInterval(this.#asking)
    this.#abandon.abort()
  }

  #holds(held: Held): Held {
    this.#held.push(held)
    held.signal.addEventListener('abort', () => this.#lost(held.signal.reason), { once: true })
    this.#ask()
    return held
  }

  async #wait(): Promise<void> {
    const { signal } = this.#abandon
    const abandoned = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    for (;;) {
      const { children, changed } = await this.#other.getChildrenAndWatch(holdersOf(this.recipe, this.path))
      if (children.length > 0) break
      await Promise.race([changed, abandoned])
      signal.throwIfAborted()
    }
    this.#waiting = true
    this.#others = await rivalries[this.recipe].acquire(this.#other, this.path, {}, signal)
    this.#grantedAt = machineTime()
    this.#ask()
  }

  /** A loss before the end of the lease is the end of the hold. */
  #lost({ code }: LostError): void {
    this.#endedBy = code
    if (this.#heldUntil !== undefined) this.#heldUntil = Math.min(this.#heldUntil, machineTime())
  }

  #ask(): void {
    const at = machineTime()
    const held = this.#held.find((each) => each.isHeld())
    if (held === undefined) {
      this.#bothSince = undefined
      return
    }
    this.#heldUntil = at + held.leaseRemaining()
    if (this.#others?.isHeld() !== true) return
    this.#bothSince ??= at
    this.#overlap = Math.max(this.#overlap, at - this.#bothSince, 1)
  }
}

/** The parent of the nodes of holders. */
function holdersOf(recipe: Recipe, path: string): string {
  const { holders = '' } = rivalries[recipe]
  return `${path}${holders}`
}
