// A contender's place in one queue: which others are ahead of its node there, and the wait until none of them blocks it.
import type { Session, Watched, WatchedEvent, ZooKeeper } from '@zk/client'
import { memoized } from '../kernel/memoized.ts'
import type { Ahead, ContenderList } from './contender-list.ts'
import { undefinedIfMissing } from '../kernel/if-missing.ts'
import type { ContenderName } from './names.ts'
import { NewestList } from './newest-list.ts'
import { NodeVanished, throwVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import type { ContenderNode } from './contender-node.ts'
import { Predecessors } from './predecessors.ts'
import type { ContenderInfo, Queue } from './queue.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import type { Role } from './roles.ts'
import { unawaited, unwatch } from '../kernel/promises.ts'

/** A queue, and the role of a contender in it. */
export interface Entry {
  readonly queue: Queue
  readonly role: Role
}

/** Is told how the wait of a contender goes. */
export interface WaitListener {
  /** Whether `ahead` and `blocker` must be known during the wait. */
  readonly mayTimeOut: boolean
  /** Called whenever the contender must wait in a queue. `ahead` returns the paths of the contenders ahead, oldest first. */
  queued(ahead: () => readonly string[]): void
  /** Called when the oldest blocker has been read: it must leave before the wait can continue. */
  blocked(): void
}

/** What is known of a blocker. */
export type BlockerInfo = Pick<ContenderInfo, 'path' | 'label' | 'sessionId' | 'since'>

/** The contenders ahead in a list. */
export interface ListReading<Grant> {
  readonly ahead: Ahead
  /** The grant if there is no blocker; undefined if no committed request has proven yet that the node still exists. */
  readonly grant: Grant | undefined
}

/** No blocker is left. */
export interface QueueHead<Grant> {
  readonly node: ContenderNode
  readonly grant: Grant | undefined
  /**
   * The blocker whose removal made this contender first: reads on another connection may still show that blocker. undefined if a
   * list showed that there is no blocker.
   */
  readonly last: ContenderName | undefined
}

/** What a contender does after a look: it is first, or it waits for its blockers. */
type NextStep<Grant> =
  | { readonly name: 'first'; readonly grant: Grant | undefined }
  | { readonly name: 'behind'; readonly blockers: readonly ContenderName[]; readonly rest: Rest }

/**
 * The contenders that are ahead when a blocker has left. If there is only one blocker, as usual, whether this contender comes
 * next is computed at once. So the list is not kept: 500 waiters would keep 500 lists of 30 KB. `blocker` is the position of the
 * blocker, if that is a contender of this session.
 */
type Rest =
  | { readonly name: 'known'; readonly isNext: boolean; readonly blocker: QueuePosition | undefined }
  | { readonly name: 'listed'; readonly ahead: Ahead }

/** One wait, for the blockers in one list. */
interface Waiting {
  readonly oldest: ContenderName
  isOver: boolean
}

/** A watch on a blocker, without what was read of its node: a waiter keeps it. */
type BlockerWatch = Pick<Watched, 'changed' | 'unwatch'>

/**
 * The positions of each session, by the paths of their nodes. (A `MultiLock` may have nodes with the same name in several queues.)
 *
 * They save one read of the list when a contender waits for another contender of its own session. If that contender was
 * next, nobody was ahead of it, and nobody can come in between: when it leaves, this one is next. Without this, a hand-over
 * within one session takes six requests instead of five, and with 500 waiters a quarter more CPU, because each list has 500
 * names.
 */
const ofSessions = new WeakMap<Session, Map<string, QueuePosition>>()

export class QueuePosition {
  readonly queue: Queue
  readonly role: Role
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #listener: WaitListener
  readonly #pinned: ReturnType<typeof pinnedTo>
  #watches: readonly BlockerWatch[] = []
  #early: Promise<ContenderList | undefined> | undefined
  #node: ContenderNode | undefined
  #predecessors: Predecessors | undefined
  #isNext = false
  /** The contenders ahead in the first list, if there is a blocker, until `reachFront` takes them. */
  #first: Ahead | undefined
  readonly #newest: NewestList | undefined
  #hasWaited = false
  #blocker: BlockerInfo | undefined
  #isLeft = false

  constructor({ queue, role }: Entry, session: Session, listener: WaitListener) {
    this.queue = queue
    this.role = role
    this.#zk = queue.zk
    this.#session = session
    this.#listener = listener
    this.#pinned = pinnedTo(session)
    this.#newest = listener.mayTimeOut ? NewestList.of(session, queue.folder) : undefined
  }

  /** The paths of the contenders ahead, oldest first; undefined if it has not waited, or if not remembered. */
  get ahead(): readonly string[] | undefined {
    const ahead = this.#hasWaited ? this.#newest?.ahead(this.#predecessors!) : undefined
    return ahead?.map(({ name }) => this.queue.pathOf(name))
  }

  /** The oldest blocker; undefined until its node has been read, and after a blocker has left, or if not remembered. */
  get blocker(): BlockerInfo | undefined {
    return this.#blocker
  }

  /** Requests the list, once. */
  list(): Promise<ContenderList> {
    const listing = this.queue.list(this.#pinned)
    if (this.#newest !== undefined) unawaited(listing.then((list) => this.#newest!.read(list)))
    return listing
  }

  /** Requests the list for `join`. */
  listEarly(): void {
    this.#early = this.list().catch(() => undefined)
  }

  /** Requests the list until an answer comes. */
  async #listAgain(): Promise<ContenderList> {
    return await retry(this.#zk, () => this.list()).catch(vanishedIfMissing)
  }

  /**
   * Finds the contenders ahead of our node in the early list, if that shows the node, otherwise in a new one. Resolves with
   * whether the early list was used. `isRepeated` says that the early list may show another node of that name.
   */
  async join(node: ContenderNode, isRepeated: boolean): Promise<boolean> {
    this.queue.tellExhausted(node.name)
    const early = await this.#early
    this.#early = undefined
    const isShown = early !== undefined && early.shows(node.name) && !isRepeated
    const list = isShown ? early : await this.#listAgain()
    if (!isShown && !list.shows(node.name)) throw new NodeVanished()
    this.#predecessors = list.isInOrder
      ? Predecessors.byNumber(node.name)
      : await Predecessors.byCreation(this.queue, node, list.all, this.#pinned)
    this.#node = node
    const ahead = this.#predecessors.ahead(list)
    this.#isNext = this.role.blockers(ahead).length === 0
    if (!this.#isNext) this.#first = ahead
    // Only such a queue uses it (`#nextStep`), and only there is `leave` sure to be called: a downgraded writer does not call it.
    if (this.role.trustsOwnSession && !this.#isLeft) this.#positionsOfSession.set(node.path, this)
    return isShown
  }

  /** Whether it has no blocker, as far as is known. As long as contenders ahead can only leave, this stays true. */
  get isNext(): boolean {
    return this.#isNext
  }

  get #positionsOfSession(): Map<string, QueuePosition> {
    return memoized(ofSessions, this.#session, () => new Map<string, QueuePosition>())
  }

  /**
   * While there are blockers, watches them until one is gone, and then looks `again`. `entering` resolves after `join`, with the
   * grant if there is no blocker.
   */
  async reachFront<Grant, T>(
    entering: Promise<Grant | undefined>,
    again: (position: QueuePosition) => Promise<ListReading<Grant>>,
    arrived: (front: QueueHead<Grant>) => T | Promise<T>,
  ): Promise<T> {
    // A suspended function keeps its variables, so none of them refers to a list. And the wait for the only blocker, as usual, is
    // in this function: another one would take 500 bytes for each waiter.
    let step = this.#begin<Grant>(await entering)
    while (step.name === 'behind') {
      const { blockers, rest } = step
      let [gone] = blockers as [ContenderName]
      if (blockers.length > 1) gone = await this.#firstGone(blockers)
      else {
        for (;;) {
          const watch = await this.#watch(gone)
          if (watch === undefined || this.#isGone(watch, await watch.changed)) break
        }
      }
      this.#blocker = undefined
      this.#newest?.left(gone)
      // A contender that was next had no other contender ahead of it, and none can come between it and us.
      this.#isNext =
        rest.name === 'known' ? rest.isNext || rest.blocker?.isNext === true : this.#isLast(rest.ahead.without(gone))
      if (this.#isNext) return await arrived({ node: this.#node!, grant: undefined, last: gone })
      step = this.#nextStep(await again(this))
    }
    return arrived({ node: this.#node!, grant: step.grant, last: undefined })
  }

  /** Reads the list again. */
  async look(): Promise<Ahead> {
    return this.aheadIn(await this.#listAgain())
  }

  /** The contenders ahead in this list. Throws `NodeVanished` if our own node is not in it. */
  aheadIn(list: ContenderList): Ahead {
    return this.#predecessors!.ahead(list)
  }

  /** The contender leaves: removes the watches on blockers from the server. */
  leave(): void {
    this.#isLeft = true
    if (this.#node !== undefined) this.#positionsOfSession.delete(this.#node.path)
    this.#unwatch()
  }

  /** What to do after `join`. */
  #begin<Grant>(grant: Grant | undefined): NextStep<Grant> {
    const first = this.#first
    this.#first = undefined
    return first === undefined ? this.#firstStep(grant) : this.#nextStep({ ahead: first, grant })
  }

  #firstStep<Grant>(grant: Grant | undefined): NextStep<Grant> {
    this.#throwIfLeft()
    this.#isNext = true
    return { name: 'first', grant }
  }

  #nextStep<Grant>({ ahead, grant }: ListReading<Grant>): NextStep<Grant> {
    this.#throwIfLeft()
    const blockers = this.role.blockers(ahead)
    const [only, other] = blockers
    if (only === undefined) return this.#firstStep(grant)
    this.#hasWaited = true
    this.#listener.queued(() => this.#paths(ahead))
    if (other !== undefined) return { name: 'behind', blockers, rest: { name: 'listed', ahead } }
    const blocker = this.role.trustsOwnSession ? this.#positionsOfSession.get(this.queue.pathOf(only.name)) : undefined
    return { name: 'behind', blockers, rest: { name: 'known', isNext: this.#isLast(ahead.without(only)), blocker } }
  }

  /** Whether there is no blocker among these contenders, and none can appear ahead. Then the list need not be read again. */
  #isLast(rest: Ahead): boolean {
    return this.role.aheadOnlyShrinks && this.role.blockers(rest).length === 0
  }

  #paths({ all }: Ahead): readonly string[] {
    return all.map(({ name }) => this.queue.pathOf(name))
  }

  /** Waits until one of several blockers is gone. Then it stops watching the others. */
  async #firstGone(blockers: readonly ContenderName[]): Promise<ContenderName> {
    const waiting = { oldest: blockers[0]!, isOver: false }
    try {
      return await Promise.race(blockers.map((blocker) => this.#gone(blocker, waiting)))
    } finally {
      waiting.isOver = true
      this.#unwatch()
    }
  }

  async #gone(blocker: ContenderName, waiting: Readonly<Waiting>): Promise<ContenderName> {
    for (;;) {
      const watch = await this.#watch(blocker, waiting)
      if (watch === undefined || this.#isGone(watch, await watch.changed) || waiting.isOver) return blocker
    }
  }

  /** Watches a blocker; undefined if it is gone. (getData sets no watch if the node does not exist.) */
  async #watch(blocker: ContenderName, waiting?: Readonly<Waiting>): Promise<BlockerWatch | undefined> {
    const path = this.queue.pathOf(blocker.name)
    const watching = () => this.#zk.getDataAndWatch(path, this.#pinned)
    const read = await retry(this.#zk, watching).catch(undefinedIfMissing)
    if (read === undefined) return undefined
    const { changed, unwatch } = read
    const watch = { changed, unwatch }
    this.#watches = this.#watches.concat(watch)
    if (waiting === undefined || (blocker === waiting.oldest && !waiting.isOver)) {
      if (this.#listener.mayTimeOut) {
        const { label, sessionId, since } = this.queue.info(blocker, read)
        this.#blocker = { path, label, sessionId, since }
      }
      this.#listener.blocked()
    }
    if (this.#isLeft || waiting?.isOver === true) this.#unwatch()
    return watch
  }

  /** Whether this event of a watch says that the blocker is gone. */
  #isGone(watch: BlockerWatch, { type }: WatchedEvent): boolean {
    this.#watches = this.#watches.filter((each) => each !== watch)
    if (type === 'SessionEnded') throw this.#session.signal.reason
    this.#throwIfLeft()
    return type === 'NodeDeleted'
  }

  #throwIfLeft(): void {
    if (this.#isLeft) throwVanished(this.#session)
  }

  #unwatch(): void {
    for (const watch of this.#watches) unwatch(watch)
    this.#watches = []
  }
}
