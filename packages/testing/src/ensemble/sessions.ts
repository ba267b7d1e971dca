import type { Member } from './member.ts'
import type { PrimaryServer } from './primary-server.ts'

/** A session as the leader knows it. */
export interface SessionInfo {
  /** Signed, as on the wire. */
  readonly id: bigint
  /** In ms, as agreed when it was created. */
  readonly timeOut: number
  /** The member that its requests come from, as far as the leader knows; undefined before the first. */
  readonly member: string | undefined
  /** When the leader ends it unless it is touched again, in ms since the ensemble began. */
  readonly expiresAt: number
  /** Its end is on its way. */
  readonly isClosing: boolean
}

/** The sessions, as the leader knows them: without a leader there are none. */
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

  /** Ends it as if nothing had been heard of it for too long. False where there is no leader, or no such session. */
  expire(id: bigint): boolean {
    const session = this.#primary?.tracker.get(id)
    if (session === undefined || session.isClosing) return false
    const leader = this.#leader()
    // One that is stopped does so when it goes on.
    leader?.process.input(() => leader.primary?.expire(id))
    return true
  }

  /**
   * As if its client had resumed it at this member: the next request of its connection gets SessionMoved, which closes
   * it. False where there is no leader, no such session, or no such follower.
   */
  move(id: bigint, to: string): boolean {
    const leader = this.#leader()
    const owner = leader?.name === to ? this.#primary?.owner : leader?.leading?.ownerOf(to)
    return owner !== undefined && (this.#primary?.tracker.setOwner(id, owner) ?? false)
  }

  get #primary(): PrimaryServer | undefined {
    return this.#leader()?.primary
  }
}
