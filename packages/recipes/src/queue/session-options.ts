// The options of the calls that recipes make in a session. There is one object for all calls: V8 gives each object a shape of
// its own where a new key follows a spread, as in `expecting`. That takes 1 µs and 300 bytes, and slows down all code that reads it.
import type { CallOptions, Session } from '@zk/client'
import { expecting } from '@zk/client/internal'

/** A missing node is an answer, and is traced without an error. */
export class SessionOptions {
  static readonly #ofSession = new WeakMap<Session, SessionOptions>()
  /** For a call that runs in this session only. */
  readonly bound: { readonly session: Session }
  /** For one that also rejects when a busy server has not executed it: see `pinnedTo`. */
  readonly pinned: { readonly session: Session; readonly repeatThrottled: false }

  static of(session: Session): SessionOptions {
    const known = SessionOptions.#ofSession.get(session)
    if (known !== undefined) return known
    const made = new SessionOptions(session)
    SessionOptions.#ofSession.set(session, made)
    return made
  }

  private constructor(session: Session) {
    this.bound = expecting({ session }, 'NoNode')
    this.pinned = expecting({ session, repeatThrottled: false }, 'NoNode')
  }

  /** Whether they are options of this kind. */
  static has(options: CallOptions): boolean {
    const known = options.session && SessionOptions.#ofSession.get(options.session)
    return known !== undefined && (options === known.pinned || options === known.bound)
  }
}
