// The options of the calls that recipes make in a session. They are created once for each session, because otherwise each call
// would allocate an object.
import type { CallOptions, Session } from '@zk/client'
import { expecting } from '@zk/client/internal'
import { memoized } from './memoized.ts'

const ofSessions = new WeakMap<Session, SessionOptions>()

/** The options for the calls of one session. Both kinds say that NoNode is an expected answer: it is traced without an error. */
export class SessionOptions {
  /** For a call that runs in this session only. */
  readonly bound: { readonly session: Session }
  /** The same, and the client does not repeat the call if a busy server has not executed it: see `pinnedTo`. */
  readonly pinned: { readonly session: Session; readonly repeatThrottled: false }

  static of(session: Session): SessionOptions {
    return memoized(ofSessions, session, () => new SessionOptions(session))
  }

  private constructor(session: Session) {
    this.bound = expecting({ session }, 'NoNode')
    this.pinned = expecting({ session, repeatThrottled: false }, 'NoNode')
  }

  /** Whether this object belongs to a `SessionOptions`. */
  static has(options: CallOptions): boolean {
    const known = options.session && ofSessions.get(options.session)
    return known !== undefined && (options === known.pinned || options === known.bound)
  }
}
