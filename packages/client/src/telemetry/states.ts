// The state of the client, from what happens.
import type { WatchIterator } from '../base/watch-iterator.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { EventOf, SessionInfo, Subscriber } from '../session/client-event.ts'
import { type ClientState, type FinalState, StateFeed } from './client-state.ts'

export class States implements Subscriber {
  readonly #runtime: Runtime
  readonly #feed: StateFeed
  /** Makes the error of the last attempt, or of the lost connection; undefined while there is a connection. */
  #why: (() => Error) | undefined

  constructor(runtime: Runtime) {
    this.#runtime = runtime
    this.#feed = new StateFeed({ name: 'connecting', since: runtime.wallNow() })
  }

  get current(): ClientState {
    return this.#feed.current
  }

  get final(): Promise<FinalState> {
    return this.#feed.final
  }

  watch(): WatchIterator<ClientState> {
    return this.#feed.watch()
  }

  unreached({ error, ensembleBehind }: EventOf<'unreached'>): void {
    this.#why = () => error
    const { current } = this
    if (current.name === 'disconnected' && ensembleBehind !== current.ensembleBehind) {
      this.#feed.enter({ ...current, since: this.#runtime.wallNow(), error, ensembleBehind })
    } else if (current.name === 'disconnected' || current.name === 'connecting') {
      this.#feed.amend({ ...current, error })
    }
  }

  connected({ session, server, readOnly }: EventOf<'connected'>): void {
    this.#why = undefined
    const { since, sessionId, timeout } = this.#ofSession(session)
    this.#feed.enter({ name: 'connected', since, sessionId, timeout, server, readOnly })
  }

  lost({ session, reason }: EventOf<'lost'>): void {
    this.#why = reason
    // The end of the session is a later state.
    if (session.isOver) return
    this.#feed.enter({ name: 'disconnected', ...this.#ofSession(session), error: reason(), ensembleBehind: false })
  }

  ended({ session, reason, error }: EventOf<'ended'>): void {
    const since = this.#runtime.wallNow()
    switch (reason) {
      case 'SessionExpired':
        return this.#feed.enter({ name: 'expired', ...this.#ofSession(session) })
      case 'AuthFailed':
        return this.#feed.enter({ name: 'authFailed', since, error })
      case 'Unreachable':
      case 'Closed':
        return this.#feed.enter({ name: 'closed', since })
    }
  }

  renewing(): void {
    this.#feed.enter({ name: 'connecting', since: this.#runtime.wallNow(), error: this.#why?.() })
  }

  over(): void {
    this.#feed.end()
  }

  #ofSession({ id, timeout }: SessionInfo): { since: number; sessionId: bigint; timeout: number } {
    return { since: this.#runtime.wallNow(), sessionId: id, timeout }
  }
}
