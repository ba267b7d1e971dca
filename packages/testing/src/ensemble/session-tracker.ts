// The leader's record of sessions: which sessions live, when they expire, and their owners (SessionTrackerImpl).
import { ErrorCode } from '@zk/wire'
import { type Expiring, ExpiryQueue } from './expiry-queue.ts'
import type { Process } from './process.ts'

/** The source of the requests of a session: the connection of one follower, or the leader itself. */
export interface Owner {
  readonly member: string
}

export interface TrackedSession extends Expiring {
  readonly id: bigint
  /** Whether the session is being closed. Then no touch can keep it alive. */
  isClosing: boolean
  /** The owner; undefined until the first request. */
  owner: Owner | undefined
}

export class SessionTracker {
  readonly #process: Process
  readonly #queue: ExpiryQueue<TrackedSession>
  readonly #sessions = new Map<bigint, TrackedSession>()
  readonly #expire: (id: bigint) => void
  /** Whether the next poll for expired sessions is scheduled. */
  #state: 'idle' | 'scheduled' | 'stopped' = 'idle'

  /** Each leader makes a new tracker, so the timeout of every session starts over. */
  constructor(process: Process, tickTime: number, sessions: ReadonlyMap<bigint, number>, expire: (id: bigint) => void) {
    this.#process = process
    this.#queue = new ExpiryQueue(tickTime, process.now)
    this.#expire = expire
    for (const [id, timeOut] of sessions) this.track(id, timeOut)
  }

  get(id: bigint): TrackedSession | undefined {
    return this.#sessions.get(id)
  }

  /** The times at which sessions expire if they are not touched. */
  get expiry(): (readonly [number, readonly bigint[]])[] {
    return this.#queue.buckets.map(([at, sessions]) => [at, sessions.map(({ id }) => id)])
  }

  track(id: bigint, timeOut: number): void {
    const known = this.#sessions.get(id)
    if (known !== undefined) return this.#queue.update(known, this.#process.now, timeOut)
    const session = { id, isClosing: false, owner: undefined, expiresAt: 0 }
    this.#sessions.set(id, session)
    this.#queue.add(session, this.#process.now, timeOut)
    if (this.#state === 'idle') this.#schedule()
  }

  /**
   * Restarts the timeout, with the length that the current connection has negotiated. Returns false if the session is unknown or
   * closing.
   */
  touch(id: bigint, timeOut: number): boolean {
    const session = this.#sessions.get(id)
    if (session === undefined || session.isClosing) return false
    this.#queue.update(session, this.#process.now, timeOut)
    return true
  }

  setClosing(id: bigint): void {
    const session = this.#sessions.get(id)
    if (session !== undefined) session.isClosing = true
  }

  remove(id: bigint): void {
    const session = this.#sessions.get(id)
    if (session === undefined) return
    this.#sessions.delete(id)
    this.#queue.remove(session)
  }

  /** Checks the owner of a request. Returns 0, or the code with which the request is refused (checkSession). */
  check(id: bigint, owner: Owner): number {
    const session = this.#sessions.get(id)
    if (session === undefined || session.isClosing) return ErrorCode.SessionExpired
    session.owner ??= owner
    return session.owner === owner ? ErrorCode.Ok : ErrorCode.SessionMoved
  }

  setOwner(id: bigint, owner: Owner): boolean {
    const session = this.#sessions.get(id)
    if (session === undefined || session.isClosing) return false
    session.owner = owner
    return true
  }

  stop(): void {
    this.#state = 'stopped'
  }

  #schedule(): void {
    this.#state = 'scheduled'
    this.#process.at(this.#queue.next, () => this.#poll(), 'tracker')
  }

  #poll(): void {
    while (this.#state !== 'stopped' && this.#queue.next <= this.#process.now) {
      for (const session of this.#queue.poll()) {
        session.isClosing = true
        this.#expire(session.id)
      }
    }
    if (this.#state === 'stopped') return
    if (this.#queue.size > 0) this.#schedule()
    else this.#state = 'idle'
  }
}
