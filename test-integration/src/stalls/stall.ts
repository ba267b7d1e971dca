// How a holder's process stands still, and what it tells of it. All times in ms, by the machine's clock.
import type { LossReason } from '@zk/recipes'

/** Where in its program the process blocks its event loop. */
export type Place = 'a timer' | 'an I/O callback' | 'a promise chain' | 'between grant and first use'

export type Stall =
  | { readonly where: Place; readonly length: number }
  /** By SIGSTOP. */
  | { readonly where: 'anywhere'; readonly length: number }
  | { readonly where: 'a loop that allocates'; readonly bytes: number }
  /** It does not stand still: the clock on the wall is set. */
  | { readonly where: 'no place'; readonly wallStep: number }

/** Who holds two locks of this path is to stall. */
export interface Order {
  readonly path: string
  readonly stall: Stall
}

/** One lock is asked about again and again, also at once when the stall is over. Of the other only the signal is heard. */
export const locks = ['asked', 'heard'] as const
export type LockName = (typeof locks)[number]

export interface Span {
  readonly from: number
  readonly to: number
  /** At its end; see `waitedForCpu`. */
  readonly waited: number
}

/** What one holder knew. */
export interface HoldReport {
  readonly token: string
  readonly from: number
  /** Before it asked for the last time and was told that it holds. */
  readonly until: number
  /** Of its lease, as it heard at that time. */
  readonly leaseEnd: number
  /** By then; see `waitedForCpu`. */
  readonly waited: number
  readonly told?: Told
}

export interface Told {
  readonly at: number
  readonly reason: LossReason
  /** By then; see `waitedForCpu`. */
  readonly waited: number
}

export interface Report extends Readonly<Record<LockName, HoldReport>> {
  readonly stall: Span
}

export type Message =
  /** To take orders. */
  | 'ready'
  /** Both locks are somebody else's. */
  | 'queued'
  | 'stop me'
  | Report
