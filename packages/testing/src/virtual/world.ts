import { EventQueue } from './event-queue.ts'
import { drain } from './drain.ts'

/** Something beside the queue that happens by itself: the ensemble. */
export interface EventSource {
  /** When it is to be asked again; Infinity for never. */
  deadline(): number
  elapse(now: number): void
}

/** Told what a process let the world feel. */
export interface Witness {
  /** After an event that ran code of a process, and after its promises were drained. The world waits for it. */
  drained(world: World): void | Promise<void>
}

/** More events at one instant, and the world never comes to rest. */
const MOST_EVENTS_AT_ONCE = 100_000

/**
 * One virtual clock and one queue of events. Time passes only from event to event, and nothing else happens; after
 * every event that ran code of a process its promises are drained.
 */
export class World {
  /** Events so far. */
  events = 0
  /**
   * Everything that code of processes did to the world, counted: calls of their Runtime, entries in the history. What
   * is left of promises after a drain would show here.
   */
  activity = 0
  readonly #queue = new EventQueue()
  readonly #source: EventSource
  readonly #turns: number
  readonly #witness: Witness | undefined
  #now = 0
  #eventsAtOnce = 0
  #hasRunCode = false

  constructor(source: EventSource, turns: number, witness?: Witness) {
    this.#source = source
    this.#turns = turns
    this.#witness = witness
  }

  /** True time, in ms since the world began. */
  get now(): number {
    return this.#now
  }

  /** Calls `action` at that time, behind whatever was put there before; the returned function takes it back. */
  at(at: number, action: () => void): () => void {
    const event = this.#queue.add(at > this.#now ? at : this.#now, action)
    return () => {
      event.action = undefined
    }
  }

  after(delay: number, action: () => void): () => void {
    return this.at(this.#now + delay, action)
  }

  /** So many ms pass in which nothing happens: what was due in them is late. */
  skip(ms: number): void {
    this.#now += ms
  }

  /** Must be called before code of a process is run: its promises are drained after this event. */
  enterCode(): void {
    this.#hasRunCode = true
  }

  /** Lets things happen up to `until`, asked before every event, or until `isOver`, asked behind each. */
  async run(until: number | (() => number), isOver: () => boolean = () => false): Promise<void> {
    const ask = typeof until === 'number' ? () => until : until
    await this.#drain()
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
      if (this.#hasRunCode) await this.#drain()
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

  async #drain(): Promise<void> {
    this.#hasRunCode = false
    await drain(this.#turns)
    if (this.#witness !== undefined) await this.#witness.drained(this)
  }
}
