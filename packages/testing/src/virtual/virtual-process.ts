import type { VirtualRuntime } from './virtual-runtime.ts'

/** How a process differs from others. */
export interface VirtualProcessOptions {
  /** The rate of its clocks, above 0: with 1.01 they show 101 ms after 100. @default 1 */
  clockRate?: number | undefined
}

/**
 * One process of a virtual world. Pass it to `connect({ runtime })`, for as many clients as run in it. Faults affect its
 * timers, its connections and its clocks. They do not stop its code: code that waits for none of these continues.
 */
export interface VirtualProcess extends VirtualRuntime {
  /** Its address, as members see it: `10.0.0.1` for the first process. */
  readonly name: string
  /** Whether it is stopped by `stall`. */
  readonly isStalled: boolean
  /** Whether it was killed. */
  readonly isKilled: boolean
  /** The number of timers that are set. */
  readonly timers: number
  /**
   * Stops the process for `duration` ms, as if its event loop was blocked, or the process or its machine was suspended. Its
   * clocks keep running. Afterwards its due timers fire, late, and then it reads what has arrived, as Node does. Does nothing if
   * it is already stopped or was killed. Throws a `RangeError` for a value that is not a duration.
   */
  stall(duration: number): void
  /**
   * Ends the process: it receives nothing any more. Its connections are closed. But if the whole `'machine'` is killed, they
   * stay open, and no member notices. @default 'process'
   */
  kill(what?: 'process' | 'machine'): void
  /** Moves the wall clock by `by` ms: forward, or back if it is negative. `now()` does not jump. */
  setWallClock(by: number): void
}
