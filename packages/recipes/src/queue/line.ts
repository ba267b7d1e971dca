// A contender's place in one queue: which others are ahead of its node there, and the wait until none of them blocks it.
import type { CallOptions, NodeData, Session, Watched, ZooKeeper } from '@zk/client'
import type { Ahead, ContenderList } from './contender-list.ts'
import { ifMissing } from '../calls/if-missing.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished, vanishedIfMissing } from '../calls/node-vanished.ts'
import type { OwnNode } from './own-node.ts'
import { Predecessors } from './predecessors.ts'
import type { ContenderInfo, Queue } from './queue.ts'
import { pinnedTo, retry } from '../calls/retry.ts'
import type { Role } from './roles.ts'

/** A queue, and what a contender is in it. */
export interface Entry {
  readonly queue: Queue
  readonly role: Role
}

export interface LineOptions {
  /** Whether `ahead` must be known during the wait. */
  readonly remembersAhead: boolean
  /** Called whenever the contender must wait. `ahead` makes the paths of the contenders ahead, oldest first. */
  readonly onQueued: (ahead: () => readonly string[]) => void
  /** Throws if the contender is leaving. */
  readonly throwIfLeaving: () => void
}

/** The contenders ahead in a list. */
export interface Look<Grant> {
  readonly ahead: Ahead
  /** The grant if there is no blocker; undefined if no committed request has proven yet that the node still exists. */
  readonly grant: Grant | undefined
}

/** No blocker is left. */
export interface Front<Grant> {
  readonly node: OwnNode
  readonly grant: Grant | undefined
  /**
   * The blocker whose event made it first: reads on another connection may still show it. undefined if a list showed that
   * there is none.
   */
  readonly last: ContenderName | undefined
}

/** What a contender does after a look: it is first, or it waits for its blockers. */
type Turn<Grant> =
  | { readonly name: 'first'; readonly grant: Grant | undefined }
  | { readonly name: 'behind'; readonly blockers: readonly ContenderName[]; readonly rest: Rest }

/**
 * The contenders that are ahead when a blocker has left. If there is only one blocker, as usual, it is computed at once whether
 * this contender is next then. So the list is not kept: 500 waiters would keep 500 lists of 30 KB.
 */
type Rest = { readonly name: 'known'; readonly isNext: boolean } | { readonly name: 'listed'; readonly ahead: Ahead }

/** One wait, for the blockers in one list. */
interface Waiting {
  readonly oldest: ContenderName | undefined
  isOver: boolean
}

export class Line {
  readonly queue: Queue
  readonly role: Role
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #options: LineOptions
  readonly #pinned: ReturnType<typeof pinnedTo>
  readonly #watches = new Set<Watched>()
  #node: OwnNode | undefined
  #predecessors: Predecessors | undefined
  #ahead: Ahead | undefined
  #blocker: { readonly name: ContenderName; readonly node: NodeData } | undefined
  #isLeft = false

  constructor({ queue, role }: Entry, session: Session, options: LineOptions) {
    this.queue = queue
    this.role = role
    this.#zk = queue.zk
    this.#session = session
    this.#options = options
    this.#pinned = pinnedTo(session)
  }

  /**
   * The paths of the contenders ahead in the last list that have not left since, oldest first; undefined before the first
   * list, or if not remembered.
   */
  get ahead(): readonly string[] | undefined {
    return this.#ahead && this.#paths(this.#ahead)
  }

  /** The oldest blocker; undefined before its node was read, and after a blocker has left. */
  get blocker(): ContenderInfo | undefined {
    return this.#blocker && this.queue.info(this.#blocker.name, this.#blocker.node)
  }

