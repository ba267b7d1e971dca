import type { VirtualRuntime } from './virtual-runtime.ts'

/** What is special about a process. */
export interface VirtualProcessOptions {
  /** Of its clocks: with 1.01 they show 101 ms after 100. Above 0. @default 1 */
  clockRate?: number | undefined
}

/**
 * One process of a virtual world: give it to `connect({ runtime })`, to as many clients as run in it. What befalls it befalls its
 * timers, its connections and its clocks. Its code is not stopped: what code does that waits for neither is done.
 */
export interface VirtualProcess extends VirtualRuntime {
  /** By which address members know it: `10.0.0.1` for the first. */
  readonly name: string
  /** Whether it stands still. */
  readonly isStalled: boolean
  /** Whether it was killed. */
  readonly isKilled: boolean
  /** Timers that are set. */
  readonly timers: number
  /**
   * It stands still for so many ms, from now: a blocked event loop, a stopped process, a suspended machine. Its clocks go on.
   * Afterwards its due timers fire, late, and then what has arrived is read: Node's order. Nothing happens where it stands
   * still already, or is killed. Throws a `RangeError` for what is no duration.
   */
  stall(duration: number): void
  /**
   * It gets nothing any more, for good. Its connections are closed; of a `'machine'` that is gone they are not, and no
   * member is told. @default 'process'
   */
  kill(what?: 'process' | 'machine'): void
  /** The clock that may be set goes on from so many ms later; earlier, where negative. `now()` does not jump. */
  setWallClock(by: number): void
}
