// A situation on an ensemble, over TCP or in virtual time.
import type { TestConnection, TestEnsemble } from '@zk/testing'
import { type ClientLog, clientLogOf } from './client-log.ts'
import { READY } from './exercise.ts'

/** What TCP and virtual time have in common. */
export type Ensemble = Pick<TestEnsemble, 'members' | 'sessions' | 'nodes' | 'faults' | 'history' | 'leader'>

export interface PlayOptions {
  readonly ensemble: Ensemble
  /** The time of the ensemble, in ms. */
  readonly now: () => number
  readonly elapse: (ms: number) => Promise<void>
  /** Why there is no use in waiting any longer, such as the end of the program. */
  readonly failure?: () => Error | undefined
}

/** How often a condition is checked, in ms. */
const STEP = 10

/** The client has no connection at the moment at which something should happen to it. Its log shows why. */
class NoConnection extends Error {}

export class Play {
  readonly ensemble: Ensemble
  readonly #options: PlayOptions
  readonly #outages: { from: number; to: number; isRefusing: boolean }[] = []
  readonly #garbage: { from: number; kind: 'length' | 'xid' }[] = []
  #closeAt: number | undefined
  #isToClose = false

  constructor(options: PlayOptions) {
    this.ensemble = options.ensemble
    this.#options = options
  }

  async elapse(ms: number): Promise<void> {
    const end = this.#options.now() + ms
    await this.until(() => this.#options.now() >= end, ms)
  }

  /** Whether it came true within so many ms. Throws if the client has failed. */
  async until(condition: () => boolean, ms: number): Promise<boolean> {
    const { now, elapse, failure } = this.#options
    const end = now() + ms
    while (!condition()) {
      const error = failure?.()
      if (error !== undefined) throw error
      if (now() >= end) return false
      await elapse(STEP)
    }
    return true
  }

  /** The client's connection; undefined while it has none. */
  get established(): TestConnection | undefined {
    return this.ensemble.members.flatMap(({ connections }) => connections).findLast(({ session }) => session !== 0n)
  }

  get connection(): TestConnection {
    const { established } = this
    if (established === undefined) throw new NoConnection()
    return established
  }

  /** The session timeout that the client has. */
  get timeout(): number {
    const { established } = this
    return (established && this.ensemble.sessions.get(established.session)?.timeOut) ?? this.#timeout
  }

  #timeout = 3_000

  /** Waits until the client is at work. False if it never is. */
  async ready(isActive: boolean, ms: number): Promise<boolean> {
    const isReady = await this.until(
      () => (isActive ? this.ensemble.nodes.get(READY) !== undefined : this.established !== undefined),
      ms,
    )
    if (isReady && !isActive) await this.elapse(500)
    this.#timeout = this.timeout
    return isReady
  }

  /** Lets it happen. */
  async play(happen: (play: Play) => Promise<void>): Promise<void> {
    try {
      await happen(this)
    } catch (error) {
      if (!(error instanceof NoConnection)) throw error
    }
  }

  isClosed(connection: number): boolean {
    return !this.ensemble.members.some(({ connections }) => connections.some(({ id }) => id === connection))
  }

  /** Waits until the client has a connection again, and has used it; at most for a session timeout, and the pauses of clients. */
  async back(): Promise<void> {
    await this.elapse(100)
    await this.until(() => this.established !== undefined, 1.5 * this.#timeout + 1_000)
    await this.elapse(this.#timeout / 3)
  }

  /** Waits until a fault has struck. */
  async struck(rule: { readonly count: number; remove(): void }, times = 1): Promise<void> {
    await this.until(() => rule.count >= times, 2 * this.timeout)
    rule.remove()
  }

  /** No server accepts the client meanwhile. */
  async outage(action: () => Promise<void>): Promise<void> {
    this.begin('outage')
    for (const member of this.ensemble.members) member.refuse()
    await action()
    for (const member of this.ensemble.members) member.accept()
    this.endOutage()
  }

  /** outage: nothing accepts connections. refusals: servers close connections. length, xid: which garbage comes from now on. */
  begin(what: 'outage' | 'refusals' | 'length' | 'xid'): void {
    const from = this.#options.now()
    if (what === 'length' || what === 'xid') this.#garbage.push({ from, kind: what })
    else this.#outages.push({ from, to: Infinity, isRefusing: what === 'outage' })
  }

  endOutage(): void {
    this.#outages.at(-1)!.to = this.#options.now()
  }

  /** Now the client is told to end: to close its session, or by a signal. */
  ending(isToClose: boolean): void {
    this.#closeAt = this.#options.now()
    this.#isToClose = isToClose
  }

  log(): ClientLog {
    return clientLogOf(this.ensemble.history, {
      endsAt: this.#options.now(),
      closeAt: this.#closeAt,
      isToClose: this.#isToClose,
      outages: this.#outages,
      garbage: this.#garbage,
    })
  }
}
