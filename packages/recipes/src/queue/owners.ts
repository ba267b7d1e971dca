// The contenders of each client, by session. When the client has given up a session, the ensemble may keep the nodes of that
// session for longer. A contender in the next session waits until the nodes in its own queues are deleted: otherwise it would
// wait for nodes of its own client.
import type { Session, ZooKeeper } from '@zk/client'
import { internalsOf, onAbort } from '@zk/client/internal'
import { memoized } from '../kernel/memoized.ts'
import { unawaited } from '../kernel/promises.ts'

/** An object that owns nodes, and deletes them. */
export interface Owner {
  readonly session: Session
  /** Deletes its nodes: see `OwnedNode.delete`. Continues in the background until that is confirmed. Idempotent. */
  leave(): Promise<void>
}

/** The owners of nodes in a session, and the folders in which the nodes are. When the session is given up, all of them leave. */
class Owners extends Map<Owner, readonly string[]> {
  #unlisten: (() => void) | undefined

  register(owner: Owner, folders: readonly string[]): void {
    this.set(owner, folders)
    this.#unlisten ??= onAbort(owner.session.detaching, () => {
      for (const each of this.keys()) unawaited(each.leave())
    })
  }

  forget(owner: Owner): void {
    this.delete(owner)
    if (this.size > 0) return
    this.#unlisten?.()
    this.#unlisten = undefined
  }
}

type OwnersOf = Map<Session, Owners>

/** By client: all its sessions have the same object `client`. */
const ofClients = new WeakMap<object, OwnersOf>()

const clientOf = (session: Session): object => internalsOf(session).client

/** From now on the owner may have nodes in these folders, until it has left. */
export function registerOwner(owner: Owner, folders: readonly string[]): void {
  const sessions = memoized(ofClients, clientOf(owner.session), (): OwnersOf => new Map())
  memoized(sessions, owner.session, () => newOwners(sessions)).register(owner, folders)
}

/** Forgets the former sessions in which nothing is owned any more. */
function newOwners(sessions: OwnersOf): Owners {
  for (const [session, owners] of sessions) if (owners.size === 0) sessions.delete(session)
  return new Owners()
}

/** The successor owns the nodes now. */
export function replaceOwner(owner: Owner, successor: Owner): void {
  const owners = ofClients.get(clientOf(owner.session))?.get(owner.session)
  const folders = owners?.get(owner)
  if (folders === undefined) return
  owners!.delete(owner)
  owners!.set(successor, folders)
}

/** The nodes are being deleted: `detach` waits for that, and until then the owner stays registered. */
export function ownerLeaves(owner: Owner, leaving: Promise<void>): void {
  const { session } = owner
  internalsOf(session).waitUntil(leaving)
  const forget = () => ofClients.get(clientOf(session))?.get(session)?.forget(owner)
  leaving.then(forget, forget)
}

/**
 * Resolves when owners of former sessions of this client have left these folders; undefined if there are none. Their deletes
 * are sent before this returns, unless an earlier request for them is still under way.
 */
export function formerOwnersGone({ session }: ZooKeeper, folders: readonly string[]): Promise<void> | undefined {
  const sessions = ofClients.get(clientOf(session))
  if (sessions === undefined || sessions.size === (sessions.has(session) ? 1 : 0)) return undefined
  const leaving: Promise<void>[] = []
  for (const [former, owners] of sessions) {
    if (former === session) continue
    if (owners.size === 0) sessions.delete(former)
    if (!internalsOf(former).mayLiveOn) continue
    for (const [owner, its] of owners) {
      // A delete that is refused is reported by the owner.
      if (its.some((folder) => folders.includes(folder))) leaving.push(owner.leave().catch(() => {}))
    }
  }
  return leaving.length === 0 ? undefined : Promise.all(leaving).then(() => {})
}
