// The actions of the ensemble, each with the time at which it is due. Only `run` moves this time.

/** An appointment that can be canceled. */
export interface Cancel {
  cancel(): void
}

class Appointment implements Cancel {
  readonly time: number
  /** The order of appointments at the same time: the one that was made first comes first. */
  readonly order: number
  action: (() => void) | undefined

  constructor(time: number, order: number, action: () => void) {
    this.time = time
    this.order = order
    this.action = action
  }

  cancel(): void {
    this.action = undefined
  }
}

/** A binary heap of appointments, in ms of the caller's clock. */
export class Agenda {
  #now: number
  #made = 0
  readonly #heap: Appointment[] = []

  constructor(now = 0) {
    this.#now = now
  }

  get now(): number {
    return this.#now
  }

  /** Adds an action. A time in the past counts as now: the action comes after all actions that are due already. */
  at(time: number, action: () => void): Cancel {
    const appointment = new Appointment(Math.max(time, this.#now), this.#made++, action)
    this.#push(appointment)
    return appointment
  }

  /** The time at which `run` has something to do next; Infinity if there is nothing. */
  deadline(): number {
    while (this.#heap.length > 0 && this.#heap[0]!.action === undefined) this.#pop()
    return this.#heap[0]?.time ?? Infinity
  }

  /** Runs all actions that are due, in order, including those that they add. Then moves the time to `until`. */
  run(until: number): void {
    while (this.deadline() <= until) {
      const { time, action } = this.#pop()
      this.#now = Math.max(this.#now, time)
      action!()
    }
    this.#now = Math.max(this.#now, until)
  }

  #push(appointment: Appointment): void {
    const heap = this.#heap
    let at = heap.length
    heap.push(appointment)
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isBefore(heap[parent]!, appointment)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = appointment
  }

  #pop(): Appointment {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = at * 2 + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

const isBefore = (a: Appointment, b: Appointment) => a.time < b.time || (a.time === b.time && a.order < b.order)
