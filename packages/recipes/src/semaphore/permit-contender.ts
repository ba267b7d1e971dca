// A contender that waits for permits. It queues below `locks`, in Curator's mutex. When it is first it waits until `leases` has
// room, and takes its permits with one transaction:
//
//     delete   its own node in `locks`
//     check    the version of the stored number of permits
//     create   one node in `leases` for each permit
//
// No grant exceeds the number that is stored when it is committed:
//
// 1. Only the first in `locks` adds to `leases`: a contender of this library does so in the transaction that deletes its node, a
//    Curator contender while it has the mutex. So when the last one before us had left `locks`, all before us had added their nodes.
// 2. We list `leases` after a read that shows that the last one has left. A session never reads an older state after a newer one,
//    so this list has all of them. An event alone is not enough: another connection may lead to a server that has not seen it
//    yet, and the list of that server may lack the leases of those before us. Then we wait for a commit, and list again.
// 3. After this list no other contender adds while our node exists. The transaction fails if our node does not exist. So there
//    are at most as many nodes as in our list, however old the list is. The check fails if the stored number has changed since
//    we compared it with the list.
//
// A transaction without an answer was executed if `leases` shows nodes with our uuid. It cannot be executed twice, nor after our
// node in `locks` is gone.
import { type CallOptions, KeeperError, op, type Session, type Watched, type ZooKeeper } from '@zk/client'
import { Contender, type ContenderOptions } from '../queue/contender.ts'
import type { Grant } from '../queue/grant-proof.ts'
import { inCleanupSession } from '../kernel/cleanup-session.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import type { ContenderName } from '../queue/names.ts'
import { NodeVanished, throwVanished } from '../kernel/sessions.ts'
import { ContenderNode, type ContenderNodes } from '../queue/contender-node.ts'
import { deleteAll } from '../kernel/owned-node.ts'
import { ownerLeaves } from '../queue/owners.ts'
import type { BlockerInfo, Entry, WaitListener } from '../queue/queue-position.ts'
import type { ContenderInfo, Queue } from '../queue/queue.ts'
import type { Competitor } from '../held/queue-lock.ts'
import { pinnedTo, retry, throwUnlessTransient } from '../kernel/retry.ts'
import { type RelayedTouch, touchFor } from '../lease/relay.ts'
import type { Leases } from './leases.ts'
import type { Permits, StoredPermits } from './stored-permits.ts'
import { awaitedLater, unwatch } from '../kernel/promises.ts'

/** One reading of `leases` and of the stored number. */
interface PermitsReading {
  readonly names: readonly string[]
  readonly permits: Permits | undefined
}

/** What the first in line sees. */
interface View extends Permits {
  /** The nodes in `leases`. */
  readonly names: readonly string[]
  readonly touch: RelayedTouch | undefined
}

export interface Wanted {
  readonly leases: Leases
  readonly stored: StoredPermits
  /** How many permits. */
  readonly count: number
}

export class PermitContender implements Competitor {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #queue: Queue
  readonly #wanted: Wanted
  readonly #leases: Leases
  readonly #stored: StoredPermits
  readonly #options: ContenderOptions
  readonly #listener: WaitListener
  readonly #contender: Contender
  readonly #pinned: ReturnType<typeof pinnedTo>
  /** What was read with the last create: see `Contender.enter`. */
  #early: Promise<PermitsReading> | undefined
  /** The blocker that reads may still show: see `QueueHead.last`. */
  #last: ContenderName | undefined
  /** The uuid of nodes in `leases` that a transaction may have created. */
  #uuid: string | undefined
  #nodes: ContenderNodes | undefined
  readonly #watches = new Set<Watched>()
  /** The nodes in `leases` when there was no room; `#holder` is the holder of one of them. */
  #holders: readonly string[] | undefined
  #holder: ContenderInfo | undefined
  #leaving: Promise<void> | undefined

  constructor(entry: Entry, options: ContenderOptions, listener: WaitListener, wanted: Wanted) {
    this.#zk = entry.queue.zk
    this.#queue = entry.queue
    this.#wanted = wanted
    this.#leases = wanted.leases
    this.#stored = wanted.stored
    this.#options = options
    this.#listener = listener
    this.#contender = new Contender([entry], options, listener)
    this.session = this.#contender.session
    this.#pinned = pinnedTo(this.session)
  }

  /** The contenders that wait before it; for the first in line, the holders of permits. */
  get ahead(): readonly string[] | undefined {
    return this.#holders ?? this.#contender.ahead
  }

  get blocker(): BlockerInfo | undefined {
    return this.#holder ?? this.#contender.blocker
  }

  prepare(): void {
    this.#contender.prepare()
  }

