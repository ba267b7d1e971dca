// The state of a membership, and who follows it.
import type { Session, Stat, ZooKeeper } from '@zk/client'
import { inJson } from '@zk/client/internal'
import { withLimit } from '../kernel/limit.ts'
import { Deferred, unawaited } from '../kernel/promises.ts'
import type { Values } from '../kernel/watch-values.ts'
import { reportMember } from './diagnostics.ts'
import type { LostError } from '../errors/lost-error.ts'

/** The state of a membership. Times are in ms since the epoch, by the clock of this machine. In JSON bigints are text, `0x…`. */
export type MembershipState =
  /**
   * The node exists, as far as this client knows. The client learns of a deletion from an event, and of an expired session when
   * it is connected again. So others may already see the member absent.
   */
  | { readonly name: 'present'; readonly since: number; readonly sessionId: bigint; readonly czxid: bigint }
  /** The node is gone, and is created again. `cause` says what happened to it. */
  | { readonly name: 'absent'; readonly since: number; readonly cause: 'SessionExpired' | 'NodeDeleted' }
  /** The membership is over. */
  | { readonly name: 'ended'; readonly since: number; readonly error: LostError }

/**
 * The states that may follow each state. Other changes are ignored: an absent member does not become absent again, and an end is final.
 */
const following: Record<MembershipState['name'], readonly MembershipState['name'][]> = {
  absent: ['present', 'ended'],
  present: ['absent', 'ended'],
  ended: [],
}

export class MembershipStates {
  readonly #zk: ZooKeeper
  /** The path of the group, and of the member's node. */
  readonly #paths: { readonly path: string; readonly node: string }
  #current: MembershipState
  /** Whether the member has ever been present. Before that nothing is reported. */
  #wasPresent = false
  readonly #entered = new Deferred()
  /** Notified of every new state. */
  readonly #observers = new Set<() => void>()

  constructor(zk: ZooKeeper, paths: { readonly path: string; readonly node: string }) {
    this.#zk = zk
    this.#paths = paths
    this.#current = { name: 'absent', since: zk.runtime.wallNow(), cause: 'NodeDeleted' }
    unawaited(this.#entered.promise)
  }

  get current(): MembershipState {
    return this.#current
  }

  /** Resolves when the member is present for the first time. Rejects if the membership has ended before. */
  get entered(): Promise<void> {
    return this.#entered.promise
  }

  present({ id: sessionId }: Session, { czxid }: Stat): void {
    const since = this.#zk.runtime.wallNow()
    if (!this.#become(inJson({ name: 'present', since, sessionId, czxid }))) return
    this.#wasPresent = true
    this.#entered.resolve()
    reportMember(this.#zk, { ...this.#paths, event: 'present', sessionId })
  }

  absent(cause: 'SessionExpired' | 'NodeDeleted'): void {
    if (!this.#become({ name: 'absent', since: this.#zk.runtime.wallNow(), cause })) return
    reportMember(this.#zk, { ...this.#paths, event: 'absent', error: cause })
  }

  end(error: LostError): void {
    if (!this.#become({ name: 'ended', since: this.#zk.runtime.wallNow(), error })) return
    this.#entered.reject(error)
    if (!this.#wasPresent) return
    const event = error.code === 'Released' ? 'left' : 'lost'
    reportMember(this.#zk, { ...this.#paths, event, ...(event === 'lost' && { error }) })
  }

  #become(state: MembershipState): boolean {
    if (!following[this.#current.name].includes(state.name)) return false
    this.#current = state
    for (const notify of this.#observers) notify()
    return true
  }

  /** See `Membership.watchState`. */
  watch(signal: AbortSignal): Values<MembershipState> {
    let last: MembershipState | undefined
    return {
      next: async () => {
        while (this.#current === last) await this.#changes(signal)
        last = this.#current
        return last
      },
      // The state is this client's own.
      isStale: false,
      get isOver() {
        return last?.name === 'ended'
      },
      stop: () => {},
    }
  }

  async #changes(signal: AbortSignal): Promise<void> {
    const changing = new Deferred()
    this.#observers.add(changing.resolve)
    try {
      await withLimit(this.#zk.runtime, { signals: [signal] }, (limit) => limit.during(changing.promise))
    } finally {
      this.#observers.delete(changing.resolve)
    }
  }
}
