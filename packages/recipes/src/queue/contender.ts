// One contender: ephemeral sequential znodes of one session, one in each queue, from their creation to their removal. A lock has
// one queue.
import { type Connection, type Op, op, type Session, type ZooKeeper } from '@zk/client'
import { throwIfAborted } from '@zk/client/internal'
import { type HoldOptions, isLeased, followerRelayDelayOf } from '../lease/hold-options.ts'
import { knownTouch, Relay, type RelayedTouch } from '../lease/relay.ts'
import { type Entry, type QueueHead, QueuePosition, type ListReading } from './queue-position.ts'
import { NodeVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import { OwnNodesWatch } from './own-nodes-watch.ts'
import { ownerLeaves } from './owners.ts'
import type { ContenderNode, ContenderNodes } from './contender-node.ts'
import { deleteAll } from '../kernel/owned-node.ts'
import { type NodeOptions, ProtectedCreate } from './protected-create.ts'
import type { ContenderInfo } from './queue.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import { awaitedLater, unawaited } from '../kernel/promises.ts'

/** The queues of a contender. */
export type Entries = readonly [Entry, ...Entry[]]

export interface ContenderOptions extends NodeOptions, HoldOptions {
  /** Whether `ahead` must be known during the wait. */
  readonly remembersAhead: boolean
  /** Called whenever the contender must wait in a queue. `ahead` makes the paths of the contenders ahead, oldest first. */
  readonly onQueued: (ahead: () => readonly string[]) => void
  /** Called when it is known which contender must leave first. */
  readonly onBlocked: () => void
}

/** The result when no blocker is left and a committed request has proven it. */
export interface Grant {
  readonly nodes: ContenderNodes
  /**
   * The touch from which the lease is counted. The committed request was sent after this touch, on the same connection.
   * undefined if no such touch is known, or if there is no lease.
   */
  readonly touch: RelayedTouch | undefined
}

/** A touch and a connection, noted before a request is sent that must be committed. */
interface ProofStart {
  /** A touch for its lease; undefined if there is no lease. */
  readonly touch: RelayedTouch | undefined
  /** The connection at that time. The request may be sent on a later one. */
  readonly connection: Connection | undefined
}

export class Contender {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #options: ContenderOptions
  readonly #positions: readonly QueuePosition[]
  readonly #create: ProtectedCreate
  readonly #pinned: ReturnType<typeof pinnedTo>
  #entering: Promise<ContenderNodes | undefined> | undefined
  #nodes: ContenderNodes | undefined
  /** While it waits in several queues. */
  #ownWatch: OwnNodesWatch | undefined
  #leaving: Promise<void> | undefined

  constructor(entries: Entries, options: ContenderOptions) {
    const { zk } = entries[0].queue
    const { session } = zk
    const { remembersAhead, onQueued, onBlocked, data, acl } = options
    this.#zk = zk
    this.session = session
    this.#options = options
    this.#pinned = pinnedTo(session)
    const ofPosition = { remembersAhead, onQueued, onBlocked, throwIfLeaving: () => this.#throwIfLeaving() }
    this.#positions = entries.map((entry) => new QueuePosition(entry, session, ofPosition))
    const plans = entries.map(({ queue, role: { kind } }) => ({ queue, kind, data }))
    this.#create = new ProtectedCreate(session, zk.runtime.uuid(), plans, acl)
  }

  /**
   * The contenders that were ahead in the last lists and have not left since: their paths, oldest first in each queue;
   * undefined before the first list, or if not remembered.
   */
  get ahead(): readonly string[] | undefined {
    const known = this.#positions.map(({ ahead }) => ahead).filter((ahead) => ahead !== undefined)
    return known.length === 0 ? undefined : known.flat()
  }

  /** The oldest blocker in the first queue that has one; undefined until its node was read, and after a blocker has left. */
  get blocker(): ContenderInfo | undefined {
    return this.#positions.map(({ blocker }) => blocker).find((blocker) => blocker !== undefined)
  }

  /**
   * Creates the nodes and reads the lists. If there is no blocker, the contender is granted. Otherwise it watches the blockers
   * until one is gone, and reads the list again.
   */
  compete(): Promise<Grant> {
    const [position, other] = this.#positions
    if (other !== undefined) return this.#competeInAll()
    return position!.reachFront(
      this.#enter(),
      () => this.#lookAndConfirm(position!),
      ({ grant }) => grant ?? this.confirm(),
    )
  }

  /**
   * Like `compete`, for a contender with one queue. No committed check is made, so the caller's next request must fail if the
   * node is gone.
   */
  reachFront(): Promise<QueueHead<Grant>> {
    return this.#positions[0]!.reachFront(
      this.#enter(),
      (position) => this.#look(position),
      (front) => front,
    )
  }

  /** Creates the nodes and reads each list once, without waiting. The result is undefined if there is a blocker. */
  async competeOnce(): Promise<Grant | undefined> {
    const grant = await this.#enter()
    return this.#isBlocked ? undefined : (grant ?? (await this.confirm()))
  }

  /** Like `competeOnce`, for a contender with one queue. No committed check is made at the end. */
  async enterIfFront(): Promise<ContenderNode | undefined> {
    await this.#enter()
    return this.#isBlocked ? undefined : this.#nodes![0]
  }

  /** Sends the sync that `competeOnce` needs, so that it is answered earlier. */
  prepare(): void {
    if (this.#notedNow() === undefined) unawaited(this.#synced())
  }

  /**
   * Deletes the nodes. Resolves when that is confirmed, or when a server has ended the session: see `OwnedNode.delete`. If a server refuses, it rejects and goes
   * on in the background. Idempotent.
   */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      // `detach` must wait: otherwise a session that is resumed later would still have the node.
      ownerLeaves(this, this.#leaving)
    }
    return this.#leaving
  }

  /** Deletes the nodes of creates that were executed late: after the search for them had found nothing. `leave` does it, too. */
  deleteLate(): Promise<void> {
    return this.#create.deleteLate()
  }

  /**
   * Sends a committed check of the nodes. It proves that they and our session exist at that time. `first` is what was noted
   * before the check is sent for the first time.
   */
  async confirm(first?: ProofStart): Promise<Grant> {
    const zk = this.#zk
    const nodes = this.#nodes!
    let noted: ProofStart | undefined
    const check = async () => {
      noted = (noted === undefined ? first : undefined) ?? this.#notedNow() ?? (await this.#synced())
      return await zk.multi(checksOf(nodes), this.#pinned)
    }
    await retry(zk, check).catch(vanishedIfMissing)
    return this.#granted(nodes, noted!)
  }

  /**
   * Creates the nodes and reads the lists, in one segment. The result is the grant for the case that there is no blocker; undefined
   * if `confirm` must follow.
   */
  async #enter(): Promise<Grant | undefined> {
    const noted = this.#notedNow() ?? (await this.#synced())
    this.#throwIfLeaving()
    this.#entering = this.#create.make()
    // The lists are read after the create on the same connection, so they show our nodes and all older ones. If the create is
    // repeated, they come before the second one, and `join` reads again.
    for (const position of this.#positions) position.listEarly()
    const nodes = await this.#entering
    if (nodes === undefined) return this.#vanished()
    this.#nodes = nodes
    let areAllShown = true
    // `Promise.all` is not used: it takes one more microtask turn, and then the next request may leave in a segment of its own.
    // All lists are already under way.
    for (let index = 0; index < nodes.length; index++) {
      const isShown = await this.#positions[index]!.join(nodes[index]!, this.#create.isRepeated)
      areAllShown &&= isShown
    }
    // If create and lists were sent on the connection of `noted`, as the touch was, the create itself is the committed request.
    const isUnbroken = areAllShown && noted.connection !== undefined && noted.connection === this.session.connection
    return isUnbroken ? this.#granted(nodes, noted) : undefined
  }

  get #isBlocked(): boolean {
    return this.#positions.some(({ isNext }) => !isNext)
  }

  /**
   * Waits in all queues at the same time. If a queue has no blocker, none can come: new contenders are behind our node. While
   * the contender waits, one of its nodes may be deleted. Its other nodes would then block others for nothing. So it watches all
   * its nodes.
   */
  async #competeInAll(): Promise<Grant> {
    const entering = this.#enter()
    const reach = (position: QueuePosition) =>
      position.reachFront(
        entering,
        (each) => this.#look(each),
        (front) => front,
      )
    const reaching = awaitedLater(Promise.all(this.#positions.map(reach)))
    await entering
    const fronts = await (this.#isBlocked ? this.#whileAllExist(reaching) : reaching)
    return grantOf(fronts) ?? (await this.confirm())
  }

  async #whileAllExist<T>(waiting: Promise<T>): Promise<T> {
    const paths = this.#nodes!.map(({ path }) => path)
    const gone = new Promise<never>((_, reject) => {
      this.#ownWatch = new OwnNodesWatch(this.#zk, this.session, paths, () => reject(new NodeVanished()))
    })
    try {
      return await Promise.race([waiting, gone])
    } finally {
      this.#ownWatch!.stop()
    }
  }

  async #look(position: QueuePosition): Promise<ListReading<Grant>> {
    return { ahead: await position.look(), grant: undefined }
  }

  /**
   * After a wake-up the contender reads the list and checks its own node, in one segment: other contenders may still be ahead,
   * and its own node may be gone. The check is sent after the list, because it must prove what the list shows. If the list had
   * to be read again after the check, there is no grant yet.
   */
  async #lookAndConfirm(position: QueuePosition): Promise<ListReading<Grant>> {
    const noted = this.#notedNow() ?? (await this.#synced())
    let looks = 0
    const look = () => {
      looks++
      return position.list()
    }
    const looking = awaitedLater(retry(this.#zk, look).catch(vanishedIfMissing))
    const grant = await this.confirm(noted)
    const ahead = position.aheadIn(await looking)
    return { ahead, grant: looks === 1 ? grant : undefined }
  }

  #granted(nodes: ContenderNodes, { touch }: ProofStart): Grant {
    return { nodes, touch: touch?.connection === this.session.connection ? touch : undefined }
  }

  /** What is noted for a committed request that is sent now; undefined if a lease needs a touch that only a sync can give. */
  #notedNow(): ProofStart | undefined {
    const touch = knownTouch(this.#zk, this.session, this.#options)
    return touch === undefined && isLeased(this.#options) ? undefined : { touch, connection: this.session.connection }
  }

  async #synced(): Promise<ProofStart> {
    const followerRelayDelay = followerRelayDelayOf(this.#options, this.session)
    const touch = await Relay.of(this.session).sync(this.#zk, followerRelayDelay)
    return { touch, connection: touch.connection }
  }

  #throwIfLeaving(): void {
    if (this.#leaving !== undefined) this.#vanished()
  }

  #vanished(): never {
    throwIfAborted(this.session.signal)
    throwIfAborted(this.session.detaching)
    throw new NodeVanished()
  }

  async #remove(): Promise<void> {
    this.#create.cancel()
    this.#ownWatch?.stop()
    for (const position of this.#positions) position.leave()
    // If the nodes are known, there is no `await` here: calls that are made later come after the delete.
    const nodes = this.#nodes ?? (await this.#entering?.catch(() => undefined))
    // Without nodes no create was left unanswered, or `make` has looked for its nodes behind a committed request and found none.
    // If the servers refused that search, they would refuse another one, too. So `deleteLate` is not needed, unless the search
    // ended with the session.
    if (nodes === undefined) return this.session.signal.aborted ? await this.deleteLate() : undefined
    try {
      await deleteAll(nodes)
    } finally {
      if (this.#create.mayBeExecutedLate) await this.deleteLate()
    }
  }
}

/** The grant, if each look has one already, otherwise undefined: then `confirm` must follow. */
function grantOf(looks: readonly Pick<ListReading<Grant>, 'grant'>[]): Grant | undefined {
  return looks.every(({ grant }) => grant !== undefined) ? looks[0]!.grant : undefined
}

function checksOf(nodes: ContenderNodes): Op<void>[] {
  return nodes.map(({ path }) => op.check(path))
}
