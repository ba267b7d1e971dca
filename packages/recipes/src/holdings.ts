// What each session holds. One listener a session and one a connection serve all of it.
import type { Connection, Session } from '@zk/client'
import type { LossReason } from './errors.ts'

/** Something that is held as long as its session and connection are. */
export interface Holding {
  lose(reason: LossReason, cause: unknown): void
}

export class Holdings {
  static readonly #ofSession = new WeakMap<Session, Holdings>()
  readonly #session: Session
  readonly #held = new Set<Holding>()
  #connection: Connection | undefined

  static of(session: Session): Holdings {
    const known = Holdings.#ofSession.get(session)
    if (known !== undefined) return known
    const holdings = new Holdings(session)
    Holdings.#ofSession.set(session, holdings)
    return holdings
  }

  private constructor(session: Session) {
    this.#session = session
    session.signal.addEventListener('abort', () => this.#loseAll(endReason(session), session.signal.reason), {
      once: true,
    })
  }

  /** The holding is told when its session or connection ends; at once when either has. */
  add(holding: Holding): void {
    const { connection, signal } = this.#session
    if (signal.aborted) return holding.lose(endReason(this.#session), signal.reason)
    if (connection === undefined) return holding.lose('Disconnected', undefined)
    this.#held.add(holding)
    if (connection === this.#connection) return
    this.#connection = connection
    const disconnected = () => this.#loseAll('Disconnected', connection.signal.reason)
    connection.signal.addEventListener('abort', disconnected, { once: true })
  }

  remove(holding: Holding): void {
    this.#held.delete(holding)
  }

  #loseAll(reason: LossReason, cause: unknown): void {
    for (const holding of this.#held) holding.lose(reason, cause)
    this.#held.clear()
  }
}

function endReason({ signal }: Session): LossReason {
  return (signal.reason as { code?: string }).code === 'SessionExpired' ? 'SessionExpired' : 'Closed'
}
