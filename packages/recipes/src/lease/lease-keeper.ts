// Keeps the leases of all holds of a session under one chroot. For all of them together it has one listener on the session, one
// on the connection, one timer, and one round at a time.
import { type Connection, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { internalsOf, onAbort, type SessionInternals, timestamp } from '@zk/client/internal'
import { LeaseRenewal, type Proof } from './lease-renewal.ts'
import { memoized } from '../kernel/memoized.ts'
import type { LossReason } from './loss-reason.ts'
import type { Lease } from './lease.ts'
import { leaseTimes } from './lease.ts'
import type { HeldWhile } from './hold-options.ts'

/** What the keeper needs from a hold. */
export interface Holding {
  /** The paths of all its nodes: it is lost as soon as one of them is gone. */
  readonly paths: readonly string[]
  readonly heldWhile: HeldWhile
  /** With `heldWhile: 'confirmed'` the hold is lost when this lease ends. */
  readonly lease: Lease
  /** The follower relay delay, in ms: see `leaseTimes.relay`. */
  readonly followerRelayDelay: number
  readonly isSuspended: boolean
  lose(reason: LossReason, cause?: unknown): void
  /** Called when a round has confirmed the hold: it is no longer suspended. */
  confirmed(): void
  /** Called when the connection is lost. The hold is still held. */
  suspended(): void
}

/** The next round, or the one under way. When a round ends it plans the next one. */
type Round = { readonly name: 'none' } | { readonly name: 'due'; readonly at: number } | { readonly name: 'running' }

/** Added to the pause between two rounds, in ms, so that rounded times do not make it shorter than the follower relay delay. */
const ROUNDING = 1

/** The keepers of each session, by chroot: a round checks nodes by their paths in a chroot. */
const ofSessions = new WeakMap<Session, Map<string, LeaseKeeper>>()

/**
 * The keeper listens as long as the session holds something under this chroot. The last one stays for the next hold: to make
 * another one takes 4 % of the memory that a free lock allocates.
 */
export class LeaseKeeper {
  readonly #zk: ZooKeeper
  readonly #session: SessionInternals
  readonly #renewal: LeaseRenewal
  readonly #held = new Set<Holding>()
  #unlistenToSession: readonly (() => void)[] = []
  #connection: Connection | undefined
  #unlistenToConnection: (() => void) | undefined
  #round: Round = { name: 'none' }
  #lastFailure: unknown
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  static of(zk: ZooKeeper, session: Session): LeaseKeeper {
    const byChroot = memoized(ofSessions, session, () => new Map<string, LeaseKeeper>())
    return memoized(byChroot, zk.chroot, () => new LeaseKeeper(zk, session))
  }

  private constructor(zk: ZooKeeper, session: Session) {
    this.#zk = zk
    this.#session = internalsOf(session)
    this.#renewal = new LeaseRenewal(zk, session)
  }

  /** Why the last round failed, or why the connection was lost after it; undefined if all is well. */
  get lastFailure(): unknown {
    return this.#lastFailure
  }

  /** From now on renews the lease of this holding, and notifies the holding of its loss: at once if it is already lost. */
  add(holding: Holding): void {
    const { signal, detaching, connection } = this.#session
    if (signal.aborted || detaching.aborted) return this.#loseWithSession(holding)
    if (connection === undefined && holding.heldWhile === 'connected') return holding.lose('Disconnected')
    if (this.#unlistenToSession.length === 0) {
      const ended = () => this.#ended()
      this.#unlistenToSession = [onAbort(signal, ended), onAbort(detaching, ended)]
    }
    this.#held.add(holding)
    const now = this.#zk.runtime.now()
    if (connection === undefined) holding.suspended()
    else this.#listenTo(connection)
    if (needsConfirmation(holding)) this.#confirmBy(now + (connection === undefined ? 0 : this.#pause(holding)))
    if (holding.heldWhile === 'confirmed') this.#wakeAt(now + holding.lease.remaining)
  }

  remove(holding: Holding): void {
    this.#held.delete(holding)
    if (this.#held.size > 0) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (this.#round.name === 'due') this.#round = { name: 'none' }
    this.#endWhenIdle()
  }

  /** Removes the listeners, and the keeper unless it is the only one: a program may use another chroot for each lock. */
  #endWhenIdle(): void {
    if (this.#held.size > 0 || this.#round.name === 'running') return
    const byChroot = ofSessions.get(this.#session)!
    if (byChroot.size > 1) byChroot.delete(this.#zk.chroot)
    for (const unlisten of this.#unlistenToSession) unlisten()
    this.#unlistenToSession = []
    this.#unlistenToConnection?.()
    this.#unlistenToConnection = undefined
    this.#connection = undefined
    this.#lastFailure = undefined
  }

  // --- the session and its connections ----------------------------------------------------------------------------

  #ended(): void {
    for (const holding of this.#held) this.#loseWithSession(holding)
  }

  #loseWithSession(holding: Holding): void {
    const { signal, detaching } = this.#session
    holding.lose(endReason(this.#session), signal.aborted ? signal.reason : detaching.reason)
  }

  #listenTo(connection: Connection): void {
    if (connection === this.#connection) return
    this.#connection = connection
    this.#unlistenToConnection?.()
    this.#unlistenToConnection = onAbort(connection.signal, (cause) => this.#disconnected(cause))
  }

  #disconnected(cause: unknown): void {
    this.#lastFailure = cause
    for (const holding of this.#held) {
      if (holding.heldWhile === 'connected') holding.lose('Disconnected', cause)
      else holding.suspended()
    }
    // A round begins at once. Its sync waits for the next connection, whose handshake is then the p of the round.
    this.#confirmBy(this.#zk.runtime.now())
  }

  // --- confirmation -----------------------------------------------------------------------------------------------

  /** The holds that a round confirms. */
  get #toConfirm(): Holding[] {
    return [...this.#held].filter(needsConfirmation)
  }

  get #mustConfirmAny(): boolean {
    for (const holding of this.#held) if (needsConfirmation(holding)) return true
    return false
  }

  #confirmBy(at: number): void {
    if (this.#round.name === 'running' || !this.#mustConfirmAny) return
    if (this.#round.name === 'due' && this.#round.at <= at) return
    this.#round = { name: 'due', at }
    this.#wakeAt(at)
  }

  async #confirm(): Promise<void> {
    const followerRelayDelay = this.#toConfirm.reduce((longest, each) => Math.max(longest, each.followerRelayDelay), 0)
    // If a hold is added meanwhile and needs a longer delay, it waits for the next round.
    const checked = () => this.#toConfirm.filter((each) => each.followerRelayDelay <= followerRelayDelay)
    let nextBy = Infinity
    this.#round = { name: 'running' }
    try {
      const proof = await this.#renewal.prove(checked, followerRelayDelay)
      if (proof !== undefined) this.#apply(proof)
      // By then the leader will have received the touches of this round.
      nextBy = this.#zk.runtime.now() + this.#pause({ followerRelayDelay })
    } catch (error) {
      this.#lastFailure = error
      // If the session lives on, the error is an unusual one, and the next round may succeed.
      if (!this.#session.signal.aborted)
        nextBy = this.#zk.runtime.now() + leaseTimes.retry(this.#session.shortestTimeout)
    }
    this.#round = { name: 'none' }
    if (nextBy < Infinity) this.#confirmBy(nextBy)
    this.#endWhenIdle()
  }

  #pause({ followerRelayDelay }: { readonly followerRelayDelay: number }): number {
    const { shortestTimeout } = this.#session
    const usual = leaseTimes.pause(shortestTimeout, followerRelayDelay) + ROUNDING
    // This loop runs over all holds whenever one is added, so the clocks are read once, and nothing is allocated.
    const present = timestamp(this.#zk.runtime)
    let remaining = Infinity
    for (const holding of this.#held) {
      if (needsConfirmation(holding)) remaining = Math.min(remaining, holding.lease.remainingAt(present))
    }
    return Math.max(leaseTimes.shortestPause(shortestTimeout), leaseTimes.next(shortestTimeout, usual, remaining))
  }

  #apply({ touched, found, refused }: Proof<Holding>): void {
    const { connection } = this.#session
    this.#lastFailure = undefined
    if (connection !== undefined) this.#listenTo(connection)
    for (const { checked, cause } of refused) {
      if (cause.code === 'NoNode') checked.lose('NodeGone', cause)
      else if (checked.heldWhile === 'confirmed') checked.lose('Refused', cause)
      else checked.confirmed()
    }
    for (const holding of found) {
      holding.lease.renew(touched, () => leaseTimes.proven(this.#session.shortestTimeout))
      holding.confirmed()
    }
  }

  // --- time -------------------------------------------------------------------------------------------------------

  #wakeAt(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return
    this.#timer?.cancel()
    const { runtime } = this.#zk
    this.#timer = { at, cancel: runtime.setTimer(at - runtime.now(), () => this.#onTimer()) }
  }

  #onTimer(): void {
    this.#timer = undefined
    const now = this.#zk.runtime.now()
    let next = Infinity
    for (const holding of this.#held) {
      const { remaining } = holding.lease
      if (remaining <= 0) holding.lose('LeaseLost', this.#lastFailure)
      else next = Math.min(next, now + remaining)
    }
    if (this.#round.name === 'due') {
      if (this.#round.at <= now) void this.#confirm()
      else next = Math.min(next, this.#round.at)
    }
    // A callback of a loss may have released the other holds.
    if (next < Infinity && this.#held.size > 0) this.#wakeAt(next)
  }
}

/** Whether a round must confirm the hold: to renew its lease, or to end its suspension. */
function needsConfirmation({ heldWhile, isSuspended }: Holding): boolean {
  return heldWhile === 'confirmed' || isSuspended
}

/** The reason why all holds are lost when the session ends. */
export function endReason({ signal }: Session): LossReason {
  return KeeperError.is(signal.reason, 'SessionExpired') ? 'SessionExpired' : 'Closed'
}