  /** Sends the list, once. */
  list(): Promise<ContenderList> {
    return this.queue.list(this.#pinned)
  }

  /** Sends the list until it is answered. */
  async listAgain(): Promise<ContenderList> {
    return await retry(this.#zk, () => this.list()).catch(vanishedIfMissing)
  }

  /** Finds the contenders ahead of our node in the list. */
  async join(node: OwnNode, list: ContenderList): Promise<Ahead> {
    if (!list.shows(node.name)) throw new NodeVanished()
    this.#predecessors = await Predecessors.join(this.queue, node, list, this.#pinned)
    this.#node = node
    return this.#predecessors.ahead(list)
  }

  /** Whether there is a blocker among these contenders. */
  isBlocked(ahead: Ahead): boolean {
    return this.role.blockers(ahead).length > 0
  }

  /**
   * Watches the blockers until one is gone, and looks `again`, until there is none. `first` has the look at the first list of
   * each line.
   */
  async reachFront<Grant, T>(
    first: Promise<ReadonlyMap<Line, Look<Grant>>>,
    again: (line: Line) => Promise<Look<Grant>>,
    arrived: (front: Front<Grant>) => T | Promise<T>,
  ): Promise<T> {
    let turn = this.#turn((await first).get(this)!)
    const node = this.#node!
    while (turn.name === 'behind') {
      const { blockers, rest } = turn
      const gone = await this.#oneGone(blockers)
      this.#blocker = undefined
      this.#ahead = this.#ahead?.without(gone)
      const isNext = rest.name === 'known' ? rest.isNext : this.#isNext(rest.ahead.without(gone))
      if (isNext) return await arrived({ node, grant: undefined, last: gone })
      turn = this.#turn(await again(this))
    }
    return arrived({ node, grant: turn.grant, last: undefined })
  }

  /** Reads the list again. */
  async look(): Promise<Ahead> {
    return this.aheadIn(await this.listAgain())
  }

  /** The contenders ahead in this list. Throws `NodeVanished` if our own node is not in it. */
  aheadIn(list: ContenderList): Ahead {
    return this.#predecessors!.ahead(list)
  }

  /** The contender leaves: removes the watches on blockers from the server. */
  leave(): void {
    this.#isLeft = true
    this.#unwatch()
  }

  #turn<Grant>({ ahead, grant }: Look<Grant>): Turn<Grant> {
    this.#options.throwIfLeaving()
    const blockers = this.role.blockers(ahead)
    const [only, other] = blockers
    if (only === undefined) return { name: 'first', grant }
    if (this.#options.remembersAhead) this.#ahead = ahead
    this.#options.onQueued(() => this.#paths(ahead))
    const rest: Rest =
      other === undefined ? { name: 'known', isNext: this.#isNext(ahead.without(only)) } : { name: 'listed', ahead }
    return { name: 'behind', blockers, rest }
  }

  /** Whether there is no blocker among these contenders, and none can appear ahead. Then the list need not be read again. */
  #isNext(rest: Ahead): boolean {
    return this.role.aheadOnlyShrinks && !this.isBlocked(rest)
  }

  #paths({ all }: Ahead): readonly string[] {
    return all.map(({ name }) => this.queue.pathOf(name))
  }

  /** Waits until one of the blockers is gone. If there is only one, as usual, no `Promise.race` is made. */
  #oneGone(blockers: readonly ContenderName[]): Promise<ContenderName> {
    const [oldest, other] = blockers
    const waiting = { oldest, isOver: false }
    return oldest !== undefined && other === undefined
      ? this.#gone(oldest, waiting)
      : this.#firstGone(blockers, waiting)
  }

  /** Waits until one of several blockers is gone. Then it stops watching the others. */
  async #firstGone(blockers: readonly ContenderName[], waiting: Waiting): Promise<ContenderName> {
    try {
      return await Promise.race(blockers.map((blocker) => this.#gone(blocker, waiting)))
    } finally {
      waiting.isOver = true
      this.#unwatch()
    }
  }

  /** Waits until the blocker is gone. (getData sets no watch if the node does not exist.) */
  async #gone(blocker: ContenderName, waiting: Readonly<Waiting>): Promise<ContenderName> {
    const zk = this.#zk
    for (;;) {
      const path = this.queue.pathOf(blocker.name)
      const watching = (options: CallOptions) => retry(zk, () => zk.getDataAndWatch(path, options))
      const watch = await ifMissing(watching, this.#pinned, undefined)
      if (watch === undefined) return blocker
      this.#watches.add(watch)
      if (blocker === waiting.oldest && !waiting.isOver) this.#blocker = { name: blocker, node: watch }
      if (this.#isLeft || waiting.isOver) this.#unwatch()
      const event = await watch.changed
      this.#watches.delete(watch)
      if (event.type === 'SessionEnded') throw this.#session.signal.reason
      this.#options.throwIfLeaving()
      if (event.type === 'NodeDeleted' || waiting.isOver) return blocker
    }
  }

  #unwatch(): void {
    for (const watch of this.#watches) {
      this.#watches.delete(watch)
      watch.unwatch().catch(() => {})
    }
  }
}
