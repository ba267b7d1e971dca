// One contender: a protected ephemeral sequential znode of one session, from entering the queue to leaving it.
import {
  type ACL,
  type Connection,
  KeeperError,
  type Moment,
  momentOf,
  op,
  type Session,
  type Watched,
} from '@zk/client'
import { ifMissing } from './if-missing.ts'
import { type ContenderName, namePrefix, parseName } from './names.ts'
import type { Queue } from './queue.ts'
import type { Role } from './roles.ts'
import { endure, persist } from './transient.ts'

export interface ContenderOptions {
  readonly data: Uint8Array | string
  readonly acl?: readonly ACL[] | undefined
  /** Called with those ahead, oldest first, whenever there is somebody to wait for. */
  readonly onQueued: (ahead: readonly ContenderName[]) => void
}

/** Our node, and what the server said of it. */
export interface OwnNode {
  readonly name: ContenderName
  readonly path: string
  /** The fencing token. */
  readonly czxid: bigint
}

/** The way was free. */
export interface Grant {
  readonly node: OwnNode
  /** Before the committed request that showed it was sent. */
  readonly askedAt: Moment
  /** The connection there was then; another may have served the request. */
  readonly askedOn: Connection | undefined
}

/** A place in the queue. */
interface Place {
  readonly node: OwnNode
  readonly ahead: readonly ContenderName[]
  /** The grant it is if nobody is ahead: a committed request has shown, since we last had to wait, that the node is there and ours. */
  readonly grant?: Grant | undefined
}

/** Our node is gone while we waited: somebody deleted it, or we left. */
export class NodeVanished extends Error {}

export class Contender {
  readonly session: Session
  readonly #queue: Queue
  readonly #role: Role
  readonly #options: ContenderOptions
  /** The same for every create of this attempt: it finds the node again after a lost reply. */
  readonly #uuid: string
  readonly #pinned: { readonly session: Session }
  #entering: Promise<OwnNode | undefined> | undefined
  #watch: Watched | undefined
  #leaving: Promise<void> | undefined

  constructor(queue: Queue, role: Role, options: ContenderOptions) {
    this.#queue = queue
    this.#role = role
    this.#options = options
    this.session = queue.zk.session
    this.#pinned = { session: this.session }
    this.#uuid = queue.zk.runtime.uuid()
  }

