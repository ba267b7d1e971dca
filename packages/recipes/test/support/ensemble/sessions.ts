// Who has a session, and until when (server/SessionTrackerImpl.java, without its rounding up to ticks).
import type { VirtualWorld } from '../outside.ts'
import type { ServerConnection } from './connection.ts'

export interface ServerSession {
  readonly id: bigint
  readonly passwd: Uint8Array
  /** In ms. */
  readonly timeout: number
  connection: ServerConnection | undefined
}

interface Tracked extends ServerSession {
  touchedAt: number
  forget: () => void
}

const FIRST_ID = 0x1000_0000_0000_0001n

export class Sessions {
  readonly #world: VirtualWorld
  readonly #expire: (id: bigint) => void
  readonly #live = new Map<bigint, Tracked>()
  #nextId = FIRST_ID

  constructor(world: VirtualWorld, expire: (id: bigint) => void) {
    this.#world = world
    this.#expire = expire
  }

  get live(): readonly ServerSession[] {
    return [...this.#live.values()]
  }

  get(id: bigint): ServerSession | undefined {
    return this.#live.get(id)
  }

  open(timeout: number): ServerSession {
    const id = this.#nextId++
    const passwd = new Uint8Array(16).fill(Number(id % 251n) + 1)
    const session = { id, passwd, timeout, connection: undefined, touchedAt: this.#world.now(), forget: () => {} }
    this.#live.set(id, session)
    this.#watch(session)
    return session
  }

  /** The session, unless it is over or somebody else asks. */
  resume(id: bigint, passwd: Uint8Array | null): ServerSession | undefined {
    const session = this.#live.get(id)
    const knows = passwd !== null && session?.passwd.every((byte, index) => byte === passwd[index])
    return knows ? session : undefined
  }

  /** The client was heard. */
  touch({ id }: ServerSession): void {
    const session = this.#live.get(id)
    if (session !== undefined) session.touchedAt = this.#world.now()
  }

  end(id: bigint): void {
    this.#live.get(id)?.forget()
    this.#live.delete(id)
  }

  /** One timer a session, which looks again when there was a touch meanwhile. */
  #watch(session: Tracked): void {
    const left = session.touchedAt + session.timeout - this.#world.now()
    session.forget = this.#world.setTimer(left, () => {
      if (session.touchedAt + session.timeout <= this.#world.now()) this.#expire(session.id)
      else this.#watch(session)
    })
  }
}
