import type { Member } from './member.ts'
import type { PrimaryServer } from './primary-server.ts'

/** A session as the leader knows it. */
export interface SessionInfo {
  /** The id of the session, signed as on the wire. */
  readonly id: bigint
  /** The timeout in ms that was negotiated when the session was created. */
  readonly timeOut: number
  /** The member from which its requests come, as far as the leader knows; undefined before the first request. */
  readonly member: string | undefined
  /** The time at which the leader expires it if it is not touched again, in ms since the ensemble began. */
  readonly expiresAt: number
  /** Whether it is being closed. */
  readonly isClosing: boolean
}

/** The sessions that the leader knows. Without a leader there are none. */
export class Sessions {
  readonly #leader: () => Member | undefined

  constructor(leader: () => Member | undefined) {
    this.#leader = leader
  }

  list(): readonly SessionInfo[] {
    const ids = this.#leader()?.sessionTimeouts.keys() ?? []
    return [...ids].map((id) => this.get(id)).filter((info) => info !== undefined)
  }

  get(id: bigint): SessionInfo | undefined {
    const leader = this.#leader()
    const session = this.#primary?.tracker.get(id)
    const timeOut = leader?.sessionTimeouts.get(id)
    if (session === undefined || timeOut === undefined) return undefined
    const { owner, expiresAt, isClosing } = session
    return { id, timeOut, member: owner?.member, expiresAt, isClosing }
  }

  /** Expires the session, as if it had not been touched for too long. False if there is no leader or no such session. */
  expire(id: bigint): boolean {
    const session = this.#primary?.tracker.get(id)
    if (session === undefined || session.isClosing) return false
    const leader = this.#leader()
    // A leader that is stopped does this as soon as it continues.
    leader?.process.input(() => leader.primary?.expire(id))
    return true
  }

  /**
   * Moves the session, as if its client had resumed it on this member. The next write on its old connection gets
   * SessionMoved, which closes that connection. False if there is no leader, no such session, or no such follower.
   *
   * A follower asks the leader on the connection on which it relays requests. So the leader first gets the writes that this
   * follower has relayed for an older connection of the session.
   */
  move(id: bigint, to: string): boolean {
    const leader = this.#leader()
    const primary = leader?.primary
    const session = primary?.tracker.get(id)
    if (primary === undefined || session === undefined || session.isClosing) return false
    if (leader!.name === to) return primary.tracker.setOwner(id, primary.owner)
    const handler = leader!.leading?.handlerOf(to)
    handler?.channel.behindFollower(() => primary.tracker.setOwner(id, handler))
    return handler !== undefined
  }

  get #primary(): PrimaryServer | undefined {
    return this.#leader()?.primary
  }
}