  /** Enter, look, granted or watch the one ahead, wait, look again. */
  async compete(): Promise<Grant> {
    let place = await this.enter()
    for (;;) {
      if (this.#leaving !== undefined) throw new NodeVanished()
      const blocker = this.#role.blocker(place.ahead)
      if (blocker === undefined) return place.grant ?? (await this.#confirm(place.node))
      this.#options.onQueued(place.ahead)
      await this.#gone(blocker)
      const isNext = this.#role.aheadOnlyShrinks && place.ahead.length === 1
      if (isNext) return await this.#confirm(place.node)
      place = await this.#confirmAndLook(place.node)
    }
  }

  /** Whether somebody is in the way, without waiting: enters and looks once. */
  async competeOnce(): Promise<Grant | undefined> {
    const place = await this.enter()
    if (this.#role.blocker(place.ahead) !== undefined) return undefined
    return place.grant ?? (await this.#confirm(place.node))
  }

  /** Takes the node away, in the background until that is confirmed or the session has ended. Idempotent. */
  leave(): Promise<void> {
    this.#leaving ??= this.#remove()
    return this.#leaving
  }

  /** Create and first look, in one segment. */
  async enter(): Promise<Place> {
    const asking = this.#asking()
    this.#entering = this.#create()
    // Behind the create on the same connection, the list shows our node and all older ones. It may fail on its own.
    const listing = this.#queue.list(this.#pinned)
    listing.catch(() => {})
    const node = await this.#entering
    if (node === undefined) throw new NodeVanished()
    const list = await listing.catch(() => undefined)
    if (list === undefined || !list.some(({ name }) => name === node.name.name)) return await this.#look(node)
    // Where one connection served it all, the create itself is the committed request that shows it.
    const unbroken = asking.askedOn !== undefined && this.session.connection === asking.askedOn
    return { node, ahead: olderThan(node, list), grant: unbroken ? { node, ...asking } : undefined }
  }

  // --- the definite create --------------------------------------------------------------------------------------

  /** Makes the node, exactly one, whatever becomes of replies; undefined when we leave before there is one. */
  async #create(): Promise<OwnNode | undefined> {
    const path = this.#queue.pathOf(namePrefix(this.#role.kind, this.#uuid))
    const { data, acl } = this.#options
    let wasUnanswered = false
    for (;;) {
      try {
        const mode = 'EPHEMERAL_SEQUENTIAL'
        const created = await this.#queue.zk.create(path, data, { mode, acl, ...this.#pinned })
        // A leader that is one no more answers a sync too, so an earlier create may have happened though no node was
        // found. Behind this one its node shows, and stays: we would wait on ourselves.
        return wasUnanswered ? await this.#find() : toOwnNode(created.path, created.stat.czxid)
      } catch (error) {
        const found = await this.#afterFailure(error)
        if (found !== undefined || this.#leaving !== undefined) return found
        wasUnanswered ||= KeeperError.is(error) && error.outcomeUnknown
      }
    }
  }

  /** What a failed create left: our node, or nothing, and then the create may be repeated. */
  async #afterFailure(error: unknown): Promise<OwnNode | undefined> {
    const { zk, path } = this.#queue
    if (KeeperError.is(error) && error.outcomeUnknown) return await this.#find()
    if (KeeperError.is(error, 'NoNode')) {
      if (this.#leaving === undefined) await persist(zk.runtime, () => zk.ensureContainer(path, this.#pinned))
      return undefined
    }
    await endure(zk.runtime, error)
    return undefined
  }

  /** The node of a create that was not answered. The sync makes the list as new as the create. */
  async #find(): Promise<OwnNode | undefined> {
    const { zk, path } = this.#queue
    const syncAndList = () => Promise.all([zk.sync(path, this.#pinned), zk.getChildren(path, this.#pinned)])
    const read = await ifMissing(persist(zk.runtime, syncAndList), undefined)
    if (read === undefined) return undefined
    const [, { children }] = read
    const mine = children.map(parseName).filter((name) => name?.uuid === this.#uuid)
    const nodes = await Promise.all(mine.map((name) => this.#own(name!)))
    const [oldest, ...younger] = nodes.filter((node) => node !== undefined).sort(byCreation)
    await Promise.all(younger.map((node) => this.#delete(node.path)))
    return oldest
  }

  /** A node is ours only if this very session owns it. */
  async #own(name: ContenderName): Promise<OwnNode | undefined> {
    const { zk } = this.#queue
    const path = this.#queue.pathOf(name.name)
    const stat = await persist(zk.runtime, () => zk.exists(path, this.#pinned))
    return stat?.ephemeralOwner === this.session.id ? { name, path, czxid: stat.czxid } : undefined
  }

  // --- looking and waiting --------------------------------------------------------------------------------------

  async #look(node: OwnNode): Promise<Omit<Place, 'grant'>> {
    const list = await persist(this.#queue.zk.runtime, () => this.#queue.list(this.#pinned)).catch(vanishedIfMissing)
    return { node, ahead: olderThan(node, list) }
  }

  /** After a wake-up, in one segment: the predecessor may have died waiting, and our own node may be gone. */
  async #confirmAndLook(node: OwnNode): Promise<Place> {
    const confirming = this.#confirm(node)
    const looking = this.#look(node)
    looking.catch(() => {})
    const grant = await confirming
    return { ...(await looking), grant }
  }

  /** A committed check: at this moment the node exists, and the ensemble has our session. */
  async #confirm(node: OwnNode): Promise<Grant> {
    const { zk } = this.#queue
    let asking = this.#asking()
    const check = () => {
      asking = this.#asking()
      return zk.multi([op.check(node.path)], this.#pinned)
    }
    await persist(zk.runtime, check).catch(vanishedIfMissing)
    return { node, ...asking }
  }

  #asking(): Omit<Grant, 'node'> {
    return { askedAt: momentOf(this.#queue.zk.runtime), askedOn: this.session.connection }
  }

  /** Waits until something happened to the blocker. The read leaves no watch on one that is gone already. */
  async #gone(blocker: ContenderName): Promise<void> {
    const { zk } = this.#queue
    for (;;) {
      const path = this.#queue.pathOf(blocker.name)
      const watching = () => zk.getDataAndWatch(path, this.#pinned)
      const watch = await ifMissing(persist(zk.runtime, watching), undefined)
      if (watch === undefined) return
      this.#watch = watch
      if (this.#leaving !== undefined) void this.#unwatch()
      const event = await watch.changed
      this.#watch = undefined
      if (event.type === 'SessionEnded') throw this.session.signal.reason
      if (this.#leaving !== undefined) throw new NodeVanished()
      if (event.type === 'NodeDeleted') return
    }
  }

  // --- leaving --------------------------------------------------------------------------------------------------

  async #remove(): Promise<void> {
    void this.#unwatch()
    const node = await this.#entering?.catch(() => undefined)
    if (node !== undefined) await this.#delete(node.path)
  }

  /** Until it is confirmed. An ended session has taken its nodes with it. */
  async #delete(path: string): Promise<void> {
    const { zk } = this.#queue
    try {
      await persist(zk.runtime, () => zk.delete(path, this.#pinned))
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode') && !this.session.signal.aborted) throw error
    }
  }

  /** Whoever no longer waits leaves no watch at the server. */
  async #unwatch(): Promise<void> {
    const watch = this.#watch
    this.#watch = undefined
    await watch?.unwatch().catch(() => {})
  }
}

function toOwnNode(path: string, czxid: bigint): OwnNode {
  const name = parseName(path.slice(path.lastIndexOf('/') + 1))
  if (name === undefined) throw new Error(`the server named our node ${path}`)
  return { name, path, czxid }
}

/** Those before us; absence of our own node is never success. */
function olderThan(node: OwnNode, list: readonly ContenderName[]): readonly ContenderName[] {
  const index = list.findIndex(({ name }) => name === node.name.name)
  if (index === -1) throw new NodeVanished()
  return list.slice(0, index)
}

function byCreation(one: OwnNode, other: OwnNode): number {
  return one.czxid < other.czxid ? -1 : 1
}

function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}
