// The session in which the nodes of a session are deleted. Usually that is the session itself. But the client may give up a
// session before the ensemble ends it: at the local expiry, or when a server answers with another session. Its nodes then remain
// until the ensemble ends it, so the client deletes them in its next session. This is safe, since their names have a uuid.
import type { Session, ZooKeeper } from '@zk/client'
import { internalsOf } from '@zk/client/internal'

/**
 * The session in which nodes of `session` can be deleted now: `session` itself, or a later session of the client. Returns
 * undefined if a server has said that `session` is over, which deletes them, or if the client no longer has a session.
 */
export function cleanupSessionOf({ session: present }: ZooKeeper, session: Session): Session | undefined {
  if (!session.signal.aborted) return session
  return internalsOf(session).mayLiveOn && !present.signal.aborted ? present : undefined
}

/**
 * Makes the call in the session in which nodes of `session` can be deleted, and again in the next one if that session ends
 * meanwhile. Settles as the call does; resolves with undefined if no such session is left: then nothing is left to delete, or
 * nothing can be deleted.
 */
export async function inCleanupSession<T>(
  zk: ZooKeeper,
  session: Session,
  call: (current: Session) => Promise<T>,
): Promise<T | undefined> {
  for (let current = cleanupSessionOf(zk, session); current !== undefined; current = cleanupSessionOf(zk, session)) {
    const calling = call(current)
    // Otherwise `detach` of that session would not wait for the call.
    if (current !== session) internalsOf(current).waitUntil(calling)
    try {
      return await calling
    } catch (error) {
      if (!current.signal.aborted) throw error
    }
  }
  return undefined
}
