// One contender: ephemeral sequential znodes of one session, one in each queue, from their creation to their removal. A lock has
// one queue. This file has the order of events; each part has a class of its own: `ProtectedNodes` owns the nodes, `QueuePosition`
// waits in one queue, and `GrantProof` proves the grant.
import type { Session, ZooKeeper } from '@zk/client'
import type { HoldOptions } from '../lease/hold-options.ts'
import { type Grant, GrantProof } from './grant-proof.ts'
import {
  type BlockerInfo,
  type Entry,
  type ListReading,
  type QueueHead,
  QueuePosition,
  type WaitListener,
} from './queue-position.ts'
import { NodeVanished, throwVanished, vanishedIfMissing } from '../kernel/sessions.ts'
import { OwnNodesWatch } from './own-nodes-watch.ts'
import { ownerLeaves } from './owners.ts'
import type { ContenderNodes } from './contender-node.ts'
import { type NodeOptions, ProtectedNodes } from './protected-nodes.ts'
import { retry } from '../kernel/retry.ts'
import { awaitedLater } from '../kernel/promises.ts'

/** The queues of a contender. */
export type Entries = readonly [Entry, ...Entry[]]

export interface ContenderOptions extends NodeOptions, HoldOptions {}

export class Contender {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #positions: readonly QueuePosition[]
  readonly #own: ProtectedNodes
  readonly #proof: GrantProof
  /** While it waits in several queues. */
  #ownWatch: OwnNodesWatch | undefined
  #leaving: Promise<void> | undefined

  constructor(entries: Entries, options: ContenderOptions, listener: WaitListener) {
    const { zk } = entries[0].queue
    const { session } = zk
    const { data, acl } = options
    this.#zk = zk
    this.session = session
    this.#proof = new GrantProof(zk, session, options)
    this.#positions = entries.map((entry) => new QueuePosition(entry, session, listener))
    const plans = entries.map(({ queue, role: { kind } }) => ({ queue, kind, data }))
    this.#own = new ProtectedNodes(session, zk.runtime.uuid(), plans, acl)
  }

  /**
   * The contenders that were ahead in the last lists and have not left since: their paths, oldest first in each queue;
   * undefined before the first list, or if not remembered.
   */
  get ahead(): readonly string[] | undefined {
    const known = this.#positions.map(({ ahead }) => ahead).filter((ahead) => ahead !== undefined)
    return known.length === 0 ? undefined : known.flat()
  }

  /** The oldest blocker in the first queue that has one; undefined until its node has been read, and after a blocker has left. */
  get blocker(): BlockerInfo | undefined {
    return this.#positions.map(({ blocker }) => blocker).find((blocker) => blocker !== undefined)
  }

  /**
   * Creates the nodes and reads the lists. If there is no blocker, the contender gets the grant. Otherwise it watches the blockers
   * until one is gone, and reads the list again.
   */
  compete(): Promise<Grant> {
    const [position, other] = this.#positions
    if (other !== undefined) return this.#competeInAll()
    return position!.reachFront(
      this.enter(),
      () => this.#lookAndConfirm(position!),
      ({ grant }) => grant ?? this.confirm(),
    )
  }

