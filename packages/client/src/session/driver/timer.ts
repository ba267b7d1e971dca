// The one timer of a session.
import type { Runtime } from '../../runtime/runtime.ts'

export class Timer {
  readonly #runtime: Runtime
  readonly #elapsed: () => void
  readonly #late: (ms: number) => void
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  /** `late` is called with the ms by which the timer fired late. */
  constructor(runtime: Runtime, elapsed: () => void, late: (ms: number) => void) {
    this.#runtime = runtime
    this.#elapsed = elapsed
    this.#late = late
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
  #due(at: number): void {
    this.#late(this.#runtime.now() - at)
    const cancel = this.#runtime.setTimer(0, () => {
      this.#timer = undefined
      this.#elapsed()
    })
    this.#timer = { at: -Infinity, cancel }
  }
}
