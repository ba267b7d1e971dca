// A connected session looks for another server, and asks one after the other on a connection beside its own: a session at a
// read-only server for one that takes writes, with pauses that grow, as Java's ClientCnxn.pingRwServer does; after a change
// of the list for one of the new list that serves.
import type { ServerAddress } from '@zk/wire'
import { backoff, deadlines, type Times, trialPause } from '../protocol/deadlines.ts'
import type { Jitter } from './jitter.ts'

type Phase =
  | { readonly name: 'pausing'; readonly until: number }
  /** `isAsked` is false while the name of the server is looked up. */
  | { readonly name: 'asking'; readonly server: ServerAddress; readonly by: number; readonly isAsked: boolean }

/** What a session looks for: a server that takes writes, or one of the new list. */
export type Goal = 'writes' | 'list'

export class Search {
  readonly goal: Goal
  readonly #jitter: Jitter
  readonly #times: Times
  /** How many servers were asked; for `writes` also those of earlier searches. */
  #asked: number
  #phase: Phase

  constructor(goal: Goal, now: number, { jitter, times, asked = 0 }: { jitter: Jitter; times: Times; asked?: number }) {
    this.goal = goal
    this.#jitter = jitter
    this.#times = times
    this.#asked = asked
    // A session at a read-only server has time. A server that left the list may be shut down at once.
    this.#phase = goal === 'list' ? { name: 'pausing', until: now } : this.#pause(now)
  }

  get deadline(): number {
    return this.#phase.name === 'pausing' ? this.#phase.until : this.#phase.by
  }

  /** The server that is asked, or whose name is looked up for that. */
  get server(): ServerAddress | undefined {
    return this.#phase.name === 'asking' ? this.#phase.server : undefined
  }

  /** Whether as many servers were asked as there are in a round. */
  get isRoundOver(): boolean {
    return this.#asked > 0 && this.#asked % this.#times.servers === 0
  }

  /** This server is to be asked, as soon as its address is known. */
  ask(server: ServerAddress, now: number): void {
    const time = this.goal === 'list' ? deadlines.trial(this.#times) : deadlines.probe()
    this.#phase = { name: 'asking', server, by: now + time, isAsked: false }
  }

  /** Whether this is the name whose address is missing. */
  awaits(host: string): boolean {
    return this.#phase.name === 'asking' && !this.#phase.isAsked && this.#phase.server.host === host
  }

  asked(): void {
    if (this.#phase.name === 'asking') this.#phase = { ...this.#phase, isAsked: true }
  }

  /** The server is not what the session looks for. */
  refuted(now: number): void {
    this.#phase = this.#pause(now)
  }

  #pause(now: number): Phase {
    this.#asked++
    if (this.goal === 'list') {
      const pause = this.isRoundOver ? trialPause(this.#asked / this.#times.servers) : 0
      return { name: 'pausing', until: now + pause / 2 + this.#jitter.upTo(pause / 2) }
    }
    const longest = backoff(this.#asked, this.#times)
    // The pause is at least half of `longest`, so that a single server is not asked in a loop.
    return { name: 'pausing', until: now + longest / 2 + this.#jitter.upTo(longest / 2) }
  }
}
