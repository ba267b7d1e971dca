// One contender: a protected ephemeral sequential znode of one session, from entering the queue to leaving it.
import { type CallOptions, type Connection, KeeperError, op, type Session, type Watched } from '@zk/client'
import { ProtectedCreate, deleteOwn, type NodeOptions, type OwnNode } from './protected-create.ts'
import { ifMissing } from './if-missing.ts'
import { Predecessors, shows } from './predecessors.ts'
import { type HoldOptions, isLeased, followerRelayDelayOf } from '../hold-options.ts'
import type { ContenderName } from './names.ts'
import { NodeVanished } from './node-vanished.ts'
import type { ContenderInfo, Queue } from './queue.ts'
import { knownTouch, Relay, type RelayedTouch } from '../lease/relay.ts'
import type { Role } from './roles.ts'
import { pinnedTo, retry } from './retry.ts'

export interface ContenderOptions extends NodeOptions, HoldOptions {
  /** Called with the contenders ahead, oldest first, whenever there is one to wait for. */
  readonly onQueued: (ahead: readonly ContenderName[]) => void
}

/** The way was free. */
export interface Grant {
  readonly node: OwnNode
  /**
   * What its lease is reckoned from: the committed request that showed it was sent behind it, on the same connection.
   * undefined where that is not known, and where there is to be no lease.
   */
  readonly touch: RelayedTouch | undefined
}

/** How a request is sent that is to be committed. */
interface Asking {
  readonly touch: RelayedTouch | undefined
  /** The connection there was then; another may serve the request. */
  readonly on: Connection | undefined
}

/** A place in the queue. */
interface Place {
  readonly node: OwnNode
  readonly line: Predecessors
  readonly ahead: readonly ContenderName[]
  /** The grant it is if no contender is ahead: a committed request has shown, since we last had to wait, that the node is there and ours. */
  readonly grant?: Grant | undefined
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
  #ahead: readonly ContenderName[] | undefined
  #blocker: ContenderInfo | undefined
  #leaving: Promise<void> | undefined

  constructor(queue: Queue, role: Role, options: ContenderOptions) {
    this.#queue = queue
    this.#role = role
    this.#options = options
    this.session = queue.zk.session
    this.#pinned = pinnedTo(this.session)
    this.#create = new ProtectedCreate(queue, this.session, role.kind, options)
  }

  /** The contenders ahead when it last looked, without those that it has seen leave since; undefined while it has seen none. */
  get ahead(): readonly ContenderName[] | undefined {
    return this.#ahead
  }

  /** The oldest of those it waits for; undefined before that is known, and once one is gone. */
  get blocker(): ContenderInfo | undefined {
    return this.#blocker
  }

