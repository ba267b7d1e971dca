import type { Session } from '../operations/session.ts'

/** What recipes use of a session besides its public interface. */
export interface SessionInternals {
  /** The same object in all sessions of a client. */
  readonly client: object
  /**
   * Whether the session has ended although no server has said so: the client has heard nothing for too long, or a server has
   * answered with another session. The ensemble may keep it, and its ephemeral nodes, for up to its timeout after the last touch or
   * the last election.
   */
  readonly mayLiveOn: boolean
  /**
   * Touches the session twice, by a heartbeat that is sent as soon as all earlier requests are answered. Resolves when the server
   * has answered it, or when the connection is lost.
   */
  touch(): Promise<void>
}

/** The session may be of another copy of this package, so its class is not checked. */
export const internalsOf = (session: Session): SessionInternals => session as unknown as SessionInternals
