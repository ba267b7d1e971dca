// A connected session looks for another server. It asks one server after another, on a separate connection. At a read-only
// server it looks for a server that takes writes, with pauses that grow, as Java's ClientCnxn.pingRwServer does. After a change
// of the list it looks for a server of the new list that serves.
import { formatServer, type ServerAddress } from '@zk/wire'
import { backoff, deadlines, type Times, trialPause } from '../protocol/deadlines.ts'
import type { Jitter } from './jitter.ts'
import type { Names } from './names.ts'
import { type Question, serves, takesWrites } from './questions.ts'
import { isSame } from './server-lists.ts'
import { serverOf, type ServerPicker, type Target } from './server-picker.ts'

/** What a session looks for: a server that takes writes, or a server of the new list. */
export type Goal = 'writes' | 'list'

/** What the driver must do for a search. */
export type SearchOutput =
  /** look up the addresses of a name, unless a look-up is under way: see `resolved` and `unresolved` */
  | { readonly type: 'lookUp'; readonly host: string }
  /** ask a server on a separate connection: see `probed` */
  | { readonly type: 'probe'; readonly target: Target; readonly question: Question }
  | { readonly type: 'endProbe' }
  /** a server of the new list has not passed the trial; `isRoundOver` if no server of the list has */
  | { readonly type: 'unproven'; readonly server: string; readonly error: Error; readonly isRoundOver: boolean }

interface SearchContext {
  readonly servers: ServerPicker
  readonly names: Names
  readonly jitter: Jitter
  readonly looksUpNames: boolean
  /** The server to which the session is connected. */
  readonly present: Target
  readonly T: number
  /** See `Identity.trialFrame`. */
  readonly trialFrame: () => Uint8Array
  readonly emit: (output: SearchOutput) => void
}

/** The end of a search. */
export type Finding =
  /** the session stays at its server */
  | { readonly name: 'stay' }
  /** the session moves to the next target of the picker */
  | { readonly name: 'move'; readonly why: Error }

type Phase =
  | { readonly name: 'pausing'; readonly until: number }
  /** The name of the server is looked up. From `knownAt` on its last known addresses are used. */
  | { readonly name: 'resolving'; readonly server: ServerAddress; readonly by: number; readonly knownAt: number }
  | { readonly name: 'asking'; readonly server: ServerAddress; readonly by: number }

export const LIST_CHANGED = 'the list of servers was changed'

export class Search {
  readonly goal: Goal
  readonly #context: SearchContext
  /** `servers` is their number in a round of the search. */
  readonly #times: Times
  /** `servers` is their number in a round of attempts to connect. */
  readonly #attempt: Times
  /** How many servers were asked; for `writes`, earlier searches count, too. */
  #asked: number
  #phase: Phase

  constructor(goal: Goal, now: number, context: SearchContext) {
    const { servers, T } = context
    this.goal = goal
    this.#context = context
    this.#attempt = { T, servers: servers.size }
    this.#times = goal === 'list' ? { T, servers: servers.listed } : this.#attempt
    this.#asked = goal === 'list' ? 0 : servers.foundSinceWrites
    // A session at a read-only server has time. A server that left the list may be shut down at once.
    this.#phase = goal === 'list' ? { name: 'pausing', until: now } : this.#pause(now)
  }

  /** When `elapse` must be called at the latest. */
  get deadline(): number {
    const phase = this.#phase
    if (phase.name === 'pausing') return phase.until
    return phase.name === 'resolving' ? Math.min(phase.knownAt, phase.by) : phase.by
  }

  /** Does what is due at this time. */
  elapse(now: number): Finding | undefined {
    if (now < this.deadline) return undefined
    const phase = this.#phase
    if (phase.name === 'resolving' && now < phase.by) {
      // The look-up is taking too long, and continues in the background.
      this.#phase = { ...phase, knownAt: Infinity }
      this.resolved(phase.server.host)
      return undefined
    }
    if (phase.name === 'pausing') return this.#askNext(now)
    this.end()
    return this.#refuted(phase.server, new Error('no answer in time'), now)
  }

