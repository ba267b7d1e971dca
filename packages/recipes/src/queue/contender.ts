// One contender: an ephemeral sequential znode of one session, from its creation to its removal.
import { type CallOptions, type Connection, type NodeData, op, type Session, type Watched } from '@zk/client'
import { ProtectedCreate, deleteOwn, type NodeOptions, type OwnNode, type OwnNodes } from './protected-create.ts'
import { ifMissing } from './if-missing.ts'
import type { Ahead, ContenderList } from './contender-list.ts'
import { Predecessors } from './predecessors.ts'
import { type HoldOptions, isLeased, followerRelayDelayOf } from '../hold-options.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished, vanishedIfMissing } from './node-vanished.ts'
import type { ContenderInfo, Queue } from './queue.ts'
import { knownTouch, Relay, type RelayedTouch } from '../lease/relay.ts'
import type { Role } from './roles.ts'
import { pinnedTo, retry } from './retry.ts'

export interface ContenderOptions extends NodeOptions, HoldOptions {
  /** Whether `ahead` must be known during the wait. */
  readonly remembersAhead: boolean
  /** Called whenever the contender must wait. `ahead` makes the paths of the contenders ahead, oldest first. */
  readonly onQueued: (ahead: () => readonly string[]) => void
}

/** The result when no blocker is left and a committed request has proven it. */
export interface Grant {
  readonly nodes: OwnNodes
  /**
   * The touch from which the lease is counted. The committed request was sent after this touch, on the same connection.
   * undefined if no such touch is known, or if there is no lease.
   */
  readonly touch: RelayedTouch | undefined
}

/** A contender without a blocker. */
export interface Front {
  readonly node: OwnNode
  /** The grant, if a committed request has already shown that the node exists and is ours. */
  readonly grant: Grant | undefined
  /**
   * The blocker whose event made it first: reads on another connection may still show it. undefined if a list showed that
   * there is none.
   */
  readonly last: ContenderName | undefined
}

/** What is known when a request is sent that must be committed: a touch for its lease, and the connection. */
interface Asking {
  readonly touch: RelayedTouch | undefined
  /** The connection at that time. The request may be sent on a later one. */
  readonly on: Connection | undefined
}

/** A place in the queue. */
interface Place {
  readonly node: OwnNode
  readonly line: Predecessors
}

/** A place, and the contenders ahead of it in a list. */
interface Look extends Place {
  readonly ahead: Ahead
  /** The grant if there is no blocker; undefined if no committed request has proven yet that the node still exists. */
  readonly grant: Grant | undefined
}

/** What a contender does after a look: it is first, or it waits for its blockers. */
type Turn =
  | { readonly name: 'first'; readonly place: Place; readonly grant: Grant | undefined }
  | { readonly name: 'behind'; readonly place: Place; readonly blockers: readonly ContenderName[]; readonly rest: Rest }

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

export class Contender {
  readonly session: Session
  readonly #queue: Queue
  readonly #role: Role
  readonly #options: ContenderOptions
  readonly #create: ProtectedCreate
  readonly #pinned: ReturnType<typeof pinnedTo>
  #entering: Promise<OwnNode | undefined> | undefined
  #node: OwnNode | undefined
  readonly #watches = new Set<Watched>()
  #ahead: Ahead | undefined
  #blocker: { readonly name: ContenderName; readonly node: NodeData } | undefined
  #leaving: Promise<void> | undefined

  constructor(queue: Queue, role: Role, options: ContenderOptions) {
    this.#queue = queue
    this.#role = role
    this.#options = options
    this.session = queue.zk.session
    this.#pinned = pinnedTo(this.session)
    this.#create = new ProtectedCreate(queue, this.session, role.kind, options)
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
    return this.#blocker && this.#queue.info(this.#blocker.name, this.#blocker.node)
  }

