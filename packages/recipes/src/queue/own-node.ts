// A node of ours: what is known of it, and how it is deleted.
import { KeeperError, op, type Session, type ZooKeeper } from '@zk/client'
import { failuresOf, pause } from '@zk/client/internal'
import { report } from './diagnostics.ts'
import type { ContenderName } from './names.ts'
import { cleanupSessionOf, inCleanupSession } from '../kernel/cleanup-session.ts'
import { retry } from '../kernel/retry.ts'
import { SessionOptions } from '../kernel/session-options.ts'

/** The pause before a refused delete is repeated, in ms. */
const REFUSED_PAUSE = 1_000

/** Our node, as the server reported it. */
export interface OwnNode {
  readonly name: ContenderName
  readonly path: string
  /** The fencing token. */
  readonly czxid: bigint
}

/** All nodes of a grant, made by one transaction. Usually it has one. */
export type OwnNodes = readonly [OwnNode, ...OwnNode[]]

/** The parent of nodes that `deleteOwn` deletes: a `Queue` is one. */
export interface Folder {
  readonly zk: ZooKeeper
  readonly path: string
  readonly recipePath: string
  parse(name: string): ContenderName | undefined
}

/** A node to be deleted. */
export interface NodeInFolder {
  readonly folder: Folder
  readonly path: string
}

export const nameIn = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** The path above this one. */
export const parentOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Deletes the nodes, several in one transaction if that is possible: then all leave at once. See `deleteOwn`. */
export function deleteAll(zk: ZooKeeper, session: Session, nodes: readonly NodeInFolder[]): Promise<void> {
  const [only, other] = nodes
  if (only === undefined) return Promise.resolve()
  return other === undefined ? deleteOwn(only.folder, session, only.path) : deleteTogether(zk, session, nodes)
}

async function deleteTogether(zk: ZooKeeper, session: Session, nodes: readonly NodeInFolder[]): Promise<void> {
  const deleting = nodes.map(({ path }) => op.delete(path))
  try {
    await inCleanupSession(zk, session, (current) => zk.multi(deleting, SessionOptions.of(current).bound))
    return
  } catch {
    // One is gone, or the answer is lost: each by itself then.
  }
  const failures = await failuresOf(nodes.map(({ folder, path }) => deleteOwn(folder, session, path)))
  const first = failures.find((failure) => failure !== undefined)
  if (first !== undefined) throw first.error
}

/**
 * Deletes the node, and repeats this until it is confirmed, or until a server has ended the session, which deletes it. If the client
 * itself has given the session up, it goes on in the next one (`cleanupSessionOf`). If a server refuses the delete, it rejects, but goes on in
 * the background: contenders would wait for an orphan as long as the session lives. The refusal is also reported on `zk:orphan`,
 * since an acquire that was aborted or timed out has already settled.
 */
export async function deleteOwn(folder: Folder, session: Session, path: string): Promise<void> {
  const { zk } = folder
  try {
    await inCleanupSession(zk, session, (current) => deleteNode(folder, current, path))
  } catch (refusal) {
    const error = KeeperError.is(refusal, 'NoAuth') ? withoutRight(folder, path, refusal) : refusal
    const { kind } = folder.parse(nameIn(path))!
    report(zk, 'zk:orphan', kind.name, () => ({ path: folder.recipePath, node: path, error }))
    void deleteAgain(folder, session, path)
    throw error
  }
}

async function deleteAgain(folder: Folder, session: Session, path: string): Promise<void> {
  const { zk } = folder
  for (let current = cleanupSessionOf(zk, session); current !== undefined; current = cleanupSessionOf(zk, session)) {
    await pause(zk.runtime, REFUSED_PAUSE, current.signal)
    try {
      return await inCleanupSession(zk, session, (present) => deleteNode(folder, present, path))
    } catch {
      // It was refused again.
    }
  }
}

/** Rejects if a server refuses it although the node exists, or if the session ends. */
async function deleteNode(folder: Folder, session: Session, path: string): Promise<void> {
  const { zk } = folder
  try {
    await retry(zk, () => zk.delete(path, SessionOptions.of(session).bound))
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return
    // From 3.6 on servers check the rights first, so they answer NoAuth even if the node is gone.
    if (KeeperError.is(error, 'NoAuth') && !(await exists(folder, session, path))) return
    throw error
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
