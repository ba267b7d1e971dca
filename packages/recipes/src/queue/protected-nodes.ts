// The nodes of a contender, one in each of its queues. Either all are created or none, and only once, even if replies are lost;
// the delete is repeated until all are gone.
//
// One transaction creates them all, with one uuid in all names. So they share one czxid, and of two contenders that wait in
// several queues the same one is ahead in each queue: no two wait for each other (docs/decisions/0027).
import { type ACL, type CallOptions, isTransient, KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import { printable } from '@zk/client/internal'
import { countAsUsed } from '../kernel/count-as-used.ts'
import { inCleanupSession } from '../kernel/cleanup-session.ts'
import { afterCommit } from '../kernel/committed.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import { type Kind, namePrefix } from './names.ts'
import { ContenderNode, type ContenderNodes } from './contender-node.ts'
import { deleteAll } from '../kernel/owned-node.ts'
import { nameIn } from '../kernel/paths.ts'
import type { Queue } from './queue.ts'
import { throwUnlessTransient, pinnedTo, retry } from '../kernel/retry.ts'
import { awaitedLater, settled, unawaited } from '../kernel/promises.ts'

export interface NodeOptions {
  readonly data: Uint8Array | string
  readonly acl?: readonly ACL[] | undefined
}

/** A node to create. */
export interface NodePlan {
  readonly queue: Queue
  readonly kind: Kind
  readonly data: Uint8Array | string
}

const MODE = 'EPHEMERAL_SEQUENTIAL'

export class ProtectedNodes {
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #plans: readonly NodePlan[]
  readonly #acl: readonly ACL[] | undefined
  readonly #pinned: CallOptions
  /** The uuid in the names of all creates of this object, by which the nodes are found after a lost reply. */
  readonly #uuid: string
  /** How many creates were not answered. */
  #unanswered = 0
  #isRepeated = false
  /** If folders were missing. Aborts when the nodes exist: then the folders do, too. */
  #makingFolders: AbortController | undefined
  /** The nodes are no longer needed: `make` does not try again. */
  #isCancelled = false
  #making: Promise<ContenderNodes | undefined> | undefined
  #nodes: ContenderNodes | undefined

  constructor(session: Session, uuid: string, plans: readonly NodePlan[], acl: readonly ACL[] | undefined) {
    this.#zk = plans[0]!.queue.zk
    this.#session = session
    this.#plans = plans
    this.#acl = acl
    this.#pinned = pinnedTo(session)
    this.#uuid = uuid
  }

  /**
   * Whether a create was repeated after one without an answer. Then nodes of an earlier create may have had the names of the
   * current ones: if the folder was deleted and created again, its counter starts over.
   */
  get isRepeated(): boolean {
    return this.#isRepeated
  }

  /** The nodes that `make` has resolved with. */
  get nodes(): ContenderNodes | undefined {
    return this.#nodes
  }

  /**
   * Creates the nodes, in the order of the plans, and the folder of each if it is missing. The result is undefined if it was
   * cancelled before any existed. Requests that `onSent` makes go in the same segment, after the create; it is called each time
   * the create is sent.
   */
  make(onSent = () => {}): Promise<ContenderNodes | undefined> {
    this.#making = this.#make(onSent)
    return this.#making
  }

  #made(nodes: ContenderNodes | undefined): ContenderNodes | undefined {
    this.#nodes = nodes
    this.#makingFolders?.abort()
    return nodes
  }

  /**
   * Deletes the nodes, including those of a create under way. Resolves when that is confirmed, or when a server has ended the
   * session: see `OwnedNode.delete`.
   */
  async remove(): Promise<void> {
    this.#isCancelled = true
    // If the nodes are known, there is no `await` here: calls that are made later come after the delete.
    const nodes = this.#nodes ?? (await this.#making?.catch(() => undefined))
    // Without nodes no create was left unanswered, or `make` has looked for its nodes after a committed request and found none.
    // If the servers refused that search, they would refuse another one, too. So `deleteLate` is not needed, unless the search
    // ended with the session.
    if (nodes === undefined) return this.#session.signal.aborted ? await this.deleteLate() : undefined
    try {
      await deleteAll(nodes)
    } finally {
      if (this.#unanswered > 0) await this.deleteLate()
    }
  }

  async #make(onSent: () => void): Promise<ContenderNodes | undefined> {
    let folders: Promise<void> | undefined
    for (;;) {
      const creating = this.#create()
      onSent()
      try {
        const made = await creating
        // An earlier create may have happened although its node was not found: even a deposed leader answers a sync. Now both
        // nodes are found. Without this search we would wait for our own older node.
        return this.#made(this.#unanswered > 0 ? await this.#find() : made)
      } catch (error) {
        if (KeeperError.is(error) && error.outcomeUnknown) this.#unanswered++
        const found = await this.#afterFailure(error, folders).catch((final: unknown) => this.#foundAfterAll(final))
        if (found !== undefined) return this.#made(found)
        folders = KeeperError.is(error, 'NoNode') && !this.#isCancelled ? this.#makeFolders() : undefined
      }
      if (this.#isCancelled) {
        await this.#countAsUsed()
        return this.#made(this.#unanswered > 0 ? await this.#findForCertain() : undefined)
      }
      this.#isRepeated = this.#unanswered > 0
    }
  }

  /**
   * Creates the folders with the ACL of the nodes, ahead of the next create in the same segment. Servers delete empty
   * containers, so one of them may be missing again at once: then the next create fails with `NoNode`, too.
   */
  #makeFolders(): Promise<void> {
    this.#makingFolders ??= new AbortController()
    const options = { ...this.#pinned, acl: this.#acl, signal: this.#makingFolders.signal }
    const making = this.#plans.map(({ queue }) => ifMissing((asking) => queue.make(asking), options, undefined))
    return awaitedLater(Promise.all(making).then(() => {}))
  }

  /** Lets servers delete the folders that were created for nothing. */
  async #countAsUsed(): Promise<void> {
    if (this.#makingFolders === undefined) return
    const made = this.#plans.map(({ queue }) => queue.path)
    await countAsUsed(this.#zk, made, this.#uuid, this.#pinned)
  }

  /**
   * Deletes the nodes of creates that were executed late, after the search for them. Called when the nodes of `make` are deleted:
   * a node that is left would block the queue until the session ends.
   */
  async deleteLate(): Promise<void> {
    if (this.#unanswered === 0) return
    await inCleanupSession(this.#zk, this.#session, async (current) => {
      const late = await Promise.all(this.#plans.map(({ queue }) => this.#findIn(queue, current)))
      await settled(deleteAll(late.flat()))
    })
  }

  #create(): Promise<ContenderNodes> {
    const [only, other] = this.#plans
    return other === undefined ? this.#createOne(only!) : this.#createAll()
  }

  #createOne(plan: NodePlan): Promise<ContenderNodes> {
    const options = { mode: MODE, acl: this.#acl, ...this.#pinned } as const
    const creating = this.#zk.create(this.#pathOf(plan), plan.data, options)
    return creating.then(({ path, stat }) => [this.#node(plan.queue, path, stat.czxid)])
  }

  /**
   * Creates several nodes. All have the zxid of the transaction as czxid, but a create in a transaction is answered without a
   * Stat (ZOOKEEPER-4026). So the transaction also writes a node of its own, which is answered with a Stat. No read shows
   * that node, because the transaction deletes it; a recursive watch reports it. A read would cost another round trip.
   */
  async #createAll(): Promise<ContenderNodes> {
    const plans = this.#plans
    const acl = this.#acl
    const brief = plans[0]!.queue.pathOf(this.#uuid)
    const creates = plans.map((plan) => op.create(this.#pathOf(plan), plan.data, { mode: MODE, acl }))
    const ops = [op.create(brief), op.setData(brief, ''), op.delete(brief), ...creates] as const
    const [, { czxid }, , ...created] = await this.#zk.multi(ops, this.#pinned)
    const nodes = plans.map(({ queue }, index) => this.#node(queue, created[index]!.path, czxid))
    return nodes as unknown as ContenderNodes
  }

  #pathOf({ queue, kind }: NodePlan): string {
    return queue.pathOf(namePrefix(kind, this.#uuid))
  }

  /**
   * Finds the nodes of a create that was not answered. Returns undefined if no node exists; the create may then be repeated.
   * `folders` is the creation of the folders that was sent ahead of it.
   */
  async #afterFailure(error: unknown, folders: Promise<void> | undefined): Promise<ContenderNodes | undefined> {
    if (KeeperError.is(error) && error.outcomeUnknown && isTransient(error)) {
      // If several creates were not answered, a deposed leader may show one node, and another create is executed later.
      return this.#unanswered > 1 ? await this.#findForCertain() : await this.#find()
    }
    // Our own queue may have no room for the create after the creation of the folders.
    if (folders !== undefined && KeeperError.is(error, 'NoNode', 'QueueFull')) await folders
    else if (!KeeperError.is(error, 'NoNode')) await throwUnlessTransient(this.#zk, error)
    return undefined
  }

  /** Called when no further create follows. Finds the nodes of an earlier create, because they must be deleted, or throws. */
  async #foundAfterAll(final: unknown): Promise<ContenderNodes> {
    const found = this.#unanswered > 0 ? await this.#findForCertain().catch(() => undefined) : undefined
    if (found !== undefined) return found
    unawaited(this.#countAsUsed())
    throw final
  }

  /** Finds the nodes after a committed request, which a deposed leader cannot answer. */
  async #findForCertain(): Promise<ContenderNodes | undefined> {
    await afterCommit(this.#zk, this.#plans[0]!.queue.path, this.#pinned)
    return await this.#find(true)
  }

  /**
   * Finds the nodes of creates that were not answered, after a sync. If it finds the nodes of several creates, it deletes the
   * younger ones, and all nodes of a create that has lost one of them. `isCertain` says that a committed request was answered before.
   */
  async #find(isCertain = false): Promise<ContenderNodes | undefined> {
    const found = (await Promise.all(this.#plans.map(({ queue }) => this.#findIn(queue)))).flat()
    const czxids = [...new Set(found.map(({ czxid }) => czxid))].sort((one, other) => (one < other ? -1 : 1))
    const sets = czxids.map((each) => found.filter(({ czxid }) => czxid === each))
    const isWhole = ({ length }: readonly ContenderNode[]) => length === this.#plans.length
    // The first list may be older than the create, and a later one, on another connection, younger.
    if (!isCertain && !sets.every(isWhole)) return await this.#findForCertain()
    const oldest = sets.find(isWhole)
    // If a younger node cannot be deleted, it is reported as an orphan. It is behind the oldest, so we do not wait for it.
    await Promise.all(sets.filter((set) => set !== oldest).map((set) => settled(deleteAll(set))))
    return oldest as unknown as ContenderNodes | undefined
  }

  /** `asking` is the session in which the requests are made. */
  async #findIn(queue: Queue, asking = this.#session): Promise<ContenderNode[]> {
    const listing = (options: CallOptions) => retry(this.#zk, () => this.#syncAndList(queue.path, options))
    const children = (await ifMissing(listing, pinnedTo(asking), undefined)) ?? []
    const mine = children.map((name) => queue.parse(name)).filter((name) => name?.uuid === this.#uuid)
    const nodes = await Promise.all(mine.map((name) => ContenderNode.find(queue, this.#session, name!, asking)))
    return nodes.filter((node) => node !== undefined)
  }

  /**
   * Reads a list that shows all earlier creates, even if another server answers it: the answer to the sync has a zxid, and a
   * server does not accept a client that has seen a later zxid than its own. The two calls are made one after the other,
   * because the client's options may allow only one call to wait.
   */
  async #syncAndList(path: string, options: CallOptions): Promise<readonly string[]> {
    await this.#zk.sync(path, options)
    const { children } = await this.#zk.getChildren(path, options)
    return children
  }

  #node(queue: Queue, path: string, czxid: bigint): ContenderNode {
    const name = queue.parse(nameIn(path))
    if (name === undefined) throw new Error(printable(`the server named our node ${path}`))
    return new ContenderNode(queue, this.#session, name, czxid)
  }
}