  /** Enter, look, granted or watch the blockers, wait until one is gone, look again. */
  async compete(): Promise<Grant> {
    let place = await this.enter()
    for (;;) {
      this.#throwIfLeaving()
      const blockers = this.#role.blockers(place.ahead)
      if (blockers.length === 0) return place.grant ?? (await this.#confirm(place.node))
      this.#ahead = place.ahead
      this.#options.onQueued(place.ahead)
      const gone = await this.#oneGone(blockers)
      this.#blocker = undefined
      this.#ahead = place.ahead.filter((each) => each !== gone)
      const isNext = this.#role.aheadOnlyShrinks && this.#role.blockers(this.#ahead).length === 0
      if (isNext) return await this.#confirm(place.node)
      place = await this.#lookAndConfirm(place)
    }
  }

  /** Enters and looks once, without waiting; undefined where a blocker is ahead. */
  async competeOnce(): Promise<Grant | undefined> {
    const place = await this.enter()
    if (this.#role.blockers(place.ahead).length > 0) return undefined
    return place.grant ?? (await this.#confirm(place.node))
  }

  /** Sends the sync of `competeOnce` ahead of time. */
  prepare(): void {
    if (this.#known() === undefined) this.#synced().catch(() => {})
  }

  /** Takes the node away, in the background until that is confirmed or the session has ended. Idempotent. */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      // Its create may be under way: a session that is left then would keep the node.
      this.session.waitUntil(this.#leaving)
    }
    return this.#leaving
  }

  /** Create and first look, in one segment. */
  async enter(): Promise<Place> {
    const asking = this.#known() ?? (await this.#synced())
    this.#throwIfLeaving()
    this.#entering = this.#create.make()
    // Behind the create on the same connection, the list shows our node and all older ones. It may fail on its own.
    const listing = this.#queue.list(this.#pinned)
    listing.catch(() => {})
    const node = await this.#entering
    if (node === undefined) return this.#vanished()
    this.#node = node
    this.#queue.tellExhausted(node.name)
    const first = await listing.catch(() => undefined)
    const list = first !== undefined && shows(first, node.name.name) ? first : await this.#list()
    // Where one connection served it all, the create itself is the committed request that shows it.
    const isUnbroken = list === first && asking.on !== undefined && asking.on === this.session.connection
    const grant = isUnbroken ? this.#granted(node, asking) : undefined
    const line = await this.#join(node, list)
    return { node, line, ahead: line.ahead(list), grant }
  }

  // --- looking and waiting --------------------------------------------------------------------------------------

  async #list(): Promise<readonly ContenderName[]> {
    return await retry(this.#queue.zk.runtime, () => this.#queue.list(this.#pinned)).catch(vanishedIfMissing)
  }

  async #join(node: OwnNode, list: readonly ContenderName[]): Promise<Predecessors> {
    if (!shows(list, node.name.name)) throw new NodeVanished()
    return await Predecessors.join(this.#queue, node, list, this.#pinned)
  }

  /**
   * After a wake-up, in one segment: the predecessor may have died waiting, and our own node may be gone. The check is
   * behind the list, for it proves what was seen before it. A list that must be read again comes later than the check.
   */
  async #lookAndConfirm({ node, line }: Place): Promise<Place> {
    const { zk } = this.#queue
    const asking = this.#known() ?? (await this.#synced())
    let looks = 0
    const look = () => {
      looks++
      return this.#queue.list(this.#pinned)
    }
    const looking = retry(zk.runtime, look).catch(vanishedIfMissing)
    looking.catch(() => {})
    const grant = await this.#confirm(node, asking)
    const ahead = line.ahead(await looking)
    return { node, line, ahead, grant: looks === 1 ? grant : undefined }
  }

  /** A committed check: at this moment the node exists, and the ensemble has our session. `first` is how it is asked for first. */
  async #confirm(node: OwnNode, first?: Asking): Promise<Grant> {
    const { zk } = this.#queue
    let asking: Asking | undefined
    const check = async () => {
      asking = (asking === undefined ? first : undefined) ?? this.#known() ?? (await this.#synced())
      return await zk.multi([op.check(node.path)], this.#pinned)
    }
    await retry(zk.runtime, check).catch(vanishedIfMissing)
    return this.#granted(node, asking!)
  }

  #granted(node: OwnNode, { touch }: Asking): Grant {
    return { node, touch: touch?.connection === this.session.connection ? touch : undefined }
  }

  /** What is asked now proves a lease, or there is to be none; undefined where a sync must be answered first. */
  #known(): Asking | undefined {
    const touch = knownTouch(this.#queue.zk, this.session, this.#options)
    return touch === undefined && isLeased(this.#options) ? undefined : { touch, on: this.session.connection }
  }

  async #synced(): Promise<Asking> {
    const followerRelayDelay = followerRelayDelayOf(this.#options, this.session)
    const touch = await Relay.of(this.session).sync(this.#queue.zk, followerRelayDelay)
    return { touch, on: touch.connection }
  }

  /** Waits until one of the blockers is gone, oldest first, and watches the others no longer. */
  async #oneGone(blockers: readonly ContenderName[]): Promise<ContenderName> {
    const waiting = { oldest: blockers[0], isOver: false }
    const going = blockers.map((blocker) => this.#gone(blocker, waiting))
    if (blockers.length === 1) return await going[0]!
    try {
      return await Promise.race(going)
    } finally {
      waiting.isOver = true
      this.#unwatch()
    }
  }

  /** Waits until something happened to the blocker. The read leaves no watch on one that is gone already. */
  async #gone(
    blocker: ContenderName,
    waiting: { readonly oldest: ContenderName | undefined; readonly isOver: boolean },
  ): Promise<ContenderName> {
    const { zk } = this.#queue
    for (;;) {
      const path = this.#queue.pathOf(blocker.name)
      const watching = (options: CallOptions) => retry(zk.runtime, () => zk.getDataAndWatch(path, options))
      const watch = await ifMissing(watching, this.#pinned, undefined)
      if (watch === undefined) return blocker
      this.#watches.add(watch)
      if (blocker === waiting.oldest && !waiting.isOver) this.#blocker = this.#queue.info(blocker, watch)
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
    // At once where it is known: whatever is called next comes behind it.
    const node = this.#node ?? (await this.#entering?.catch(() => undefined))
    if (node !== undefined) await deleteOwn(this.#queue, this.session, node.path)
  }

  /** A contender that waits no longer leaves no watch at the server. */
  #unwatch(): void {
    for (const watch of this.#watches) {
      this.#watches.delete(watch)
      watch.unwatch().catch(() => {})
    }
  }
}

function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}