  async compete(): Promise<Grant> {
    const entering = this.#enter()
    const reaching = awaitedLater(this.#contender.reachFront(entering))
    await this.#agree(await entering)
    const { node, last, grant } = await reaching
    this.#last = last
    // The early view does not show the permits of contenders that were ahead.
    if (grant === undefined) this.#early = undefined
    for (;;) {
      const grant = await this.#takeIfFree(node)
      if (grant !== undefined) return grant
      await this.#untilChanged(node)
    }
  }

  async competeOnce(): Promise<Grant | undefined> {
    const entered = await this.#enter()
    await this.#agree(entered)
    if (entered === undefined) this.#early = undefined
    return this.#contender.isBlocked ? undefined : await this.#takeIfFree(this.#contender.nodes[0])
  }

  /** Enters the queue, and reads in the same segment what the decision depends on. */
  #enter(): Promise<Grant | undefined> {
    return this.#contender.enter(() => {
      this.#early = awaitedLater(this.#read())
    })
  }

  /** Compares the stored number with the expected one. `entered` is the result of `enter`. */
  async #agree(entered: Grant | undefined): Promise<void> {
    if (this.#stored.followsStored) return
    const { count } = this.#wanted
    // The first create may have found no folder, and the number may not have been stored in time.
    const permits = entered && (await this.#early)?.permits
    const isAccepted = permits !== undefined && this.#stored.accepts(permits, count)
    checkRoom(this.#wanted, (isAccepted ? permits : await this.#storedNumber()).permits)
  }

  /** Deletes its nodes, in the background until that is confirmed: see `OwnedNode.delete`. Idempotent. */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      ownerLeaves(this, this.#leaving)
    }
    return this.#leaving
  }

  // --- the first in line ----------------------------------------------------------------------------------------

  /** The result is undefined if there is no room. */
  async #takeIfFree(node: ContenderNode): Promise<Grant | undefined> {
    for (;;) {
      const view = await this.#look()
      if (this.#ownIn(node, view.names).length > 0) return await this.#found(node, view.names)
      checkRoom(this.#wanted, view.permits)
      if (!hasRoom(this.#wanted, view.names, view.permits)) return undefined
      const grant = await this.#take(node, view)
      if (grant !== undefined) return grant
    }
  }

  /** Reads what the decision depends on. The list is sure to have the permits of all contenders before this one. */
  async #look(): Promise<View> {
    for (;;) {
      const last = this.#last
      this.#last = undefined
      const early = this.#early
      this.#early = undefined
      const [isGone, { names, permits }, touch] = await Promise.all([
        last === undefined || this.#isGone(last),
        early ?? this.#read(),
        touchFor(this.#zk, this.session, this.#options),
      ])
      if (isGone) return { names, touch, ...(permits ?? (await this.#storedNumber())) }
      // This server lags behind the one that sent the event. After a commit, all reads are later than that event.
      await this.#contender.confirm()
    }
  }

  async #read(): Promise<PermitsReading> {
    const [names, permits] = await Promise.all([this.#leases.list(this.#pinned), this.#stored.read(this.#pinned)])
    return { names, permits }
  }

  /** A contender that leaves stores no number any more. */
  #storedNumber(): Promise<Permits> {
    return this.#stored.agree(this.session, this.#wanted.count, () => this.#throwIfLeaving())
  }

  /** Whether a read shows that the contender is gone. The read is not repeated: the list must come after it. */
  async #isGone({ name }: ContenderName): Promise<boolean> {
    const reading = this.#zk.exists(this.#queue.pathOf(name), this.#pinned)
    return await reading.then(
      (stat) => stat === undefined,
      () => false,
    )
  }

  /** undefined if the permits were not taken, or if that is not known: then the caller must look again. */
  async #take(node: ContenderNode, { names: taken, version, touch }: View): Promise<Grant | undefined> {
    this.#throwIfLeaving()
    const { data, acl } = this.#options
    const { uuid } = node.name
    const names = this.#leases.free(taken, this.#wanted.count).map((permit) => this.#leases.nameOf(uuid, permit))
    const creates = names.map(({ name }) => op.create(this.#leases.pathOf(name), data, { mode: 'EPHEMERAL', acl }))
    const ops = [op.delete(node.path), op.check(this.#stored.path, { version }), ...creates]
    this.#uuid = uuid
    try {
      const taking = this.#zk.multi(ops, this.#pinned)
      // A create in a transaction is answered without a Stat. So this reads it, in the same segment.
      const reading = awaitedLater(this.#leases.own(names.slice(0, 1), this.session))
      await taking
      const [first] = await reading
      if (first === undefined) throw new NodeVanished()
      const { czxid } = first
      const nodes = names.map((name) => new ContenderNode(this.#leases, this.session, name, czxid))
      return this.#granted(nodes, touch)
    } catch (error) {
      return await this.#afterFailure(node, error)
    }
  }

  async #afterFailure(node: ContenderNode, error: unknown): Promise<Grant | undefined> {
    if (!KeeperError.is(error, 'NoNode', 'BadVersion', 'NodeExists')) {
      await throwUnlessTransient(this.#zk, error)
    } else if (error.code === 'NoNode' && error.index === 0) {
      // Our node in `locks` is gone: an earlier transaction without an answer deleted it, or another client did.
      return await this.#found(node, await this.#leases.list(this.#pinned))
    } else if (error.code === 'NoNode' && error.index! > 1) {
      // Servers delete the folder when it is empty, and also the one above it.
      const making = (options: CallOptions) =>
        retry(this.#zk, () => this.#zk.ensureContainer(this.#leases.path, { ...options, acl: this.#options.acl }))
      await ifMissing(making, this.#pinned, undefined)
    }
    return undefined
  }

  /** The grant from a transaction without an answer. */
  async #found(node: ContenderNode, names: readonly string[]): Promise<Grant> {
    const nodes = await this.#leases.own(this.#ownIn(node, names), this.session)
    if (nodes.length < this.#wanted.count) throw new NodeVanished()
    return this.#granted(nodes, undefined)
  }

  #granted(nodes: readonly ContenderNode[], touch: RelayedTouch | undefined): Grant {
    this.#throwIfLeaving()
    this.#nodes = nodes as unknown as ContenderNodes
    return { nodes: this.#nodes, touch: touch?.connection === this.session.connection ? touch : undefined }
  }

  /** Waits for a change to the leases or to the stored number, unless there is room already. */
  async #untilChanged(node: ContenderNode): Promise<void> {
    const [list, data] = await Promise.all([
      this.#watching((options) => this.#zk.getChildrenAndWatch(this.#leases.path, options)),
      this.#watching((options) => this.#zk.getDataAndWatch(this.#stored.path, options)),
    ])
    this.#throwIfLeaving()
    const permits = data && this.#stored.parse(data)?.permits
    const names = list?.children ?? []
    // The number may have changed since the look. Then no event reports it.
    if (permits !== undefined) checkRoom(this.#wanted, permits)
    const mustWait =
      permits !== undefined && !hasRoom(this.#wanted, names, permits) && this.#ownIn(node, names).length === 0
    if (mustWait) {
      this.#waitsFor(names)
      const event = await Promise.race([...this.#watches].map(({ changed }) => changed))
      if (event.type === 'SessionEnded') throw this.session.signal.reason
      this.#holder = undefined
      this.#throwIfLeaving()
    }
    this.#unwatch()
  }

  #waitsFor(names: readonly string[]): void {
    const holders = names.map((name) => this.#leases.pathOf(name))
    this.#holders = holders
    this.#listener.queued(() => holders)
    if (!this.#listener.mayTimeOut) return
    const reading = this.#leases.holder(names[0]!, this.#pinned)
    const known = (holder: ContenderInfo | undefined) => {
      if (this.#holders !== holders) return
      this.#holder = holder
      this.#listener.blocked()
    }
    reading.then(known, () => known(undefined))
  }

  /** undefined if the node does not exist. */
  async #watching<W extends Watched>(call: (options: CallOptions) => Promise<W>): Promise<W | undefined> {
    const watch = await ifMissing((options) => retry(this.#zk, () => call(options)), this.#pinned, undefined)
    if (watch !== undefined) this.#watches.add(watch)
    if (this.#leaving !== undefined) this.#unwatch()
    return watch
  }

  #ownIn({ name: { uuid } }: ContenderNode, names: readonly string[]): ContenderName[] {
    return this.#leases.ofContender(uuid, names)
  }

  // --- leaving --------------------------------------------------------------------------------------------------

  #throwIfLeaving(): void {
    if (this.#leaving !== undefined) throwVanished(this.session)
  }

  async #remove(): Promise<void> {
    this.#unwatch()
    if (this.#nodes !== undefined) {
      await deleteAll(this.#nodes)
      return await this.#contender.deleteLate()
    }
    // Without this node no transaction of ours can be executed any more. So all our nodes in `leases` already exist.
    await this.#contender.leave()
    const nodes = this.#uuid === undefined ? [] : await this.#made(this.#uuid)
    await deleteAll(nodes)
  }

  /** Empty if the nodes have gone with the session. */
  async #made(uuid: string): Promise<ContenderNode[]> {
    const made = await inCleanupSession(this.#zk, this.session, async (current) => {
      const names = await this.#leases.list(pinnedTo(current))
      return await this.#leases.own(this.#leases.ofContender(uuid, names), this.session, current)
    })
    return made ?? []
  }

  #unwatch(): void {
    for (const watch of this.#watches) unwatch(watch)
    this.#watches.clear()
  }
}

export function hasRoom({ count }: Wanted, names: readonly string[], permits: number): boolean {
  return names.length + count <= permits
}

/** Rejects a count that would never be free: this contender and all later ones would wait forever. */
export function checkRoom({ stored, count }: Wanted, permits: number): void {
  if (count > permits) throw new RangeError(`count is ${count}, and ${stored.path} has only ${permits} permits`)
}
