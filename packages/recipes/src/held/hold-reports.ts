// What is published and logged about a hold: only from `acquired` on, since a hold may be lost before the caller gets it.
import type { ZooKeeper } from '@zk/client'
import type { Lease } from '../lease/lease.ts'
import type { LossReason } from '../lease/loss-reason.ts'
import type { ContenderNodes } from '../queue/contender-node.ts'
import { contended, downgraded, logLateRelease, report } from '../queue/diagnostics.ts'

/** If a hold is released this long after its loss, in ms, the log shows it. Work that uses the signal ends sooner. */
const LATE_RELEASE = 1_000

/** What is reported about a hold. */
interface ReportedHold {
  readonly lease: Lease
  leaseRemaining(): number
}

export class HoldReports {
  /** See `RecipeMessages`. */
  readonly kind: string
  readonly #zk: ZooKeeper
  readonly #nodes: ContenderNodes
  readonly #hold: ReportedHold
  readonly #since: number
  #isAcquired = false
  /** When the loss was reported; undefined before that, and after the release. */
  #lostAt: number | undefined

  constructor(zk: ZooKeeper, nodes: ContenderNodes, hold: ReportedHold, kind: string) {
    this.kind = kind
    this.#zk = zk
    this.#nodes = nodes
    this.#hold = hold
    this.#since = zk.runtime.now()
  }

  /** The caller gets the hold. `waited` is the time since the call, in ms. `isContended` says that others were ahead. */
  acquired(waited: number, isContended: boolean): void {
    this.#isAcquired = true
    const line = isContended ? contended : undefined
    report(this.#zk, 'zk:acquired', this.kind, () => ({ ...this.#identity, waited, ...this.#remaining }), line)
  }

  suspended(leaseRemaining: number): void {
    if (this.#isAcquired) report(this.#zk, 'zk:suspended', this.kind, () => ({ ...this.#identity, leaseRemaining }))
  }

  resumed(): void {
    if (this.#isAcquired) report(this.#zk, 'zk:resumed', this.kind, () => ({ ...this.#identity, ...this.#remaining }))
  }

  ended(reason: LossReason, cause: unknown): void {
    if (!this.#isAcquired) return
    const now = this.#zk.runtime.now()
    const held = now - this.#since
    if (reason === 'Released') {
      report(this.#zk, 'zk:released', this.kind, () => ({ ...this.#identity, held }))
      return
    }
    const line = reason === 'Downgraded' ? downgraded : undefined
    const leaseEnd = reason === 'LeaseLost' ? { leaseEndedAgo: Math.max(0, -this.#hold.lease.remaining) } : {}
    const refusal = reason === 'Refused' ? { err: cause } : {}
    report(this.#zk, 'zk:lost', this.kind, () => ({ ...this.#identity, held, reason, ...leaseEnd, ...refusal }), line)
    if (reason !== 'Downgraded') this.#lostAt = now
  }

  /** Logs the release of a lost hold if it is late: the work has probably gone on after the loss, and does not use the signal. */
  releasedAfterLoss(): void {
    if (this.#lostAt === undefined) return
    const after = this.#zk.runtime.now() - this.#lostAt
    this.#lostAt = undefined
    if (after >= LATE_RELEASE) logLateRelease(this.#zk, this.kind, { ...this.#identity, after })
  }

  get #identity() {
    const [{ path: node, czxid: fencingToken }] = this.#nodes
    // All permits of a semaphore have one path, and each lock of a `MultiLock` has its own.
    const paths = new Set(this.#nodes.map(({ folder }) => folder.recipePath))
    return { path: [...paths].join(', '), node, fencingToken }
  }

  get #remaining() {
    return { leaseRemaining: this.#hold.leaseRemaining() }
  }
}
