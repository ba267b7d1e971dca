// The process of a member from its start to its end: its timers and its input. It can be stopped in between (SIGSTOP).
import type { Agenda, Cancel } from './agenda.ts'

class Timer implements Cancel {
  action: (() => void) | undefined

  constructor(action: () => void) {
    this.action = action
  }

  cancel(): void {
    this.action = undefined
  }

  ring(): void {
    const { action } = this
    this.action = undefined
    action?.()
  }
}

export class Process {
  #state: 'running' | 'stopped' | 'dead' = 'running'
  readonly #agenda: Agenda
  readonly #random: () => number
  /** The input that arrived while it was stopped, and below the timers that fired. */
  #inputs: (() => void)[] = []
  #rung: Timer[] = []
  #rungOfTracker: Timer[] = []

  constructor(agenda: Agenda, random: () => number) {
    this.#agenda = agenda
    this.#random = random
  }

  get now(): number {
    return this.#agenda.now
  }

  get isStopped(): boolean {
    return this.#state === 'stopped'
  }

  /** `of` is 'tracker' for timers of the session tracker: that thread races with others when a stopped process continues. */
  at(time: number, action: () => void, of?: 'tracker'): Cancel {
    const timer = new Timer(action)
    this.#agenda.at(time, () => {
      if (timer.action === undefined || this.#state === 'dead') return
      if (this.#state === 'running') timer.ring()
      else (of === 'tracker' ? this.#rungOfTracker : this.#rung).push(timer)
    })
    return timer
  }

  /** Takes input: at once, after a stop when the process continues, or never if it has ended. */
  input(action: () => void): void {
    if (this.#state === 'running') action()
    else if (this.#state === 'stopped') this.#inputs.push(action)
  }

  stop(): void {
    if (this.#state === 'running') this.#state = 'stopped'
  }

  /**
   * Runs inputs before timers: a read that finds data does not time out, even if it is late. The timers of the session
   * tracker come before or after the inputs, at random. If they come before, sessions expire whose heartbeats are still
   * unread.
   */
  continue(): void {
    if (this.#state !== 'stopped') return
    this.#state = 'running'
    const inputs = this.#inputs
    const timers = this.#rung
    const ofTracker = this.#rungOfTracker
    this.#inputs = []
    this.#rung = []
    this.#rungOfTracker = []
    const isTrackerFirst = ofTracker.length > 0 && this.#random() < 0.5
    if (isTrackerFirst) this.#ring(ofTracker)
    for (const input of inputs) this.input(input)
    if (!isTrackerFirst) this.#ring(ofTracker)
    this.#ring(timers)
  }

  die(): void {
    this.#state = 'dead'
  }

  #ring(timers: readonly Timer[]): void {
    for (const timer of timers) if (this.#state !== 'dead') timer.ring()
  }
}
