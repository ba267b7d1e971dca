// How a holder's process stands still, and what it reports about it. All times in ms, on the machine's clock.
import type { LossReason } from '@zk/recipes'

/** Where in its program the process blocks its event loop. */
export type Place = 'a timer' | 'an I/O callback' | 'a promise chain' | 'between grant and first use'

export type Stall =
  | { readonly where: Place; readonly length: number }
  /** By SIGSTOP. */
  | { readonly where: 'anywhere'; readonly length: number }
  | { readonly where: 'a loop that allocates'; readonly bytes: number }
  /** The process does not stand still: its wall clock is set. */
  | { readonly where: 'no place'; readonly wallStep: number }

/** The holder of two locks below this path is to stall. */
export interface Order {
  readonly path: string
  readonly stall: Stall
}

/** One lock is polled with `isHeld`, also right after the stall. For the other only the signal is observed. */
export const locks = ['asked', 'signaled'] as const
export type LockName = (typeof locks)[number]

export interface Span {
  readonly from: number
  readonly to: number
  /** At the end of the stall; see `waitedForCpu`. */
  readonly waited: number
}

/** What one holder knew. */
export interface HoldReport {
  readonly token: string
  readonly from: number
  /** The last check that found it held began at this time. */
  readonly until: number
  /** The end of its lease, as known at that time. */
  readonly leaseEnd: number
  /** Until then; see `waitedForCpu`. */
  readonly waited: number
  readonly notified?: Told
}

export interface Told {
  readonly at: number
  readonly reason: LossReason
  /** Until then; see `waitedForCpu`. */
  readonly waited: number
}

export interface Report extends Readonly<Record<LockName, HoldReport>> {
  readonly stall: Span
}

export type Message =
  /** Ready for orders. */
  | 'ready'
  /** Other contenders hold both locks. */
  | 'queued'
  | 'stop me'
  | Report
