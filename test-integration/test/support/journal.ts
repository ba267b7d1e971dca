import { KeeperError, type ZooKeeper } from '@zk/client'
import { caughtUp } from './clients.ts'

const COUNTER_DIGITS = 10

export interface JournalOptions {
  /** Writes in flight. */
  readonly depth: number
  /** Time limit of each, in ms. */
  readonly timeout: number
}

type Outcome = 'under way' | 'done' | 'unknown' | 'not done'

/** Writes many entries with one client, each called before the earlier ones are answered, and reports violations. */
export class Journal {
  /** Violated guarantees. */
  readonly complaints: string[] = []
  readonly #zk: ZooKeeper
  readonly #timeout: number
  /** The outcome of every entry, by its number, which is its place in the order of the calls. */
  readonly #outcomes: Outcome[] = []
  readonly #names = new Map<number, string>()
  readonly #lanes: Promise<unknown>
  #isOver = false

  static async start(zk: ZooKeeper, options: JournalOptions): Promise<Journal> {
    await zk.create('/journal')
    return new Journal(zk, options)
  }

  private constructor(zk: ZooKeeper, { depth, timeout }: JournalOptions) {
    this.#zk = zk
    this.#timeout = timeout
    this.#lanes = Promise.all(Array.from({ length: depth }, () => this.#lane()))
  }

  /** Waits until every write in flight has settled. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#lanes
  }

  count(outcome: Outcome): number {
    return this.#outcomes.filter((each) => each === outcome).length
  }

  /** Compares the tree, read by another client, with the outcomes. */
  async inspect(other: ZooKeeper): Promise<void> {
    await caughtUp(other)
    const { children } = await other.getChildren('/journal')
    const counterOf = (name: string) => name.slice(-COUNTER_DIGITS)
    const found = new Set<number>()
    let last = -1
    for (const name of children.sort((a, b) => (counterOf(a) < counterOf(b) ? -1 : 1))) {
      const entry = Number(name.slice(0, -COUNTER_DIGITS - 1))
      const outcome = this.#outcomes[entry]
      if (found.has(entry)) this.complaints.push(`${entry} was written twice`)
      else if (entry < last) this.complaints.push(`${entry} was written behind ${last}`)
      if (outcome === undefined || outcome === 'not done') this.complaints.push(`${name} is there, and is ${outcome}`)
      if (outcome === 'done' && this.#names.get(entry) !== name)
        this.complaints.push(`${name} is there, and was called ${this.#names.get(entry)}`)
      found.add(entry)
      last = entry
    }
    for (const [entry, outcome] of this.#outcomes.entries()) {
      if (outcome === 'under way') this.complaints.push(`${entry} was never answered`)
      if (outcome === 'done' && !found.has(entry)) this.complaints.push(`${entry} was done, and is not there`)
    }
  }

  async #lane(): Promise<void> {
    while (!this.#isOver) {
      const entry = this.#outcomes.push('under way') - 1
      this.#outcomes[entry] = await this.#write(entry)
    }
  }

  async #write(entry: number): Promise<Outcome> {
    try {
      const options = { mode: 'PERSISTENT_SEQUENTIAL', timeout: this.#timeout } as const
      const { path } = await this.#zk.create(`/journal/${entry}-`, '', options)
      this.#names.set(entry, path.slice('/journal/'.length))
      return 'done'
    } catch (error) {
      if (!KeeperError.is(error)) throw error
      if (!['ConnectionLoss', 'RequestTimeout'].includes(error.code)) this.complaints.push(`${entry}: ${error.message}`)
      return error.outcomeUnknown ? 'unknown' : 'not done'
    }
  }
}
