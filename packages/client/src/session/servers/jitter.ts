/**
 * Random numbers from a seed (xorshift32), for pauses and for the order of servers. With the same seed and the same inputs a
 * session machine always does the same.
 */
export class Jitter {
  #state: number

  constructor(seed: number) {
    this.#state = (seed | 0) === 0 ? 1 : seed | 0
  }

  /** A number from 0 to below `limit`. */
  upTo(limit: number): number {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x
    return ((x >>> 0) / 2 ** 32) * limit
  }

  between(least: number, limit: number): number {
    return least + this.upTo(limit - least)
  }

  shuffled<T>(items: readonly T[]): T[] {
    const shuffled = [...items]
    for (let last = shuffled.length - 1; last > 0; last--) {
      const other = Math.floor(this.upTo(last + 1))
      ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
    }
    return shuffled
  }
}
