import type { Session } from './session.ts'

/** What recipes use of a session besides its public interface. */
export interface SessionInternals {
  /**
   * Touches the session twice, by a heartbeat that is sent as soon as all earlier requests are answered. Resolves when the server
   * has answered it, or when the connection is lost.
   */
  touch(): Promise<void>
}

/** The session may be of another copy of this package, so its class is not checked. */
export const internalsOf = (session: Session): SessionInternals => session as unknown as SessionInternals
