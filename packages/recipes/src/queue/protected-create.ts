// Creates a contender's node: exactly one, even if replies are lost.
import { type ACL, type CallOptions, KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import { report } from '../diagnostics.ts'
import { ifMissing } from './if-missing.ts'
import { type ContenderName, type Kind, namePrefix } from './names.ts'
import type { Queue } from './queue.ts'
import { throwUnlessTransient, pinnedTo, pause, retry } from './retry.ts'
import { SessionOptions } from './session-options.ts'

/** The pause before a refused delete is repeated, in ms. */
const REFUSED_PAUSE = 1_000

export interface NodeOptions {
  readonly data: Uint8Array | string
  readonly acl?: readonly ACL[] | undefined
}

/** Our node, as the server reported it. */
export interface OwnNode {
  readonly name: ContenderName
  readonly path: string
  /** The fencing token. */
  readonly czxid: bigint
}

/** The parent of nodes that `deleteOwn` deletes: a `Queue` is one. */
export interface Folder {
  readonly zk: ZooKeeper
  readonly path: string
  readonly recipePath: string
  parse(name: string): ContenderName | undefined
}

/** All nodes of a grant. Usually it has one. */
export type OwnNodes = readonly [OwnNode, ...OwnNode[]]

export class ProtectedCreate {
  readonly #queue: Queue
  readonly #session: Session
  readonly #kind: Kind
  readonly #options: NodeOptions
  readonly #pinned: CallOptions
  /** The uuid in the names of all creates of this object, by which the node is found after a lost reply. */
  readonly #uuid: string
  #isCancelled = false

  constructor(queue: Queue, session: Session, kind: Kind, options: NodeOptions) {
    this.#queue = queue
    this.#session = session
    this.#kind = kind
    this.#options = options
    this.#pinned = pinnedTo(session)
    this.#uuid = queue.zk.runtime.uuid()
  }

  /** The node is no longer needed: `make` does not try again. */
  cancel(): void {
    this.#isCancelled = true
  }

  /** Creates the node. The result is undefined if it was cancelled before there was a node. */
  async make(): Promise<OwnNode | undefined> {
    const path = this.#queue.pathOf(namePrefix(this.#kind, this.#uuid))
    const { data, acl } = this.#options
    let unanswered = 0
    for (;;) {
      try {
        const mode = 'EPHEMERAL_SEQUENTIAL'
        const created = await this.#queue.zk.create(path, data, { mode, acl, ...this.#pinned })
        // An earlier create may have happened although its node was not found: a deposed leader answers a sync, too. Now both
        // nodes are found. Without this search we would wait for our own older node.
        return unanswered > 0 ? await this.#find() : this.#toOwnNode(created.path, created.stat.czxid)
      } catch (error) {
        if (KeeperError.is(error) && error.outcomeUnknown) unanswered++
        const found = await this.#afterFailure(error, unanswered).catch((final: unknown) =>
          this.#foundAfterAll(unanswered > 0, final),
        )
        if (found !== undefined) return found
        if (this.#isCancelled) return unanswered > 0 ? await this.#findForCertain() : undefined
      }
    }
  }

  /** The node of a create that was not answered; undefined if there is none, and the create may be repeated. */
  async #afterFailure(error: unknown, unanswered: number): Promise<OwnNode | undefined> {
    const { zk, path } = this.#queue
    if (KeeperError.is(error) && error.outcomeUnknown) {
      // If several creates were not answered, a deposed leader may show one node, and another create is executed later.
      return unanswered > 1 ? await this.#findForCertain() : await this.#find()
    }
    if (KeeperError.is(error, 'NoNode')) {
      // Servers may delete an empty container above meanwhile. Then this is repeated, too.
      const making = (options: CallOptions) => retry(zk, () => zk.ensureContainer(path, options))
      if (!this.#isCancelled) await ifMissing(making, this.#pinned, undefined)
      return undefined
    }
    await throwUnlessTransient(zk, error)
    return undefined
  }

  /** Called when no further create follows. Finds the node of an earlier create, which must not be left behind, or throws. */
  async #foundAfterAll(wasUnanswered: boolean, final: unknown): Promise<OwnNode> {
    const found = wasUnanswered ? await this.#findForCertain().catch(() => undefined) : undefined
    if (found === undefined) throw final
    return found
  }

  /** Finds the node after a committed request, which a deposed leader cannot answer. */
  async #findForCertain(): Promise<OwnNode | undefined> {
    const { zk, path } = this.#queue
    const committing = (options: CallOptions) => retry(zk, () => zk.multi([op.check(path)], options))
    await ifMissing(committing, this.#pinned, undefined)
    return await this.#find()
  }

  /** Finds the node of a create that was not answered, after a sync. If there are several, younger ones are deleted. */
  async #find(): Promise<OwnNode | undefined> {
    const listing = (options: CallOptions) => retry(this.#queue.zk, () => this.#syncAndList(options))
    const children = await ifMissing(listing, this.#pinned, undefined)
    if (children === undefined) return undefined
    const mine = children.map((name) => this.#queue.parse(name)).filter((name) => name?.uuid === this.#uuid)
    const nodes = await Promise.all(mine.map((name) => this.#own(name!)))
    const [oldest, ...younger] = nodes.filter((node) => node !== undefined).sort(byCreation)
    // If a younger node cannot be deleted, it is reported as an orphan. It is behind the oldest, so we do not wait for it.
    const deleting = younger.map(({ path }) => deleteOwn(this.#queue, this.#session, path).catch(() => {}))
    await Promise.all(deleting)
    return oldest
  }

  /**
   * Reads a list that shows all earlier creates, even if another server answers it: the answer to the sync has a zxid, and a
   * server does not accept a client that has seen a later zxid than its own. The two calls are made one after the other,
   * because the client's options may allow only one call to wait.
   */
  async #syncAndList(options: CallOptions): Promise<readonly string[]> {
    const { zk, path } = this.#queue
    await zk.sync(path, options)
    const { children } = await zk.getChildren(path, options)
    return children
  }

  #toOwnNode(path: string, czxid: bigint): OwnNode {
    const name = this.#queue.parse(nameIn(path))
    if (name === undefined) throw new Error(`the server named our node ${path}`)
    return { name, path, czxid }
  }

  /** Reads a node; undefined if it is gone, or if another session owns it. */
  async #own(name: ContenderName): Promise<OwnNode | undefined> {
    const { zk } = this.#queue
    const path = this.#queue.pathOf(name.name)
    const stat = await retry(zk, () => zk.exists(path, this.#pinned))
    return stat?.ephemeralOwner === this.#session.id ? { name, path, czxid: stat.czxid } : undefined
  }
}

/**
 * Deletes the node, and repeats this until it is confirmed, or until the session has ended. If a server refuses the delete, it
 * rejects, but goes on in the background: contenders would wait for an orphan as long as the session lives. The refusal is also
 * reported on `zk:orphan`, since an acquire that was aborted or timed out has already settled.
 */
export async function deleteOwn(folder: Folder, session: Session, path: string): Promise<void> {
  const refusal = await refusalOf(folder, session, path)
  if (refusal === undefined) return
  const error = KeeperError.is(refusal.error, 'NoAuth') ? withoutRight(folder, path, refusal.error) : refusal.error
  const { kind } = folder.parse(nameIn(path))!
  report(folder.zk, 'zk:orphan', kind.name, () => ({ path: folder.recipePath, node: path, error }))
  void deleteAgain(folder, session, path)
  throw error
}

async function deleteAgain(folder: Folder, session: Session, path: string): Promise<void> {
  do await pause(folder.zk.runtime, REFUSED_PAUSE, session.signal)
  while ((await refusalOf(folder, session, path)) !== undefined)
}

/** Deletes the node once. Returns the error if a server refused; undefined if the node is gone. */
async function refusalOf(folder: Folder, session: Session, path: string): Promise<{ error: unknown } | undefined> {
  const { zk } = folder
  try {
    await retry(zk, () => zk.delete(path, SessionOptions.of(session).bound))
    return undefined
  } catch (error) {
    // From 3.6 on servers check the rights first, so they answer NoAuth even if the node is gone.
    const mayBeGone = KeeperError.is(error, 'NoAuth')
    const isGone = mayBeGone ? !(await exists(folder, session, path)) : KeeperError.is(error, 'NoNode')
    return isGone || session.signal.aborted ? undefined : { error }
  }
}

/** Whether the node exists; true if that cannot be found out. */
async function exists({ zk }: Folder, session: Session, path: string): Promise<boolean> {
  const asking = retry(zk, () => zk.exists(path, { session }))
  return await asking.then(
    (stat) => stat !== undefined,
    () => true,
  )
}

/** The error for a path that grants CREATE but not DELETE. */
function withoutRight({ path: parent }: Folder, path: string, cause: KeeperError): KeeperError {
  const { op, number, server, sessionId } = cause
  const needs =
    `grant DELETE on ${parent}; until then the node stays for as long as the session lives, ` +
    'and every contender behind it waits'
  return new KeeperError('NoAuth', { op, path, number, server, sessionId, needs, cause })
}

const nameIn = (path: string) => path.slice(path.lastIndexOf('/') + 1)

function byCreation(one: OwnNode, other: OwnNode): number {
  return one.czxid < other.czxid ? -1 : 1
}
