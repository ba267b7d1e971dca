// Where the nodes of a session are deleted. The client may believe that its session is over before the ensemble ends it: after
// the local expiry, or when a server answers with another session. The nodes then stand for as long as the session lives
// there, so they are deleted in the next session. This is safe, since their names have a uuid.
import type { Session, ZooKeeper } from '@zk/client'
import { internalsOf } from '@zk/client/internal'

/**
 * The session in which nodes of `session` can be deleted now: itself, or a later one of the client. undefined if a server has said
 * that it is over, which deletes them, or if the client has no session any more.
 */
export function heirOf({ session: present }: ZooKeeper, session: Session): Session | undefined {
  if (!session.signal.aborted) return session
  return internalsOf(session).mayLiveOn && !present.signal.aborted ? present : undefined
}

/**
 * Makes the call in the heir of the session, and again in the next one if that ends meanwhile. Settles as the call does; with
 * undefined if there is no heir any more: then nothing is left to delete, or nothing can be.
 */
export async function inHeir<T>(
  zk: ZooKeeper,
  session: Session,
  call: (heir: Session) => Promise<T>,
): Promise<T | undefined> {
  for (let heir = heirOf(zk, session); heir !== undefined; heir = heirOf(zk, session)) {
    const calling = call(heir)
    // Otherwise `detach` of the heir would not wait for it.
    if (heir !== session) heir.waitUntil(calling)
    try {
      return await calling
    } catch (error) {
      if (!heir.signal.aborted) throw error
    }
  }
  return undefined
}
