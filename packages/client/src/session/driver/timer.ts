// The one timer of a session.
import type { Runtime } from '../../runtime/runtime.ts'
import { type Timestamp, timestamp } from '../../runtime/timestamp.ts'

export interface Fired {
  readonly at: number
  /** How late it was, in ms. */
  readonly late: number
  /** By how many ms the wall clock was set since the timer last fired. */
  readonly jump: number
}

export class Timer {
  readonly #runtime: Runtime
  readonly #elapsed: () => void
  readonly #report: (fired: Fired) => void
  #timer: { readonly at: number; readonly cancel: () => void } | undefined
  #last: Timestamp

  /** `report` is called each time that the timer fires, before `elapsed`. */
  constructor(runtime: Runtime, elapsed: () => void, report: (fired: Fired) => void) {
    this.#runtime = runtime
    this.#elapsed = elapsed
    this.#report = report
    this.#last = timestamp(runtime)
  }

  /**
   * Makes the timer fire at this time; Infinity for never. If it was set to an earlier time, it keeps that: the caller then
   * sets it again when it fires.
   */
  set(at: number): void {
    if (this.#timer !== undefined && this.#timer.at <= at) return
    this.stop()
    if (at === Infinity) return
    this.#timer = { at, cancel: this.#runtime.setTimer(at - this.#runtime.now(), () => this.#due(at)) }
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** After a stall timers fire before sockets are read. A second timer lets the bytes that have arrived be read first. */
  #due(due: number): void {
    const last = this.#last
    const present = timestamp(this.#runtime)
    this.#last = present
    const jump = present.wallNow - last.wallNow - (present.now - last.now)
    this.#report({ at: present.now, late: present.now - due, jump })
    const cancel = this.#runtime.setTimer(0, () => {
      this.#timer = undefined
      this.#elapsed()
    })
    this.#timer = { at: -Infinity, cancel }
  }
}
