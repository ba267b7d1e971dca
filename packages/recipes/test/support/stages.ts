// The heap in a long run, looked at from time to time.
import { expect } from 'vitest'
import { heapInUse } from './heap.ts'

/** So many cycles make for one look. */
const STAGE = 5_000
/** What compilers and caches may add from one third to the next, in bytes: sixteen a cycle where there are 100,000. */
const SLACK = 512 * 1024

export class Stages {
  readonly #heap: number[] = []

  /** Behind the n-th cycle, from 1. Calls `tidy` before it looks. */
  async passed(n: number, tidy: () => void = () => {}): Promise<void> {
    if (n % STAGE > 0) return
    tidy()
    this.#heap.push(await heapInUse())
  }

  /** Fails when the heap has grown. A short run says nothing. */
  end(name: string): void {
    if (this.#heap.length < 3) return
    const kib = this.#heap.map((bytes) => Math.round(bytes / 1024)).join(' ')
    console.info(`${name}: heap after every ${STAGE} cycles, in KiB: ${kib}`)
    // The least of a third: whatever else a look finds in use, what has leaked is in all of them.
    const [second, last] = [1, 2].map((third) => Math.floor((this.#heap.length * third) / 3))
    const settled = Math.min(...this.#heap.slice(second, last))
    expect(Math.min(...this.#heap.slice(last)) - settled).toBeLessThan(SLACK)
  }
}
