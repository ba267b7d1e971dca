// A situation on an ensemble, over TCP or in virtual time.
import type { Runtime } from '@zk/client'
import type { TestConnection, TestEnsemble } from '@zk/testing'
import { Connection, Session, settings, Transcript } from '../play/index.ts'
import { type ClientLog, clientLogOf } from './client-log.ts'
import { READY } from './exercise.ts'

/** With which every ensemble is started. An operator can change which servers it has. */
export const administered = { reconfigEnabled: true, superDigest: settings.superDigest } as const

/** What TCP and virtual time have in common. */
export type Ensemble = Pick<TestEnsemble, 'members' | 'sessions' | 'nodes' | 'faults' | 'history' | 'leader'>

export interface PlayOptions {
  readonly ensemble: Ensemble
  /** The time of the ensemble, in ms. */
  readonly now: () => number
  readonly elapse: (ms: number) => Promise<void>
  /** The network of the operator. */
  readonly runtime: Runtime
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
  /** They do not belong to the client. */
  readonly #operators = new Set<bigint>()
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

  /** An operator removes the server from the ensemble, and ends it. */
  async remove(name: string): Promise<void> {
    const { members, leader } = this.ensemble
    const member = members.find((each) => each.name === name)!
    const { port } = leader ?? member
    const host = member.address.replace(/:\d+$/, '')
    const connection = await Connection.open({ host, port }, 'operator', new Transcript(), this.#options.runtime)
    const session = await Session.open(connection, '')
    this.#operators.add(session.sessionId)
    await session.auth('digest', settings.superUser)
    const nothing = { joiningServers: null, newMembers: null, curConfigId: -1n }
    const reply = await session.call('reconfig', { ...nothing, leavingServers: String(members.indexOf(member) + 1) })
    if (reply?.err !== 0) throw new Error(`the reconfig failed with ${reply?.err}`)
    await session.close()
    member.kill()
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
      operators: this.#operators,
    })
  }
}
