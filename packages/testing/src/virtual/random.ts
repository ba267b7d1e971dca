/**
 * Random numbers that depend only on the seed and the purpose, on every engine (sfc32: additions, shifts, no floating
 * point). Each purpose has its own stream, so a purpose that draws more numbers does not change the numbers of the others.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #counter = 1

  constructor(seed: number, purpose: string) {
    this.#a = hash(purpose, 0x811c9dc5)
    this.#b = seed | 0
    this.#c = Math.floor(seed / 2 ** 32) ^ hash(purpose, 0x2545f491)
    for (let each = 0; each < 12; each++) this.#next()
  }

  /** A number in [0, 1). */
  readonly next = (): number => this.#next() / 2 ** 32

  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor(this.next() * limit)
  }

  /** An integer from `low` to `high`. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  one<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!
  }

  uuid(): string {
    const hex = () => this.#next().toString(16).padStart(8, '0')
    const [a, b, c, d] = [hex(), hex(), hex(), hex()]
    return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = this.#b ^ (this.#b >>> 9)
    this.#b = (this.#c + (this.#c << 3)) | 0
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0
    return sum >>> 0
  }
}

/** FNV-1a. */
function hash(text: string, start: number): number {
  let state = start
  for (let each = 0; each < text.length; each++) state = Math.imul(state ^ text.charCodeAt(each), 0x01000193)
  return state
}
