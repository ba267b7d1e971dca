import { unsignedHex } from '../connection/describe.ts'
import { checkMember } from '../connection/fault.ts'
import type { SessionInfo, Sessions } from '../ensemble/index.ts'
import type { Control } from './control.ts'
import { inJson } from './in-json.ts'
import { type MemberLike, nameOf } from './test-network.ts'

/** The sessions that the leader knows. */
export class TestSessions {
  readonly #sessions: Sessions
  readonly #members: readonly string[]
  readonly #control: Control

  /** @internal */
  constructor(sessions: Sessions, members: readonly string[], control: Control) {
    this.#sessions = sessions
    this.#members = members
    this.#control = control
  }

  /** All sessions that the leader knows; none without a leader. */
  list(): readonly SessionInfo[] {
    return this.#sessions.list().map(inJson)
  }

  /** For logs: the list. */
  toJSON(): object {
    return this.list()
  }

  /** The session with this id; undefined if the leader knows none. */
  get(id: bigint): SessionInfo | undefined {
    const session = this.#sessions.get(id)
    return session && inJson(session)
  }

  /**
   * Expires a session, as if its client had been silent for too long: its ephemeral nodes are deleted, and its connection is
   * closed without an answer. It expires when a quorum has agreed: at once if messages between members take no time,
   * otherwise later. A leader with a minority never expires it (`TestEnsemble.serving` waits for another leader).
   */
  expire(id: bigint): void {
    this.#check(id)
    this.#control(`sessions.expire(0x${unsignedHex(id)})`, () => this.#sessions.expire(id))
  }

  /**
   * Moves a session on the leader, as if its client had resumed it on another member. The next write on its current connection
   * ends that connection (SessionMoved).
   */
  move(id: bigint, to: MemberLike): void {
    const name = nameOf(to)
    checkMember(name, this.#members)
    this.#check(id)
    const isThere = this.#control(`sessions.move(0x${unsignedHex(id)}, ${name})`, () => this.#sessions.move(id, name))
    if (!isThere) throw new Error(`sessions.move: ${name} does not follow the leader, no client can resume there`)
  }

  #check(id: bigint): void {
    if (typeof id !== 'bigint') throw new TypeError(`a session's id is a bigint, not ${String(id)}`)
    if (this.get(id) !== undefined) return
    const known = this.list().map((session) => `0x${unsignedHex(session.id)}`)
    throw new RangeError(`there is no session 0x${unsignedHex(id)}; there are ${known.join(', ') || 'none'}`)
  }
}
