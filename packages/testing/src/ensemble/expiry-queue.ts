/** An element of the queue. `expiresAt` is the time of its bucket. */
export interface Expiring {
  expiresAt: number
}

/**
 * Elements in buckets of one tick (ExpiryQueue). A time is always rounded up to a later tick, even if it is a whole tick. So
 * an element that should expire after T expires later than that, by at most one tick.
 */
export class ExpiryQueue<Element extends Expiring> {
  readonly #interval: number
  readonly #buckets = new Map<number, Set<Element>>()
  #size = 0
  /** The next bucket to empty. */
  #next: number

  constructor(interval: number, now: number) {
    this.#interval = interval
    this.#next = this.#roundUp(now)
  }

  get size(): number {
    return this.#size
  }

  get next(): number {
    return this.#next
  }

  /** The buckets, in the order of their times. They include empty ones. */
  get buckets(): (readonly [number, readonly Element[]])[] {
    return Array.from(this.#buckets, ([at, elements]) => [at, [...elements]] as const).sort(([a], [b]) => a - b)
  }

  add(element: Element, now: number, timeOut: number): void {
    // While the queue is empty, ticks pass without a poll.
    if (this.#size === 0) this.#next = Math.max(this.#next, this.#roundUp(now))
    this.#size++
    this.#put(element, this.#roundUp(now + timeOut))
  }

  update(element: Element, now: number, timeOut: number): void {
    const expiresAt = this.#roundUp(now + timeOut)
    if (expiresAt === element.expiresAt) return
    this.#buckets.get(element.expiresAt)?.delete(element)
    this.#put(element, expiresAt)
  }

  remove(element: Element): void {
    this.#size--
    this.#buckets.get(element.expiresAt)?.delete(element)
  }

  /** Removes the next bucket, and returns its elements. They stay in the queue until `remove`. */
  poll(): Iterable<Element> {
    const bucket = this.#buckets.get(this.#next)
    this.#buckets.delete(this.#next)
    this.#next += this.#interval
    return bucket ?? []
  }

  #put(element: Element, expiresAt: number): void {
    element.expiresAt = expiresAt
    const bucket = this.#buckets.get(expiresAt)
    if (bucket === undefined) this.#buckets.set(expiresAt, new Set([element]))
    else bucket.add(element)
  }

  #roundUp(time: number): number {
    return (Math.floor(time / this.#interval) + 1) * this.#interval
  }
}