  /** Addresses of a name are known. Asks the server if the search waits for them. Returns whether it did. */
  resolved(host: string): boolean {
    const phase = this.#phase
    const { names, servers } = this.#context
    const addresses = names.addressesOf(host)
    if (phase.name !== 'resolving' || phase.server.host !== host || addresses === undefined) return false
    this.#ask(phase, servers.anyOf(phase.server, addresses))
    return true
  }

  /** A look-up has failed. The last known addresses are used instead. */
  unresolved(host: string, error: Error, now: number): Finding | undefined {
    const phase = this.#phase
    if (phase.name !== 'resolving' || phase.server.host !== host || this.resolved(host)) return undefined
    return this.#refuted(phase.server, error, now)
  }

  /** Takes the answer of a server: undefined if the session can use it. */
  probed(failure: Error | undefined, target: Target, now: number): Finding | undefined {
    const phase = this.#phase
    if (phase.name === 'pausing') return undefined
    if (failure !== undefined) return this.#refuted(phase.server, failure, now)
    const { servers, present } = this.#context
    if (this.goal === 'list') {
      servers.prefer(target, serverOf(present))
      return { name: 'move', why: new Error(LIST_CHANGED) }
    }
    servers.foundWrites()
    servers.prefer(target)
    return { name: 'move', why: new Error(`${formatServer(target)} takes writes`) }
  }

  /** Ends the question under way, if there is one. */
  end(): void {
    if (this.#phase.name !== 'pausing') this.#context.emit({ type: 'endProbe' })
  }

  #askNext(now: number): Finding | undefined {
    const { servers, present, looksUpNames, emit } = this.#context
    const server = this.goal === 'list' ? servers.nextListed() : servers.nextInTurn()
    if (this.goal === 'list' && isSame(server, present)) return { name: 'stay' }
    const time = this.goal === 'list' ? deadlines.trial(this.#attempt) : deadlines.probe()
    const by = now + time
    if (!looksUpNames) this.#ask({ server, by }, server)
    else {
      const knownAt = now + Math.min(deadlines.lookUp(this.#attempt), time / 2)
      this.#phase = { name: 'resolving', server, by, knownAt }
      emit({ type: 'lookUp', host: server.host })
    }
    return undefined
  }

  #ask({ server, by }: { readonly server: ServerAddress; readonly by: number }, target: Target): void {
    const { trialFrame, emit } = this.#context
    this.#phase = { name: 'asking', server, by }
    emit({ type: 'probe', target, question: this.goal === 'writes' ? takesWrites() : serves(trialFrame()) })
  }

  /** The session cannot use the server. */
  #refuted(server: ServerAddress, error: Error, now: number): Finding | undefined {
    this.#phase = this.#pause(now)
    if (this.goal === 'writes') return undefined
    const { servers, present, emit } = this.#context
    const isRoundOver = this.#isRoundOver
    emit({ type: 'unproven', server: formatServer(server), error, isRoundOver })
    // If the current server is in the list, the move was only to spread the clients.
    return isRoundOver && servers.isListed(present) ? { name: 'stay' } : undefined
  }

  /** Whether the servers asked so far make up whole rounds. */
  get #isRoundOver(): boolean {
    return this.#asked > 0 && this.#asked % this.#times.servers === 0
  }

  #pause(now: number): Phase {
    const { jitter } = this.#context
    this.#asked++
    if (this.goal === 'list') {
      const pause = this.#isRoundOver ? trialPause(this.#asked / this.#times.servers) : 0
      return { name: 'pausing', until: now + pause / 2 + jitter.upTo(pause / 2) }
    }
    const longest = backoff(this.#asked, this.#times)
    // The pause is at least half of `longest`, so that a single server is not asked in a loop.
    return { name: 'pausing', until: now + longest / 2 + jitter.upTo(longest / 2) }
  }
}
