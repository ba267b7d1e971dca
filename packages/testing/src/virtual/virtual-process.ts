import type { VirtualRuntime } from './virtual-runtime.ts'

/** What is special about a process. */
export interface VirtualProcessOptions {
  /** The rate of its clocks, above 0: with 1.01 they show 101 ms after 100. @default 1 */
  clockRate?: number | undefined
}

/**
 * One process of a virtual world. Give it to `connect({ runtime })`, to as many clients as run in it. Faults change its timers,
 * its connections and its clocks. They do not stop its code: code that waits for none of these goes on.
 */
export interface VirtualProcess extends VirtualRuntime {
  /** Its address, as members see it: `10.0.0.1` for the first. */
  readonly name: string
  /** Whether it stands still. */
  readonly isStalled: boolean
  /** Whether it was killed. */
  readonly isKilled: boolean
  /** Timers that are set. */
  readonly timers: number
  /**
   * Stops the process for `duration` ms: a blocked event loop, a stopped process, a suspended machine. Its clocks go on.
   * Afterwards its due timers fire, late. Then it reads what has arrived. This is Node's order. Does nothing when the process
   * stands still already, or is killed. Throws a `RangeError` for a value that is no duration.
   */
  stall(duration: number): void
  /**
   * Ends the process: it gets nothing any more. Its connections are closed. When its `'machine'` is gone they are not, and
   * no member notices. @default 'process'
   */
  kill(what?: 'process' | 'machine'): void
  /** Sets the wall clock `by` ms forward, or back where negative. `now()` does not jump. */
  setWallClock(by: number): void
}
