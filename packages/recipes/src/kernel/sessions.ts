// What continues from session to session. When a session expires, the ensemble deletes its ephemeral nodes and its watches, and
// the client opens another session. So what a recipe does with nodes and watches begins anew in each session.
import { KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { throwIfAborted, wasAborted } from '@zk/client/internal'

/** Thrown by a body of `inEachSession` that must begin anew although its session lives. */
export class BeginAnew extends Error {}

/** Our node no longer exists: another client deleted it, or the contender has left. */
export class NodeVanished extends BeginAnew {}

export function vanishedIfMissing(error: unknown): never {
  throw KeeperError.is(error, 'NoNode') ? new NodeVanished() : error
}

/** Whether a body that failed with this error in this session must begin anew. A reason of the caller's signal is final. */
export function beginsAnew(zk: ZooKeeper, session: Session, error: unknown, signal: AbortSignal | undefined): boolean {
  if (wasAborted(error, signal)) return false
  return error instanceof BeginAnew || (KeeperError.is(error, 'SessionExpired') && zk.session !== session)
}

/** Throws for a contender that has left: the reason for which the session is over, or given up, or `NodeVanished`. */
export function throwVanished({ signal, detaching }: Session): never {
  throwIfAborted(signal)
  throwIfAborted(detaching)
  throw new NodeVanished()
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
      if (!beginsAnew(zk, session, error, signal)) throw error
      if (!(error instanceof BeginAnew)) expired?.(session)
    }
  }
}
