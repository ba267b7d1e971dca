// How the process of a holder is stalled, and what the process reports. All times are in ms, by the machine's clock.
import type { LostErrorCode } from '@zk/recipes'

/** The place in the program at which the process blocks its event loop. */
export type Place = 'a timer' | 'an I/O callback' | 'a promise chain' | 'between grant and first use'

export type Stall =
  | { readonly where: Place; readonly length: number }
  /** The process is stopped by SIGSTOP. */
  | { readonly where: 'anywhere'; readonly length: number }
  | { readonly where: 'a loop that allocates'; readonly bytes: number }
  /** The process does not stall; only its wall clock is set. */
  | { readonly where: 'no place'; readonly wallStep: number }

/** Order to a process: hold two locks below this path, and then stall. */
export interface Order {
  readonly path: string
  readonly stall: Stall
}

/** The first lock is polled with `isHeld`, even right after the stall. For the second only the signal is observed. */
export const locks = ['asked', 'signaled'] as const
export type LockName = (typeof locks)[number]

export interface Span {
  readonly from: number
  readonly to: number
  /** How long threads had waited for the CPU at the end of the stall: see `waitedForCpu`. */
  readonly waited: number
}

/** What a holder knew about one hold. */
export interface HoldReport {
  readonly token: string
  readonly from: number
  /** The time of the last check that found it held, read before the check. */
  readonly until: number
  /** The end of its lease, as the holder knew it at that time. */
  readonly leaseEnd: number
  /** How long threads had waited for the CPU until then: see `waitedForCpu`. */
  readonly waited: number
  readonly notified?: Told
}

export interface Told {
  readonly at: number
  readonly reason: LostErrorCode
  /** How long threads had waited for the CPU until then: see `waitedForCpu`. */
  readonly waited: number
}

export interface Report extends Readonly<Record<LockName, HoldReport>> {
  readonly stall: Span
}

export type Message =
  /** The process waits for an order. */
  | 'ready'
  /** Other contenders hold both locks. */
  | 'queued'
  | 'stop me'
  | Report
