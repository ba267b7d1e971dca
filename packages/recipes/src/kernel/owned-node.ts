// A node of ours: an ephemeral node of one session, created once, found again after a lost reply, deleted until it is gone.
//
// Created once: the client sends no write twice, and the reply to a create may be lost, so a recipe repeats the create. The path
// of the node has a uuid, so that the second create is refused (`NodeExists`) if the first was executed.
//
// Found again: the node is ours if `ephemeralOwner` is our session. The path alone does not show that: an operator may have
// restored a node from a backup.
//
// Deleted until it is gone: an ephemeral node lives as long as its session, not as long as the work that needed it. A client may
// keep its session for weeks, and the node of work that is over would block others all that time. So the delete is repeated until
// it is confirmed, or a server has ended the session. If only the client has given up the session, the delete continues in the
// next session (`cleanupSessionOf`). If a server refuses the delete, it is repeated in the background each second.
import { type ACL, type Data, KeeperError, op, type Session, type Stat, type ZooKeeper } from '@zk/client'
import { failuresOf, logWith, pause } from '@zk/client/internal'
import { cleanupSessionOf, inCleanupSession } from './cleanup-session.ts'
import { createWithParents } from './create-with-parents.ts'
import { parentOf } from './paths.ts'
import { pinnedTo, retry } from './retry.ts'
import { SessionOptions } from './session-options.ts'
import { NodeVanished } from './sessions.ts'

/** The pause before a refused delete is repeated, in ms. */
const REFUSED_PAUSE = 1_000

export class OwnedNode {
  readonly zk: ZooKeeper
  readonly session: Session
  readonly path: string

  constructor(zk: ZooKeeper, session: Session, path: string) {
    this.zk = zk
    this.session = session
    this.path = path
  }

  /** Creates the node, and resolves with its czxid. The call may be repeated after a failure. */
  async create(data: Data, acl: readonly ACL[] | undefined, parents = false): Promise<bigint> {
    const { zk, path } = this
    const options = { mode: 'EPHEMERAL', acl, ...pinnedTo(this.session) } as const
    try {
      const { stat } = await (parents ? createWithParents(zk, path, data, options) : zk.create(path, data, options))
      return stat.czxid
    } catch (error) {
      // An earlier create was not answered.
      if (!KeeperError.is(error, 'NodeExists')) throw error
      const stat = await this.find()
      if (stat === undefined) throw new NodeVanished()
      return stat.czxid
    }
  }

  /** Reads the node, in the session `asking`; undefined if it does not exist, or another session owns it. */
  async find(asking = this.session): Promise<Stat | undefined> {
    const stat = await retry(this.zk, () => this.zk.exists(this.path, pinnedTo(asking)))
    return stat?.ephemeralOwner === this.session.id ? stat : undefined
  }

  /**
   * Resolves when the node is gone. If a server refuses the delete, it rejects, but continues in the background, and `orphaned`
   * is called, since nobody may wait for the delete of a call that was aborted or timed out.
   */
  async delete(): Promise<void> {
    try {
      await inCleanupSession(this.zk, this.session, (current) => this.deleteIn(current))
    } catch (refusal) {
      const error = KeeperError.is(refusal, 'NoAuth') ? this.#withoutRight(refusal) : refusal
      this.orphaned(error)
      void this.#deleteAgain()
      throw error
    }
  }

  /** Deletes the node in this session. Rejects if a server refuses the delete although the node exists, or if the session ends. */
  protected async deleteIn(session: Session): Promise<void> {
    try {
      await retry(this.zk, () => this.zk.delete(this.path, SessionOptions.of(session).bound))
    } catch (error) {
      if (KeeperError.is(error, 'NoNode')) return
      // From 3.6 on, servers check the rights first, so they answer NoAuth even if the node is gone.
      if (KeeperError.is(error, 'NoAuth') && !(await this.#exists(session))) return
      throw error
    }
  }

  /** Reports that a server refuses the delete. Called once. */
  protected orphaned(error: unknown): void {
    logWith(this.zk, 'error', 'a node cannot be deleted', () => ({ node: this.path, err: error }))
  }

  /** The consequence while the session lives and the node cannot be deleted: part of a message. */
  protected get consequence(): string {
    return 'the node stays for as long as the session lives'
  }

  async #deleteAgain(): Promise<void> {
    for (;;) {
      const current = cleanupSessionOf(this.zk, this.session)
      if (current === undefined) return
      await pause(this.zk.runtime, REFUSED_PAUSE, current.signal)
      try {
        return await inCleanupSession(this.zk, this.session, (present) => this.deleteIn(present))
      } catch {
        // It was refused again.
      }
    }
  }

  /** Whether the node exists; true if that cannot be found out. */
  async #exists(session: Session): Promise<boolean> {
    const asking = retry(this.zk, () => this.zk.exists(this.path, { session }))
    return await asking.then(
      (stat) => stat !== undefined,
      () => true,
    )
  }

  /** The error for a path that grants CREATE but not DELETE. */
  #withoutRight(cause: KeeperError): KeeperError {
    const { op: name, number, server, sessionId } = cause
    const needs = `grant DELETE on ${parentOf(this.path)}; until then ${this.consequence}`
    return new KeeperError('NoAuth', { op: name, path: this.path, number, server, sessionId, needs, cause })
  }
}

/** Deletes the nodes of one session, several in one transaction if that is possible: then all are gone at once. See `delete`. */
export function deleteAll(nodes: readonly OwnedNode[]): Promise<void> {
  const [only, other] = nodes
  if (only === undefined) return Promise.resolve()
  return other === undefined ? only.delete() : deleteTogether(only, nodes)
}

async function deleteTogether({ zk, session }: OwnedNode, nodes: readonly OwnedNode[]): Promise<void> {
  const deleting = nodes.map(({ path }) => op.delete(path))
  try {
    await inCleanupSession(zk, session, (current) => zk.multi(deleting, SessionOptions.of(current).bound))
    return
  } catch {
    // One of the nodes is gone, or the answer is lost. So each node is deleted on its own.
  }
  const failures = await failuresOf(nodes.map((node) => node.delete()))
  const first = failures.find((failure) => failure !== undefined)
  if (first !== undefined) throw first.error
}
