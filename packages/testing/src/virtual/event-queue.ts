/** Something that will happen. */
export interface QueuedEvent {
  readonly at: number
  readonly order: number
  /** undefined when it has been taken back. */
  action: (() => void) | undefined
}

/** What will happen, by time; what happens at one time, in the order in which it was added. A binary heap. */
export class EventQueue {
  readonly #heap: QueuedEvent[] = []
  #added = 0

  add(at: number, action: () => void): QueuedEvent {
    const event = { at, order: this.#added++, action }
    this.#heap.push(event)
    this.#rise(this.#heap.length - 1)
    return event
  }

  /** When the next happens; Infinity when nothing will. */
  nextAt(): number {
    while (this.#heap.length > 0 && this.#heap[0]!.action === undefined) this.#removeFirst()
    return this.#heap.length === 0 ? Infinity : this.#heap[0]!.at
  }

  /** The next, which is removed. There must be one: see `nextAt`. */
  take(): QueuedEvent {
    const first = this.#heap[0]!
    this.#removeFirst()
    return first
  }

  #removeFirst(): void {
    const last = this.#heap.pop()!
    if (this.#heap.length === 0) return
    this.#heap[0] = last
    this.#sink(0)
  }

  #rise(from: number): void {
    const heap = this.#heap
    const event = heap[from]!
    let index = from
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!isBefore(event, heap[parent]!)) break
      heap[index] = heap[parent]!
      index = parent
    }
    heap[index] = event
  }

  #sink(from: number): void {
    const heap = this.#heap
    const event = heap[from]!
    let index = from
    for (;;) {
      let child = 2 * index + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, event)) break
      heap[index] = heap[child]!
      index = child
    }
    heap[index] = event
  }
}

function isBefore(one: QueuedEvent, other: QueuedEvent): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
