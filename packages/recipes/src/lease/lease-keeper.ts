// The holds of each session under one chroot, and their leases. One listener for the session, one for the connection, one
// timer and one round of confirmation at a time serve all of them.
import { type Connection, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { onAbort, timestamp } from '@zk/client/internal'
import { LeaseRenewal, type Proof } from './lease-renewal.ts'
import type { LossReason } from '../errors.ts'
import type { Lease } from './lease.ts'
import { leaseTimes } from './lease.ts'
import type { HeldWhile } from '../hold-options.ts'

/** A hold, as the keeper sees it. */
export interface Holding {
  readonly path: string
  readonly heldWhile: HeldWhile
  /** Its end decides with `heldWhile: 'confirmed'`. */
  readonly lease: Lease
  /** The follower relay delay, in ms: see `leaseTimes.relay`. */
  readonly followerRelayDelay: number
  readonly isSuspended: boolean
  lose(reason: LossReason, cause?: unknown): void
  /** A round has confirmed it: it is no longer suspended. */
  confirmed(): void
  /** The connection is lost. It is still held. */
  suspended(): void
}

/** The next round of confirmation, or the one under way, which plans the next one when it ends. */
type Round = { readonly name: 'none' } | { readonly name: 'due'; readonly at: number } | { readonly name: 'running' }

/** Added to the pause between two rounds, in ms: what was answered before the pause must be at least as old as the pause. */
const ROUNDING = 1

/** It exists as long as the session holds something. */
export class LeaseKeeper {
  /** The keepers by chroot: nodes are checked by their paths in it. */
  static readonly #ofSession = new WeakMap<Session, Map<string, LeaseKeeper>>()
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #renewal: LeaseRenewal
  readonly #held = new Set<Holding>()
  readonly #unlistenToSession: readonly (() => void)[]
  #connection: Connection | undefined
  #unlistenToConnection: (() => void) | undefined
  #round: Round = { name: 'none' }
  #doubt: unknown
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  static of(zk: ZooKeeper, session: Session): LeaseKeeper {
    const byChroot = LeaseKeeper.#ofSession.get(session) ?? new Map<string, LeaseKeeper>()
    LeaseKeeper.#ofSession.set(session, byChroot)
    const known = byChroot.get(zk.chroot)
    if (known !== undefined) return known
    const keeper = new LeaseKeeper(zk, session)
    byChroot.set(zk.chroot, keeper)
    return keeper
  }

  private constructor(zk: ZooKeeper, session: Session) {
    this.#zk = zk
    this.#session = session
    this.#renewal = new LeaseRenewal(zk, session)
    this.#unlistenToSession = [session.signal, session.detaching].map((signal) => onAbort(signal, () => this.#ended()))
  }

  /** Why the last round of confirmation failed; undefined where it did not. */
  get doubt(): unknown {
    return this.#doubt
  }

  /** From now on the holding is notified of its loss, at once if it is already lost. Its lease is renewed in time. */
  add(holding: Holding): void {
    const { signal, detaching, connection } = this.#session
    if (signal.aborted || detaching.aborted) return this.#loseWithSession(holding)
    if (connection === undefined && holding.heldWhile === 'connected') return holding.lose('Disconnected')
    this.#held.add(holding)
    const now = this.#zk.runtime.now()
    if (connection === undefined) holding.suspended()
    else this.#listenTo(connection)
    if (isConcerned(holding)) this.#confirmBy(now + (connection === undefined ? 0 : this.#pause(holding)))
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

  /** It leaves no listener: a program may make a view of its client for each lock. */
  #endWhenIdle(): void {
    if (this.#held.size > 0 || this.#round.name === 'running') return
    const byChroot = LeaseKeeper.#ofSession.get(this.#session)
    if (byChroot?.get(this.#zk.chroot) === this) byChroot.delete(this.#zk.chroot)
    for (const unlisten of this.#unlistenToSession) unlisten()
    this.#unlistenToConnection?.()
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
    this.#doubt = cause
    for (const holding of this.#held) {
      if (holding.heldWhile === 'connected') holding.lose('Disconnected', cause)
      else holding.suspended()
    }
    // The sync of the round waits for the next connection, whose handshake is the touch that it needs. So does a round under
    // way.
    this.#confirmBy(this.#zk.runtime.now())
  }

  // --- confirmation -----------------------------------------------------------------------------------------------

  /** The holds for which a round of confirmation is made. */
  get #concerned(): Holding[] {
    return [...this.#held].filter(isConcerned)
  }

  get #concernsAny(): boolean {
    for (const holding of this.#held) if (isConcerned(holding)) return true
    return false
  }

  #confirmBy(at: number): void {
    if (this.#round.name === 'running' || !this.#concernsAny) return
    if (this.#round.name === 'due' && this.#round.at <= at) return
    this.#round = { name: 'due', at }
    this.#wakeAt(at)
  }

  async #confirm(): Promise<void> {
    const followerRelayDelay = this.#concerned.reduce((longest, each) => Math.max(longest, each.followerRelayDelay), 0)
    // A hold that comes meanwhile, and needs a longer delay, waits for the next round.
    const checked = () => this.#concerned.filter((each) => each.followerRelayDelay <= followerRelayDelay)
    let nextBy = Infinity
    this.#round = { name: 'running' }
    try {
      const proof = await this.#renewal.prove(checked, followerRelayDelay)
      if (proof !== undefined) this.#took(proof)
      // The touches of this round will be relayed by then.
      nextBy = this.#zk.runtime.now() + this.#pause({ followerRelayDelay })
    } catch (error) {
      this.#doubt = error
      // The session is not over: something unusual, which the next round may not meet.
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
    // Each hold that comes looks at all others: the clocks are read once, and nothing is made.
    const present = timestamp(this.#zk.runtime)
    let remaining = Infinity
    for (const holding of this.#held) {
      if (isConcerned(holding)) remaining = Math.min(remaining, holding.lease.remainingAt(present))
    }
    return Math.max(leaseTimes.shortestPause(shortestTimeout), leaseTimes.next(shortestTimeout, usual, remaining))
  }

  #took({ touched, found, refused }: Proof<Holding>): void {
    const { connection } = this.#session
    this.#doubt = undefined
    if (connection !== undefined) this.#listenTo(connection)
    for (const { checked, cause } of refused) {
      if (cause.code === 'NoNode') checked.lose('NodeGone', cause)
      else if (checked.heldWhile === 'confirmed') checked.lose('LeaseLost', cause)
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
    this.#timer = { at, cancel: runtime.setTimer(at - runtime.now(), () => this.#awake()) }
  }

  #awake(): void {
    this.#timer = undefined
    const now = this.#zk.runtime.now()
    let next = Infinity
    for (const holding of this.#held) {
      const { remaining } = holding.lease
      if (remaining <= 0) holding.lose('LeaseLost', this.#doubt)
      else next = Math.min(next, now + remaining)
    }
    if (this.#round.name === 'due') {
      if (this.#round.at <= now) void this.#confirm()
      else next = Math.min(next, this.#round.at)
    }
    // A listener of a loss may have released the rest.
    if (next < Infinity && this.#held.size > 0) this.#wakeAt(next)
  }
}

/** A hold with `sessionAlive` needs no proof. But it must learn that it is resumed. */
function isConcerned({ heldWhile, isSuspended }: Holding): boolean {
  return heldWhile === 'confirmed' || isSuspended
}

/** The reason of the losses at the end of the session. */
export function endReason({ signal }: Session): LossReason {
  return KeeperError.is(signal.reason, 'SessionExpired') ? 'SessionExpired' : 'Closed'
}