  /**
   * Like `compete`, for a contender with one queue, after `enter`. No committed check is made, so the caller's next request must
   * fail if the node is gone.
   */
  reachFront(entering: Promise<Grant | undefined>): Promise<QueueHead<Grant>> {
    return this.#positions[0]!.reachFront(
      entering,
      (position) => this.#look(position),
      (front) => front,
    )
  }

  /** Creates the nodes and reads each list once, without waiting. The result is undefined if there is a blocker. */
  async competeOnce(): Promise<Grant | undefined> {
    const grant = await this.enter()
    return this.isBlocked ? undefined : (grant ?? (await this.confirm()))
  }

  /** Whether it has a blocker, as far as `enter` has seen. */
  get isBlocked(): boolean {
    return this.#positions.some(({ isNext }) => !isNext)
  }

  /** Its nodes, once `enter` has resolved. */
  get nodes(): ContenderNodes {
    return this.#own.nodes!
  }

  /** Sends the sync that `competeOnce` needs, so that it is answered earlier. */
  prepare(): void {
    this.#proof.prepare()
  }

  /**
   * Deletes the nodes. Resolves when that is confirmed, or when a server has ended the session: see `OwnedNode.delete`. If a
   * server refuses, it rejects and continues in the background. Idempotent.
   */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      // `detach` must wait: otherwise a session that is resumed later would still have the node.
      ownerLeaves(this, this.#leaving)
    }
    return this.#leaving
  }

  /** Deletes the nodes of creates that were executed late: after the search for them had found nothing. `leave` does this, too. */
  deleteLate(): Promise<void> {
    return this.#own.deleteLate()
  }

  /** Proves with a committed check that the nodes and our session exist at this time. */
  confirm(): Promise<Grant> {
    return this.#proof.confirm(this.#own.nodes!)
  }

  /**
   * Creates the nodes and reads the lists, in one segment. The result is the grant if there is no blocker; undefined if `confirm`
   * must follow. Reads that `onSent` makes go in the same segment, after the lists; it is called each time the create is sent. If
   * there is a result, the last of these reads show what was committed before the create, and what the lists show.
   */
  async enter(onSent = () => {}): Promise<Grant | undefined> {
    const start = this.#proof.now() ?? (await this.#proof.synced())
    if (this.#leaving !== undefined) throwVanished(this.session)
    // The lists are read after the create on the same connection, so they show our nodes and all older ones. After a create
    // without an answer they may show an older node of that name, and `join` reads again.
    const making = this.#own.make(() => {
      for (const position of this.#positions) position.listEarly()
      onSent()
    })
    const nodes = await making
    if (nodes === undefined) throwVanished(this.session)
    let areAllShown = true
    // `Promise.all` is not used: it takes one more microtask turn, and then the next request may be sent in a segment of its own.
    // All lists are already under way.
    for (let index = 0; index < nodes.length; index++) {
      const isShown = await this.#positions[index]!.join(nodes[index]!, this.#own.isRepeated)
      areAllShown &&= isShown
    }
    // If the create and the lists were sent on the connection of the touch, the create itself is the committed request.
    return areAllShown && this.#proof.isUnbroken(start) ? this.#proof.granted(nodes, start) : undefined
  }

  /**
   * Waits in all queues at the same time. If a queue has no blocker, none can appear: new contenders are behind our node. While
   * the contender waits, one of its nodes may be deleted. Its other nodes would then block others for nothing. So it watches all
   * its nodes.
   */
  async #competeInAll(): Promise<Grant> {
    const entering = this.enter()
    const reach = (position: QueuePosition) =>
      position.reachFront(
        entering,
        (each) => this.#look(each),
        (front) => front,
      )
    const reaching = awaitedLater(Promise.all(this.#positions.map(reach)))
    await entering
    const fronts = await (this.isBlocked ? this.#whileAllExist(reaching) : reaching)
    return grantOf(fronts) ?? (await this.confirm())
  }

  async #whileAllExist<T>(waiting: Promise<T>): Promise<T> {
    const paths = this.#own.nodes!.map(({ path }) => path)
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
    const start = this.#proof.now() ?? (await this.#proof.synced())
    let looks = 0
    const look = () => {
      looks++
      return position.list()
    }
    const looking = awaitedLater(retry(this.#zk, look).catch(vanishedIfMissing))
    const grant = await this.#proof.confirm(this.#own.nodes!, start)
    const ahead = position.aheadIn(await looking)
    return { ahead, grant: looks === 1 ? grant : undefined }
  }

  #remove(): Promise<void> {
    this.#ownWatch?.stop()
    for (const position of this.#positions) position.leave()
    return this.#own.remove()
  }
}

/** The grant if each look already has one, otherwise undefined: then `confirm` must follow. */
function grantOf(looks: readonly Pick<ListReading<Grant>, 'grant'>[]): Grant | undefined {
  return looks.every(({ grant }) => grant !== undefined) ? looks[0]!.grant : undefined
}
