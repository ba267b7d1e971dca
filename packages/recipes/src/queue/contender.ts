// One contender: ephemeral sequential znodes of one session, one in each queue, from their creation to their removal. A lock has
// one queue.
import { type Connection, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { markOf, marksBeside, withMarks } from '../deadlock/marks.ts'
import { Task, type TaskWait } from '../deadlock/task.ts'
import { type HoldOptions, type HoldTerms, isLeased, followerRelayDelayOf } from '../hold-options.ts'
import { knownTouch, Relay, type RelayedTouch } from '../lease/relay.ts'
import type { ContenderList } from './contender-list.ts'
import { type Entry, type Front, Line, type Look } from './line.ts'
import { NodeVanished, vanishedIfMissing } from './node-vanished.ts'
import { OwnNodeWatch } from './own-node-watch.ts'
import { deleteAll, type OwnNode, type OwnNodes } from './own-node.ts'
import { type NodeOptions, ProtectedCreate } from './protected-create.ts'
import type { ContenderInfo } from './queue.ts'
import { pinnedTo, retry } from './retry.ts'

/** The queues of a contender. */
export type Entries = readonly [Entry, ...Entry[]]

export interface ContenderOptions extends NodeOptions, HoldOptions, Pick<HoldTerms, 'detection'> {
  /** Whether `ahead` must be known during the wait. */
  readonly remembersAhead: boolean
  /** Called whenever the contender must wait in a queue. `ahead` makes the paths of the contenders ahead, oldest first. */
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

/** What is known when a request is sent that must be committed: a touch for its lease, and the connection. */
interface Asking {
  readonly touch: RelayedTouch | undefined
  /** The connection at that time. The request may be sent on a later one. */
  readonly on: Connection | undefined
}

/** What the first lists show, and the nodes. */
type Looks = ReadonlyMap<Line, Look<Grant>>

export class Contender {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #options: ContenderOptions
  readonly #lines: readonly Line[]
  readonly #create: ProtectedCreate
  readonly #pinned: ReturnType<typeof pinnedTo>
  #entering: Promise<OwnNodes | undefined> | undefined
  #nodes: OwnNodes | undefined
  /** Of several nodes, while it waits. */
  #ownWatches: readonly OwnNodeWatch[] = []
  #wait: TaskWait | undefined
  #deadlocked: ((error: unknown) => void) | undefined
  #leaving: Promise<void> | undefined

  constructor(entries: Entries, options: ContenderOptions) {
    const { zk } = entries[0].queue
    const { session } = zk
    const { remembersAhead, acl, detection } = options
    const uuid = zk.runtime.uuid()
    this.#zk = zk
    this.session = session
    this.#options = options
    this.#pinned = pinnedTo(session)
    const onQueued: ContenderOptions['onQueued'] =
      detection === undefined
        ? options.onQueued
        : (ahead) => {
            this.#beginWait()
            options.onQueued(ahead)
          }
    const ofLine = { remembersAhead, onQueued, throwIfLeaving: () => this.#throwIfLeaving() }
    this.#lines = entries.map((entry) => new Line(entry, session, ofLine))
    const marks = detection && entries.map(({ queue, role: { kind } }) => markOf(zk, queue.path, { kind, uuid }))
    const plans = entries.map(({ queue, role: { kind } }, index) => ({
      queue,
      kind,
      data: marks === undefined ? options.data : withMarks(options.data, marksBeside(marks, index)),
    }))
    this.#create = new ProtectedCreate(session, uuid, plans, acl)
  }

  /**
   * The paths of the contenders ahead in the last lists that have not left since, oldest first in each queue; undefined before
   * the first list, or if not remembered.
   */
  get ahead(): readonly string[] | undefined {
    const known = this.#lines.map(({ ahead }) => ahead).filter((ahead) => ahead !== undefined)
    return known.length === 0 ? undefined : known.flat()
  }

  /** A blocker, the oldest of its queue; undefined before its node was read, and after a blocker has left. */
  get blocker(): ContenderInfo | undefined {
    return this.#lines.map(({ blocker }) => blocker).find((blocker) => blocker !== undefined)
  }

  /**
   * Creates the nodes and reads the lists. If there is no blocker, the contender is granted. Otherwise it watches the blockers
   * until one is gone, and reads the list again.
   */
  compete(): Promise<Grant> {
    return this.#options.detection === undefined ? this.#compete() : this.#unlessDeadlock(this.#compete())
  }

  #compete(): Promise<Grant> {
    const [line, other] = this.#lines
    if (other !== undefined) return this.#competeInAll()
    return line!.reachFront(
      this.#enter(),
      () => this.#lookAndConfirm(line!),
      ({ grant }) => grant ?? this.confirm(),
    )
  }

  /** As `compete`, in the only queue, without any committed check: what follows must fail if the node is gone. */
  reachFront(): Promise<Front<Grant>> {
    return this.#lines[0]!.reachFront(
      this.#enter(),
      (line) => this.#look(line),
      (front) => front,
    )
  }

  /** Creates the nodes and reads each list once, without waiting. The result is undefined if there is a blocker. */
  async competeOnce(): Promise<Grant | undefined> {
    const fronts = await this.#enterFirst()
    return fronts && (grantOf(fronts) ?? (await this.confirm()))
  }

  /** As `competeOnce`, in the only queue, without the committed check at the end. */
  async enterFirst(): Promise<OwnNode | undefined> {
    return (await this.#enterFirst()) && this.#nodes![0]
  }

  /** Sends the sync that `competeOnce` needs, so that it is answered earlier. */
  prepare(): void {
    if (this.#known() === undefined) this.#synced().catch(() => {})
  }

  /** Deletes the nodes. Goes on in the background until that is confirmed or the session has ended. Idempotent. */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      // `detach` must wait: otherwise a session that is resumed later would still have the node.
      this.session.waitUntil(this.#leaving)
    }
    return this.#leaving
  }

  /** Deletes the nodes of creates that were executed after all. `leave` does it, too. */
  deleteLate(): Promise<void> {
    return this.#create.deleteLate()
  }

  /**
   * Sends a check of the nodes that is committed: at that time they exist, and so does our session. `first` is what was known
   * when the check is sent for the first time.
   */
  async confirm(first?: Asking): Promise<Grant> {
    const zk = this.#zk
    const nodes = this.#nodes!
    let asking: Asking | undefined
    const check = async () => {
      asking = (asking === undefined ? first : undefined) ?? this.#known() ?? (await this.#synced())
      return await zk.multi(checksOf(nodes), this.#pinned)
    }
    await retry(zk, check).catch(vanishedIfMissing)
    return this.#granted(nodes, asking!)
  }

  /** Creates the nodes and reads the lists, in one segment. */
  async #enter(): Promise<Looks> {
    const asking = this.#known() ?? (await this.#synced())
    this.#throwIfLeaving()
    this.#entering = this.#create.make()
    // The lists are read after the create on the same connection, so they show our nodes and all older ones.
    const listings = this.#lines.map((line) => line.list())
    for (const listing of listings) listing.catch(() => {})
    const nodes = await this.#entering
    if (nodes === undefined) return this.#vanished()
    this.#nodes = nodes
    // Not by `Promise.all`: all are under way, and with one queue each turn of microtasks may put the next request into a
    // segment of its own.
    const lists: ContenderList[] = []
    let areFirst = true
    for (const [index, line] of this.#lines.entries()) {
      const { name } = nodes[index]!
      line.queue.tellExhausted(name)
      const first = await listings[index]!.catch(() => undefined)
      const isShown = first !== undefined && first.shows(name)
      areFirst &&= isShown
      lists.push(isShown ? first : await line.listAgain())
    }
    // If create and lists were sent on the same connection as the sync, the create itself is the committed request.
    const isUnbroken = areFirst && asking.on !== undefined && asking.on === this.session.connection
    const grant = isUnbroken ? this.#granted(nodes, asking) : undefined
    const looks = new Map<Line, Look<Grant>>()
    for (const [index, line] of this.#lines.entries()) {
      looks.set(line, { ahead: await line.join(nodes[index]!, lists[index]!), grant })
    }
    return looks
  }

  async #enterFirst(): Promise<readonly Look<Grant>[] | undefined> {
    const looks = [...(await this.#enter())]
    return looks.some(([line, { ahead }]) => line.isBlocked(ahead)) ? undefined : looks.map(([, look]) => look)
  }

  /**
   * Waits in all queues at the same time. If nothing blocks in one any more, nothing will: all that come are behind our node. One
   * of its nodes may be deleted while it waits in another queue. It must not stand in the way with the rest, so it watches them.
   */
  async #competeInAll(): Promise<Grant> {
    const entering = this.#enter()
    const reach = (line: Line) =>
      line.reachFront(
        entering,
        (each) => this.#look(each),
        (front) => front,
      )
    const reaching = Promise.all(this.#lines.map(reach))
    reaching.catch(() => {})
    const isBlocked = [...(await entering)].some(([line, { ahead }]) => line.isBlocked(ahead))
    const fronts = await (isBlocked ? this.#whileAllExist(reaching) : reaching)
    return grantOf(fronts) ?? (await this.confirm())
  }

  async #whileAllExist<T>(waiting: Promise<T>): Promise<T> {
    const gone = new Promise<never>((_, reject) => this.#watchOwn(reject))
    try {
      return await Promise.race([waiting, gone])
    } finally {
      this.#unwatchOwn()
    }
  }

  #watchOwn(failed: (error: unknown) => void): void {
    if (this.#ownWatches.length > 0 || this.#leaving !== undefined) return
    const vanished = () => failed(new NodeVanished())
    this.#ownWatches = this.#nodes!.map(({ path }) => new OwnNodeWatch(this.#zk, this.session, path, vanished))
  }

  #unwatchOwn(): void {
    for (const each of this.#ownWatches) each.stop()
  }

  // --- with `detectDeadlocks` -----------------------------------------------------------------------------------

  /** Rejects also when the wait would never end. */
  async #unlessDeadlock(competing: Promise<Grant>): Promise<Grant> {
    const deadlock = new Promise<never>((_, reject) => {
      this.#deadlocked = reject
    })
    try {
      return await Promise.race([competing, deadlock])
    } finally {
      this.#endWait()
      this.#unwatchOwn()
    }
  }

  #beginWait(): void {
    const { detection } = this.#options
    if (detection === undefined || this.#wait !== undefined || this.#deadlocked === undefined) return
    const path = this.#lines.map(({ queue }) => queue.recipePath).join(', ')
    const failed = this.#deadlocked
    const watchOwn = () => this.#watchOwn(failed)
    this.#wait = { zk: this.#zk, path, nodes: this.#nodes!, label: detection.label, watchOwn, failed }
    Task.of(this.session, detection).begins(this.#wait)
  }

  #endWait(): void {
    if (this.#wait !== undefined) Task.of(this.session, this.#options.detection!).ended(this.#wait)
  }

  async #look(line: Line): Promise<Look<Grant>> {
    return { ahead: await line.look(), grant: undefined }
  }

  /**
   * After a wake-up reads the list and checks the own node, in one segment: other contenders may still be ahead, and our own
   * node may be gone. The check is sent after the list, because it must prove what the list shows. If the list had to be read
   * again after the check, there is no grant yet.
   */
  async #lookAndConfirm(line: Line): Promise<Look<Grant>> {
    const asking = this.#known() ?? (await this.#synced())
    let looks = 0
    const look = () => {
      looks++
      return line.list()
    }
    const looking = retry(this.#zk, look).catch(vanishedIfMissing)
    looking.catch(() => {})
    const grant = await this.confirm(asking)
    const ahead = line.aheadIn(await looking)
    return { ahead, grant: looks === 1 ? grant : undefined }
  }

  #granted(nodes: OwnNodes, { touch }: Asking): Grant {
    return { nodes, touch: touch?.connection === this.session.connection ? touch : undefined }
  }

  /** What is known now for a request that must be committed; undefined if a sync must be answered first, for a lease. */
  #known(): Asking | undefined {
    const touch = knownTouch(this.#zk, this.session, this.#options)
    return touch === undefined && isLeased(this.#options) ? undefined : { touch, on: this.session.connection }
  }

  async #synced(): Promise<Asking> {
    const followerRelayDelay = followerRelayDelayOf(this.#options, this.session)
    const touch = await Relay.of(this.session).sync(this.#zk, followerRelayDelay)
    return { touch, on: touch.connection }
  }

  #throwIfLeaving(): void {
    if (this.#leaving !== undefined) this.#vanished()
  }

  #vanished(): never {
    this.session.detaching.throwIfAborted()
    throw new NodeVanished()
  }

  async #remove(): Promise<void> {
    this.#create.cancel()
    this.#endWait()
    this.#unwatchOwn()
    for (const line of this.#lines) line.leave()
    // If the nodes are known, there is no `await` here: calls that are made later come after the delete.
    const nodes = this.#nodes ?? (await this.#entering?.catch(() => undefined))
    if (nodes === undefined) return
    const placed = nodes.map(({ path }, index) => ({ folder: this.#lines[index]!.queue, path }))
    await deleteAll(this.#zk, this.session, placed)
    await this.deleteLate()
  }
}

/** The grant if no queue had a blocker. */
function grantOf(looks: readonly Pick<Look<Grant>, 'grant'>[]): Grant | undefined {
  return looks.every(({ grant }) => grant !== undefined) ? looks[0]!.grant : undefined
}

function checksOf(nodes: OwnNodes): Op<void>[] {
  return nodes.map(({ path }) => op.check(path))
}
