// One member of a double barrier: an ephemeral node of one session, from entering to leaving. The nodes are those of Curator's
// DistributedDoubleBarrier: the members' nodes below the path, and `ready`, which is created when enough members exist.
import { type ACL, type Data, KeeperError, type Session, type Watched, type ZooKeeper } from '@zk/client'
import { internalsOf, throwIfAborted } from '@zk/client/internal'
import { OwnedNode } from '../kernel/owned-node.ts'
import { nameIn } from '../kernel/paths.ts'
import { settled, unwatch } from '../kernel/promises.ts'
import { pinnedTo, retry } from '../kernel/retry.ts'
import { NodeVanished } from '../kernel/sessions.ts'

const READY = 'ready'

export class BarrierMember {
  readonly zk: ZooKeeper
  readonly session: Session
  /** The path of the barrier. */
  readonly barrier: string
  /** The names of the members that existed when last seen, including this one until it leaves. */
  present: readonly string[] = []
  readonly #node: OwnedNode
  readonly #gone = new AbortController()
  readonly #watches = new Set<Watched>()
  /** The last request that creates the node, or needs it. The node is deleted after it. */
  #using: Promise<unknown> | undefined
  #removing: Promise<void> | undefined
  /** Its node is no longer needed. */
  #isOver = false

  /** `prefix` is the beginning of the node's name. */
  constructor(zk: ZooKeeper, barrier: string, prefix: string) {
    this.zk = zk
    this.session = zk.session
    this.barrier = barrier
    this.#node = new OwnedNode(zk, this.session, `${barrier}/${prefix}${zk.runtime.uuid()}`)
  }

  get path(): string {
    return this.#node.path
  }

  get name(): string {
    return nameIn(this.path)
  }

  /** The path of the node that lets members in. */
  get ready(): string {
    return this.pathOf(READY)
  }

  pathOf(name: string): string {
    return `${this.barrier}/${name}`
  }

  /** Aborts when the node is gone before this member has left. */
  get gone(): AbortSignal {
    return this.#gone.signal
  }

  /** Whether its node is being deleted, or is deleted. */
  get isRemoved(): boolean {
    return this.#removing !== undefined
  }

  /** Creates the node, and resolves with its czxid. */
  create(data: Data, acl: readonly ACL[] | undefined): Promise<bigint> {
    return this.using(retry(this.zk, () => this.#node.create(data, acl, true)))
  }

  /** Settles as the request does. `remove` waits for it. */
  using<T>(request: Promise<T>): Promise<T> {
    this.#using = request
    return request
  }

  /** Notices when the node is gone, until this member leaves. */
  async watchOwn(): Promise<void> {
    while (!this.#isOver) {
      try {
        if (!(await this.isDeleted(this.path))) continue
        return this.lose(new KeeperError('NoNode', { op: 'DoubleBarrier', path: this.path }))
      } catch (error) {
        return this.lose(error)
      }
    }
  }

  /** Waits for an event of the node. Resolves with whether it no longer exists; false after another event, and if this member is over. */
  async isDeleted(path: string): Promise<boolean> {
    const watch = await retry(this.zk, () => this.zk.existsAndWatch(path, pinnedTo(this.session)))
    this.keep(watch)
    if (this.#isOver) this.unwatch(watch)
    try {
      return watch.stat === undefined || (await watch.changed).type === 'NodeDeleted'
    } finally {
      this.unwatch(watch)
    }
  }

  /** The member is no longer inside, although it has not left. */
  lose(reason: unknown): void {
    if (!this.#isOver) this.#gone.abort(reason)
  }

  /** Keeps the watch until `unwatch`, or until the member stops. */
  keep(watch: Watched): void {
    this.#watches.add(watch)
  }

  unwatch(watch: Watched): void {
    this.#watches.delete(watch)
    unwatch(watch)
  }

  throwIfOver(): void {
    throwIfAborted(this.session.detaching)
    throwIfAborted(this.session.signal)
    // This client may not read its own node: a new node would not help.
    const { aborted: isGone, reason } = this.#gone.signal
    if (KeeperError.is(reason, 'NoAuth')) throw reason
    if (this.#isOver || isGone) throw new NodeVanished()
  }

  /** From now on it does not matter if the node is gone. */
  stop(): void {
    this.#isOver = true
    for (const watch of this.#watches) this.unwatch(watch)
  }

  /** Gives up: deletes the node, in the background until that is confirmed or the session has ended. Idempotent. */
  remove(): Promise<void> {
    if (this.#removing === undefined) {
      this.stop()
      this.#removing = this.#remove()
      internalsOf(this.session).waitUntil(this.#removing)
    }
    return this.#removing
  }

  async #remove(): Promise<void> {
    await settled(this.#using)
    await settled(this.#node.delete())
  }
}

/** The members among the children of the barrier. */
export function membersOf(children: readonly string[]): string[] {
  return children.filter((name) => name !== READY)
}
