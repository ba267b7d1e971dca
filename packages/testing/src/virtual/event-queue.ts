export interface QueuedEvent {
  readonly at: number
  readonly order: number
  /** undefined if the event was canceled. */
  action: (() => void) | undefined
}

/** A binary heap of events, ordered by time. Events at the same time are in the order in which they were added. */
export class EventQueue {
  readonly #heap: QueuedEvent[] = []
  #added = 0

  add(at: number, action: () => void): QueuedEvent {
    const event = { at, order: this.#added++, action }
    this.#heap.push(event)
    this.#rise(this.#heap.length - 1)
    return event
  }

  /** The time of the next event; Infinity if there is none. */
  nextAt(): number {
    while (this.#heap.length > 0 && this.#heap[0]!.action === undefined) this.#removeFirst()
    return this.#heap.length === 0 ? Infinity : this.#heap[0]!.at
  }

  /** Removes the next event and returns it. There must be one: call `nextAt` first. */
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
