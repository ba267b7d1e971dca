// Which names the memberships of one client have, so that two of them never take one node for theirs: both have the same
// session.
import type { Session, ZooKeeper } from '@zk/client'
import { memoized } from '../kernel/memoized.ts'
import { Deferred } from '../kernel/promises.ts'

const ofSessions = new WeakMap<Session, Claims>()

export class Claims {
  readonly #released = new Map<string, Deferred>()

  static of(session: Session): Claims {
    return memoized(ofSessions, session, () => new Claims())
  }

  /** Takes the node of this client's path. Returns what gives it back, or a promise of when another membership does. */
  take({ chroot }: ZooKeeper, path: string): (() => void) | Promise<void> {
    const whole = `${chroot === '/' ? '' : chroot}${path}`
    const other = this.#released.get(whole)
    if (other !== undefined) return other.promise
    const claim = new Deferred()
    this.#released.set(whole, claim)
    return () => {
      if (this.#released.get(whole) === claim) this.#released.delete(whole)
      claim.resolve()
    }
  }
}
