// The heap in a long run, looked at from time to time.
import { expect } from 'vitest'
import { heapInUse } from './heap.ts'

/** So many cycles make for one look. */
const STAGE = 5_000
/** What compilers and caches may add behind the first third, in bytes: eight a cycle where there are 100,000. */
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
    if (this.#heap.length < 2) return
    const kib = this.#heap.map((bytes) => Math.round(bytes / 1024)).join(' ')
    console.info(`${name}: heap after every ${STAGE} cycles, in KiB: ${kib}`)
    const settled = this.#heap[Math.floor(this.#heap.length / 3)]!
    expect(this.#heap.at(-1)! - settled).toBeLessThan(SLACK)
  }
}
