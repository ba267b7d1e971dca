import { EventQueue } from './event-queue.ts'

/** A source of events besides the queue: the ensemble. */
export interface EventSource {
  /** The time at which `elapse` must be called; Infinity for never. */
  deadline(): number
  elapse(now: number): void
}

/** Looks at the world after code of a process has run. */
export interface Witness {
  /** Called after the promises of that code were drained. The world waits for the returned promise. */
  drained(world: World): void | Promise<void>
}

/** If there are more events at one instant, the world throws: it would never end. */
const MOST_EVENTS_AT_ONCE = 100_000

/**
 * One virtual clock and one queue of events. Time passes only from event to event, or by `jump`. Nothing happens in between.
 * After each event that ran code of a process, the promises of that code are drained.
 */
export class World {
  /** The number of events so far. */
  events = 0
  /**
   * How many times code of processes has used the world: calls of the Runtime, entries in the history. If this number
   * changes after a drain, a promise went on too long.
   */
  activity = 0
  readonly #queue = new EventQueue()
  readonly #source: EventSource
  readonly #drain: () => Promise<void>
  readonly #witness: Witness | undefined
  #now = 0
  #eventsAtOnce = 0
  #hasRunCode = false

  /** `drain` resolves when the promises that go on after an event have done so. */
  constructor(source: EventSource, drain: () => Promise<void>, witness?: Witness) {
    this.#source = source
    this.#drain = drain
    this.#witness = witness
  }

  /** True time, in ms since the world began. */
  get now(): number {
    return this.#now
  }

  /**
   * Calls `action` at that time, or now if that time is past, after all actions that were added for it before. The returned
   * function cancels it.
   */
  at(at: number, action: () => void): () => void {
    const event = this.#queue.add(at > this.#now ? at : this.#now, action)
    return () => {
      event.action = undefined
    }
  }

  after(delay: number, action: () => void): () => void {
    return this.at(this.#now + delay, action)
  }

  /** Moves the clock by `ms` without any event: what was due in this time is late. */
  jump(ms: number): void {
    this.#now += ms
  }

  /** Must be called before code of a process runs: the promises of that code are drained after this event. */
  enterCode(): void {
    this.#hasRunCode = true
  }

  /**
   * Runs events up to `until` (evaluated before each event), or until `isOver` is true (evaluated after each). If `isOver` was
   * not true, the clock is at `until` at the end, unless it is Infinity or past.
   */
  async run(until: number | (() => number), isOver: () => boolean = () => false): Promise<void> {
    const ask = typeof until === 'number' ? () => until : until
    await this.#rest()
    let end
    for (;;) {
      end = ask()
      const queued = this.#queue.nextAt()
      const due = this.#source.deadline()
      const next = queued <= due ? queued : due
      if (next > end || next === Infinity) break
      this.#advance(next)
      if (queued <= due) this.#queue.take().action!()
      else this.#source.elapse(this.#now)
      if (this.#hasRunCode) await this.#rest()
      if (isOver()) return
    }
    if (this.#now < end && end !== Infinity) this.#now = end
  }

  #advance(at: number): void {
    this.events++
    if (at > this.#now) {
      this.#now = at
      this.#eventsAtOnce = 0
    } else if (++this.#eventsAtOnce === MOST_EVENTS_AT_ONCE) {
      throw new Error(`after ${MOST_EVENTS_AT_ONCE} events there is still something to do at ${this.#now} ms`)
    }
  }

  async #rest(): Promise<void> {
    this.#hasRunCode = false
    await this.#drain()
    if (this.#witness !== undefined) await this.#witness.drained(this)
  }
}
