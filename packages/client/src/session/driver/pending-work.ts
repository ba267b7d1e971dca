import type { Runtime } from '../../runtime/runtime.ts'

/** Work that was passed to `Session.waitUntil`. `detach` waits for it. */
export class PendingWork {
  readonly #work = new Set<Promise<unknown>>()

  get isEmpty(): boolean {
    return this.#work.size === 0
  }

  add(work: Promise<unknown>): void {
    this.#work.add(work)
    const settled = () => this.#work.delete(work)
    work.then(settled, settled)
  }

  /** Resolves when all work has settled, or after `timeout` ms. It also waits for work that is added meanwhile. */
  settled(runtime: Runtime, timeout: number): Promise<void> {
    return new Promise((resolve) => {
      let isInTime = true
      const stopTimer = runtime.setTimer(timeout, () => {
        isInTime = false
        resolve()
      })
      const wait = async () => {
        while (isInTime && !this.isEmpty) await Promise.allSettled(this.#work)
        stopTimer()
        resolve()
      }
      void wait()
    })
  }
}