  /**
   * Creates the node and reads the list. If there is no blocker, the contender is granted. Otherwise it watches the blockers
   * until one is gone, and reads the list again.
   */
  compete(): Promise<Grant> {
    return this.#reachFront(
      (place) => this.#lookAndConfirm(place),
      ({ node, grant }) => grant ?? this.confirm(node),
    )
  }

  /** As `compete`, without any committed check: what follows must fail where the node is gone. */
  reachFront(): Promise<Front> {
    return this.#reachFront(
      (place) => this.#look(place),
      (front) => front,
    )
  }

  async #reachFront<T>(look: (place: Place) => Promise<Look>, arrived: (front: Front) => T | Promise<T>): Promise<T> {
    let turn = this.#turn(await this.enter())
    while (turn.name === 'behind') {
      const { place, blockers, rest } = turn
      const gone = await this.#oneGone(blockers)
      this.#blocker = undefined
      this.#ahead = this.#ahead?.without(gone)
      const isNext = rest.name === 'known' ? rest.isNext : this.#isNext(rest.ahead.without(gone))
      if (isNext) return await arrived({ node: place.node, grant: undefined, last: gone })
      turn = this.#turn(await look(place))
    }
    return arrived({ node: turn.place.node, grant: turn.grant, last: undefined })
  }

  /** Creates the node and reads the list once, without waiting. The result is undefined if there is a blocker. */
  async competeOnce(): Promise<Grant | undefined> {
    const front = await this.enterFirst()
    return front && (front.grant ?? (await this.confirm(front.node)))
  }

  /** As `competeOnce`, without the committed check at the end. */
  async enterFirst(): Promise<Front | undefined> {
    const { ahead, node, grant } = await this.enter()
    return this.#role.blockers(ahead).length > 0 ? undefined : { node, grant, last: undefined }
  }

  /** Sends the sync that `competeOnce` needs, so that it is answered earlier. */
  prepare(): void {
    if (this.#known() === undefined) this.#synced().catch(() => {})
  }

  /** Deletes the node. Goes on in the background until that is confirmed or the session has ended. Idempotent. */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      // `detach` must wait: otherwise a session that is resumed later would still have the node.
      this.session.waitUntil(this.#leaving)
    }
    return this.#leaving
  }

  /** Creates the node and reads the list, in one segment. */
  async enter(): Promise<Look> {
    const asking = this.#known() ?? (await this.#synced())
    this.#throwIfLeaving()
    this.#entering = this.#create.make()
    // The list is read after the create on the same connection, so it shows our node and all older ones.
    const listing = this.#queue.list(this.#pinned)
    listing.catch(() => {})
    const node = await this.#entering
    if (node === undefined) return this.#vanished()
    this.#node = node
    this.#queue.tellExhausted(node.name)
    const first = await listing.catch(() => undefined)
    const list = first !== undefined && first.shows(node.name) ? first : await this.#list()
    // If create and list were sent on the same connection as the sync, the create itself is the committed request.
    const isUnbroken = list === first && asking.on !== undefined && asking.on === this.session.connection
    const grant = isUnbroken ? this.#granted(node, asking) : undefined
    const line = await this.#join(node, list)
    return { node, line, ahead: line.ahead(list), grant }
  }

  // --- reading the list and waiting -----------------------------------------------------------------------------

  #turn({ node, line, ahead, grant }: Look): Turn {
    this.#throwIfLeaving()
    const place = { node, line }
    const blockers = this.#role.blockers(ahead)
    const [only, other] = blockers
    if (only === undefined) return { name: 'first', place, grant }
    if (this.#options.remembersAhead) this.#ahead = ahead
    this.#options.onQueued(() => this.#paths(ahead))
    const rest: Rest =
      other === undefined ? { name: 'known', isNext: this.#isNext(ahead.without(only)) } : { name: 'listed', ahead }
    return { name: 'behind', place, blockers, rest }
  }

  /** Whether there is no blocker among these contenders, and none can appear ahead. Then the list need not be read again. */
  #isNext(rest: Ahead): boolean {
    return this.#role.aheadOnlyShrinks && this.#role.blockers(rest).length === 0
  }

  #paths({ all }: Ahead): readonly string[] {
    return all.map(({ name }) => this.#queue.pathOf(name))
  }

  async #list(): Promise<ContenderList> {
    return await retry(this.#queue.zk, () => this.#queue.list(this.#pinned)).catch(vanishedIfMissing)
  }

  async #join(node: OwnNode, list: ContenderList): Promise<Predecessors> {
    if (!list.shows(node.name)) throw new NodeVanished()
    return await Predecessors.join(this.#queue, node, list, this.#pinned)
  }

  async #look({ node, line }: Place): Promise<Look> {
    return { node, line, ahead: line.ahead(await this.#list()), grant: undefined }
  }

  /**
   * After a wake-up reads the list and checks the own node, in one segment: other contenders may still be ahead, and our own
   * node may be gone. The check is sent after the list, because it must prove what the list shows. If the list had to be read
   * again after the check, there is no grant yet.
   */
  async #lookAndConfirm({ node, line }: Place): Promise<Look> {
    const { zk } = this.#queue
    const asking = this.#known() ?? (await this.#synced())
    let looks = 0
    const look = () => {
      looks++
      return this.#queue.list(this.#pinned)
    }
    const looking = retry(zk, look).catch(vanishedIfMissing)
    looking.catch(() => {})
    const grant = await this.confirm(node, asking)
    const ahead = line.ahead(await looking)
    return { node, line, ahead, grant: looks === 1 ? grant : undefined }
  }

  /**
   * Sends a check of the node that is committed: at that time the node exists, and so does our session. `first` is what was
   * known when the check is sent for the first time.
   */
  async confirm(node: OwnNode, first?: Asking): Promise<Grant> {
    const { zk } = this.#queue
    let asking: Asking | undefined
    const check = async () => {
      asking = (asking === undefined ? first : undefined) ?? this.#known() ?? (await this.#synced())
      return await zk.multi([op.check(node.path)], this.#pinned)
    }
    await retry(zk, check).catch(vanishedIfMissing)
    return this.#granted(node, asking!)
  }

  #granted(node: OwnNode, { touch }: Asking): Grant {
    return { nodes: [node], touch: touch?.connection === this.session.connection ? touch : undefined }
  }

  /** What is known now for a request that must be committed; undefined if a sync must be answered first, for a lease. */
  #known(): Asking | undefined {
    const touch = knownTouch(this.#queue.zk, this.session, this.#options)
    return touch === undefined && isLeased(this.#options) ? undefined : { touch, on: this.session.connection }
  }

  async #synced(): Promise<Asking> {
    const followerRelayDelay = followerRelayDelayOf(this.#options, this.session)
    const touch = await Relay.of(this.session).sync(this.#queue.zk, followerRelayDelay)
    return { touch, on: touch.connection }
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
    const { zk } = this.#queue
    for (;;) {
      const path = this.#queue.pathOf(blocker.name)
      const watching = (options: CallOptions) => retry(zk, () => zk.getDataAndWatch(path, options))
      const watch = await ifMissing(watching, this.#pinned, undefined)
      if (watch === undefined) return blocker
      this.#watches.add(watch)
      if (blocker === waiting.oldest && !waiting.isOver) this.#blocker = { name: blocker, node: watch }
      if (this.#leaving !== undefined || waiting.isOver) this.#unwatch()
      const event = await watch.changed
      this.#watches.delete(watch)
      if (event.type === 'SessionEnded') throw this.session.signal.reason
      this.#throwIfLeaving()
      if (event.type === 'NodeDeleted' || waiting.isOver) return blocker
    }
  }

  // --- leaving --------------------------------------------------------------------------------------------------

  #throwIfLeaving(): void {
    if (this.#leaving !== undefined) this.#vanished()
  }

  #vanished(): never {
    this.session.detaching.throwIfAborted()
    throw new NodeVanished()
  }

  async #remove(): Promise<void> {
    this.#create.cancel()
    this.#unwatch()
    // If the node is known, there is no `await` here: calls that are made later come after the delete.
    const node = this.#node ?? (await this.#entering?.catch(() => undefined))
    if (node !== undefined) await deleteOwn(this.#queue, this.session, node.path)
  }

  /** Removes the watches on blockers from the server. */
  #unwatch(): void {
    for (const watch of this.#watches) {
      this.#watches.delete(watch)
      watch.unwatch().catch(() => {})
    }
  }
}
