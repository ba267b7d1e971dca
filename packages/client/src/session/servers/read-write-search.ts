// A session at a read-only server looks for a server that takes writes. It asks one server after the other (`isro`), with
// pauses that grow, as Java's ClientCnxn.pingRwServer does.
import type { ServerAddress } from '@zk/wire'
import { backoff, deadlines } from '../protocol/deadlines.ts'
import type { Jitter } from './jitter.ts'

type Phase = { readonly name: 'pausing'; readonly until: number } | { readonly name: 'asking'; readonly by: number }

export type SearchStep =
  /** `random`, from 0 to below 1, chooses one of the addresses of the server. */
  { readonly type: 'probe'; readonly server: ServerAddress; readonly random: number } | { readonly type: 'endProbe' }

export class ReadWriteSearch {
  readonly #jitter: Jitter
  readonly #T: number
  #attempts: number
  #phase: Phase

  constructor(now: number, T: number, jitter: Jitter, attempts = 0) {
    this.#attempts = attempts
    this.#jitter = jitter
    this.#T = T
    this.#phase = this.#pause(now)
  }

  get deadline(): number {
    return this.#phase.name === 'pausing' ? this.#phase.until : this.#phase.by
  }

  elapse(now: number, next: () => ServerAddress): SearchStep | undefined {
    if (now < this.deadline) return undefined
    if (this.#phase.name === 'asking') {
      this.#phase = this.#pause(now)
      return { type: 'endProbe' }
    }
    this.#phase = { name: 'asking', by: now + deadlines.probe() }
    return { type: 'probe', server: next(), random: this.#jitter.upTo(1) }
  }

  /** Takes the answer of the server; undefined if there was none. Returns whether the server takes writes. */
  answered(answer: string | undefined, now: number): boolean {
    if (this.#phase.name !== 'asking') return false
    this.#phase = this.#pause(now)
    return answer === 'rw'
  }

  /** Drops the probe that is under way, if there is one. Returns whether there was one. */
  forget(now: number): boolean {
    const wasAsking = this.#phase.name === 'asking'
    if (wasAsking) this.#phase = this.#pause(now)
    return wasAsking
  }

  #pause(now: number): Phase {
    const longest = backoff(++this.#attempts, { T: this.#T, servers: 1 })
    // The pause is at least half of `longest`, so that a single server is not asked in a loop.
    return { name: 'pausing', until: now + longest / 2 + this.#jitter.upTo(longest / 2) }
  }
}
