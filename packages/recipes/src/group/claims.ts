// Which names the memberships of one client have, so that no two of them treat the same node as theirs: both have the same session.
import type { Session, ZooKeeper } from '@zk/client'
import { memoized } from '../kernel/memoized.ts'
import { Deferred } from '../kernel/promises.ts'

const ofSessions = new WeakMap<Session, Claims>()

export class Claims {
  readonly #released = new Map<string, Deferred>()

  static of(session: Session): Claims {
    return memoized(ofSessions, session, () => new Claims())
  }

  /**
   * Claims the node at this path of the client. Returns a function that releases it, or, if another membership has it, a promise
   * that resolves when it is released.
   */
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
