import { KeeperError, type ZooKeeper } from '@zk/client'
import { caughtUp } from './clients.ts'
import { Stopwatch } from './stopwatch.ts'

const COUNTER_DIGITS = 10
const text = (data: Uint8Array): string => new TextDecoder().decode(data)

export interface LoadOptions {
  /** Requests of each kind in flight: reads, setData, sequential creates. */
  readonly width: number
}

/** Keeps many requests of one client in flight, each based on the outcome of the one before, and reports violations. */
export class Load {
  /** Requests that were answered. */
  answers = 0
  /** Longest time without an answer, in ms, without the pauses of this process. */
  longestSilence = 0
  /** Writes with an unknown outcome. */
  unknown = 0
  /** Violated guarantees. */
  readonly complaints: string[] = []
  readonly #zk: ZooKeeper
  readonly #width: number
  /** Version of each node that setData works on: the number of writes that happened. */
  readonly #versions: number[]
  /** The prefix of each create, and the name of its node; undefined if the outcome is unknown. */
  readonly #created = new Map<string, string | undefined>()
  #sinceAnswer = new Stopwatch()
  #isOver = false
  #workers: Promise<unknown> = Promise.resolve()

  static async start(zk: ZooKeeper, { width }: LoadOptions): Promise<Load> {
    const load = new Load(zk, width)
    await Promise.all([zk.create('/set'), zk.create('/queue')])
    await Promise.all(load.#versions.map((_, worker) => zk.create(`/set/${worker}`)))
    load.#workers = Promise.all(
      load.#versions.flatMap((_, worker) => [
        load.#repeat(load.#reading(worker)),
        load.#repeat((turn) => load.#set(worker, turn)),
        load.#repeat((turn) => load.#create(worker, turn)),
      ]),
    )
    return load
  }

  private constructor(zk: ZooKeeper, width: number) {
    this.#zk = zk
    this.#width = width
    this.#versions = Array.from({ length: width }, () => 0)
  }

  /** Waits until every request in flight has settled. */
  async stop(): Promise<void> {
    this.#isOver = true
    await this.#workers
  }

  /** Compares the tree, read by another client, with the outcomes. */
  async inspect(other: ZooKeeper): Promise<void> {
    await caughtUp(other)
    const { children } = await other.getChildren('/queue')
    const found = new Map<string, string>()
    for (const name of children) {
      const prefix = name.slice(0, -COUNTER_DIGITS)
      if (found.has(prefix)) this.complaints.push(`${prefix} was created twice: ${found.get(prefix)}, ${name}`)
      found.set(prefix, name)
    }
    for (const [prefix, name] of this.#created) {
      const there = found.get(prefix)
      found.delete(prefix)
      if (name !== undefined && there !== name) this.complaints.push(`${name} was created, and there is ${there}`)
    }
    if (found.size > 0) this.complaints.push(`unexpected nodes: ${[...found.values()].join(', ')}`)
    for (let worker = 0; worker < this.#width; worker++) {
      const stat = await other.exists(`/set/${worker}`)
      this.#expectVersion(worker, stat?.version, 'at the end')
    }
  }

  async #repeat(once: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 1; !this.#isOver; turn++) {
      try {
        await once(turn)
      } catch (error) {
        this.complaints.push(String(error))
        return
      }
    }
  }

  /** Reads always answer, and never show an older state than before. */
  #reading(worker: number): () => Promise<void> {
    let seen = 0
    return async () => {
      const path = `/set/${worker}`
      const [read, stat] = await Promise.all([this.#zk.getData(path), this.#zk.exists(path)])
      this.#answered()
      for (const version of [read.stat.version, stat?.version ?? -1]) {
        if (version < seen) this.complaints.push(`${path} went back from version ${seen} to ${version}`)
        seen = version
      }
    }
  }

  async #set(worker: number, turn: number): Promise<void> {
    const path = `/set/${worker}`
    const data = String(turn)
    const before = this.#versions[worker]!
    const stat = await this.#known(this.#zk.setData(path, data))
    if (stat !== undefined) this.#versions[worker] = before + 1
    else {
      // The client ensures that this read is not older than the write.
      const read = await this.#zk.getData(path)
      if (text(read.data) === data) this.#versions[worker] = before + 1
      this.#expectVersion(worker, read.stat.version, `after turn ${turn}, whose outcome was unknown`)
    }
    if (stat !== undefined) this.#expectVersion(worker, stat.version, `in the answer to turn ${turn}`)
  }

  async #create(worker: number, turn: number): Promise<void> {
    const prefix = `${worker}-${turn}-`
    const created = await this.#known(this.#zk.create(`/queue/${prefix}`, '', { mode: 'PERSISTENT_SEQUENTIAL' }))
    this.#created.set(prefix, created?.path.slice('/queue/'.length))
  }

  /** The result of a write, undefined if the outcome is unknown. Any other failure is a violation. */
  async #known<T>(write: Promise<T>): Promise<T | undefined> {
    try {
      const result = await write
      this.#answered()
      return result
    } catch (error) {
      if (!KeeperError.is(error, 'ConnectionLoss') || !error.outcomeUnknown) throw error
      this.unknown++
      return undefined
    }
  }

  #answered(): void {
    this.longestSilence = Math.max(this.longestSilence, this.#sinceAnswer.running)
    this.#sinceAnswer = new Stopwatch()
    this.answers++
  }

  #expectVersion(worker: number, version: number | undefined, when: string): void {
    const expected = this.#versions[worker]
    if (version !== expected) this.complaints.push(`/set/${worker} has version ${version}, not ${expected}, ${when}`)
  }
}
