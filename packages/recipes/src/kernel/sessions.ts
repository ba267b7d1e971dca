// What continues from session to session. When a session expires, the ensemble deletes its ephemeral nodes and its watches, and
// the client opens another session. So what a recipe does with nodes and watches begins anew in each session.
import { KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { wasAborted } from '@zk/client/internal'

/** Thrown by a body of `inEachSession` that must begin anew although its session lives. */
export class BeginAnew extends Error {}

/** Our node no longer exists: another client deleted it, or the contender has left. */
export class NodeVanished extends BeginAnew {}

export function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}

export interface EachSession {
  /** The caller's signal: if it has aborted, its reason is final. */
  readonly signal?: AbortSignal | undefined
  /** Called with the session that has expired, before the body begins in the next one. */
  readonly expired?: (session: Session) => void
}

/**
 * Settles as `body` does in the current session. If that session expires, and the client has a next one, `body` begins anew in
 * the next one. It also begins anew after a `BeginAnew`.
 */
export async function inEachSession<T>(
  zk: ZooKeeper,
  body: (session: Session) => Promise<T>,
  { signal, expired }: EachSession = {},
): Promise<T> {
  for (;;) {
    const { session } = zk
    try {
      return await body(session)
    } catch (error) {
      if (wasAborted(error, signal)) throw error
      if (error instanceof BeginAnew) continue
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && zk.session !== session
      if (!hasNextSession) throw error
      expired?.(session)
    }
  }
}
