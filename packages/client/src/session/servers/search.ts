// A connected session looks for another server. It asks one server after the other, on a connection beside its own. At a read-only
// server it looks for a server that takes writes, with pauses that grow, as Java's ClientCnxn.pingRwServer does. After a change of
// the list it looks for a server of the new list that serves.
import type { ServerAddress } from '@zk/wire'
import { backoff, deadlines, type Times, trialPause } from '../protocol/deadlines.ts'
import type { Jitter } from './jitter.ts'

type Phase =
  | { readonly name: 'pausing'; readonly until: number }
  /** The name of the server is looked up. From `knownAt` on its last known addresses are used. */
  | { readonly name: 'resolving'; readonly server: ServerAddress; readonly by: number; readonly knownAt: number }
  | { readonly name: 'asking'; readonly server: ServerAddress; readonly by: number }

/** What a session looks for: a server that takes writes, or a server of the new list. */
export type Goal = 'writes' | 'list'

interface SearchOptions {
  readonly jitter: Jitter
  /** Its number of servers is that of a round of the search. */
  readonly times: Times
  /** Its number of servers is that of a round of attempts to connect. @default times */
  readonly attempt?: Times
  readonly asked?: number
}

export class Search {
  readonly goal: Goal
  readonly #jitter: Jitter
  readonly #times: Times
  readonly #attempt: Times
  /** How many servers were asked; for `writes`, earlier searches count, too. */
  #asked: number
  #phase: Phase

  constructor(goal: Goal, now: number, { jitter, times, attempt = times, asked = 0 }: SearchOptions) {
    this.goal = goal
    this.#jitter = jitter
    this.#times = times
    this.#attempt = attempt
    this.#asked = asked
    // A session at a read-only server has time. A server that left the list may be shut down at once.
    this.#phase = goal === 'list' ? { name: 'pausing', until: now } : this.#pause(now)
  }

  get deadline(): number {
    const phase = this.#phase
    if (phase.name === 'pausing') return phase.until
    return phase.name === 'resolving' ? Math.min(phase.knownAt, phase.by) : phase.by
  }

  /** The server that is asked, or whose name is looked up first. */
  get server(): ServerAddress | undefined {
    return this.#phase.name === 'pausing' ? undefined : this.#phase.server
  }

  /** Whether the servers asked so far make up whole rounds. */
  get isRoundOver(): boolean {
    return this.#asked > 0 && this.#asked % this.#times.servers === 0
  }

  /** This server will be asked as soon as its address is known. */
  resolve(server: ServerAddress, now: number): void {
    const time = this.goal === 'list' ? deadlines.trial(this.#attempt) : deadlines.probe()
    const knownAt = now + Math.min(deadlines.lookUp(this.#attempt), time / 2)
    this.#phase = { name: 'resolving', server, by: now + time, knownAt }
  }

  /** The server whose name is looked up; undefined while no name is. */
  get resolving(): ServerAddress | undefined {
    return this.#phase.name === 'resolving' ? this.#phase.server : undefined
  }

  /** Whether the look-up takes long. After it has returned true, this returns false until the next server is chosen. */
  isLookUpSlow(now: number): boolean {
    const phase = this.#phase
    if (phase.name !== 'resolving' || now < phase.knownAt || now >= phase.by) return false
    this.#phase = { ...phase, knownAt: Infinity }
    return true
  }

  /** The server is asked now. */
  ask(): void {
    if (this.#phase.name !== 'resolving') return
    const { server, by } = this.#phase
    this.#phase = { name: 'asking', server, by }
  }

  /** The session cannot use the server. */
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
