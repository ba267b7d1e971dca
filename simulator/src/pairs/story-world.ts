// A small world in which a story is told: one client and one server, and a list of moments at which something happens.
import { connect, type ConnectionHandler, type DialTarget, type Runtime, type ZooKeeper } from '@zk/client'
import { EnsembleModel, type LoggedTxn } from '@zk/testing'
import {
  drain,
  type Link,
  Network,
  Random,
  ServerHost,
  SimProcess,
  TURNS,
  WALL_START,
  World,
} from '@zk/testing/internal'

export interface Story {
  readonly name: string
  /** The node that others write and delete. */
  node(world: StoryWorld): string | undefined
  /** The path of the n-th node that others create. */
  beside?(nth: number): string
  tell(world: StoryWorld, zk: ZooKeeper): Promise<void>
  /** What is wrong at this moment. */
  look?(world: StoryWorld): string | undefined
  /** The names of the errors with which its calls may fail, besides `KeeperError`. */
  readonly errors?: readonly string[]
  /** The nodes that must be gone at the end. */
  left?(world: StoryWorld): readonly string[]
}

/** The session timeout of all stories, in ms. */
export const T = 1_000
const TICK = 500
const SERVER = 'zk1'

/** The longest time of a story, and of a `close` after it, in ms. */
const LONGEST = 30 * T
const LENGTH_SIZE = 4

export class StoryWorld {
  readonly world: World
  readonly model: EnsembleModel
  readonly wrong: string[] = []
  zk: ZooKeeper | undefined
  /** How many moments there were: a request has arrived at the server, or the client has received a segment. */
  moments = 0
  readonly #network: Network
  readonly #process: SimProcess
  readonly #story: Story
  readonly #plan: ReadonlyMap<number, readonly (() => void)[]>
  readonly #patience: number | undefined
  readonly #aborting = new AbortController()
  #release: () => void = () => {}
  #closing: Promise<void> | undefined
  #beside = 0
  #isTelling = false
  #isTold = false

  /** How many connections the client has dialed. */
  connections = 0

  /** Resolves when it is to go on without waiting. */
  readonly released: Promise<void>

  /** `patience` is the time limit of the calls of the story, in ms. */
  constructor(
    story: Story,
    seed: number,
    plan: (world: StoryWorld) => ReadonlyMap<number, readonly (() => void)[]>,
    patience?: number,
  ) {
    this.#story = story
    this.#patience = patience
    this.released = new Promise((resolve) => {
      this.#release = resolve
    })
    this.model = new EnsembleModel({
      members: [SERVER],
      tickTime: TICK,
      electionTime: () => 0,
      now: () => this.world.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    const host = new ServerHost(this.model, () => this.world.enterCode())
    this.world = new World(host, () => drain(TURNS), { drained: () => this.#look() })
    this.#network = new Network(this.world, new Random(seed, 'network'), { latency: 2, cuts: 0 })
    // Each request is a moment, also those of one segment: others may commit something between any two.
    const listening: Pick<Network, 'listen'> = {
      listen: (name, accept) =>
        this.#network.listen(name, (process) => (link) => {
          const end = accept(process)(link)
          return (
            end && {
              received: (bytes) => {
                this.#moment()
                end.received(bytes)
              },
              closed: () => end.closed(),
            }
          )
        }),
    }
    host.listen(listening as Network, SERVER, () => this.world.now)
    this.#process = new SimProcess(this.world, {
      name: '10.0.0.1',
      random: new Random(seed, 'client'),
      dialer: this.#network,
      clockRate: 1,
    })
    this.#plan = plan(this)
  }

  get links(): readonly Link[] {
    return [...this.#network.linksOf(this.#process)]
  }

  /** The node that the story is about now. */
  get node(): string | undefined {
    return this.#story.node(this)
  }

  /** How the calls of the story may end early. */
  get limits(): { readonly signal: AbortSignal; readonly timeout?: number } {
    const { signal } = this.#aborting
    return this.#patience === undefined ? { signal } : { signal, timeout: this.#patience }
  }

  abort(): void {
    this.#aborting.abort(ABORTED)
  }

  release(): void {
    this.#release()
  }

  close(): Promise<void> {
    this.#closing ??= this.zk?.close() ?? Promise.resolve()
    return this.#closing
  }

  /** Everything waits for this many session timeouts. */
  hold(timeouts: number): void {
    this.#network.hold(this.#process, SERVER, { up: true, down: true })
    this.world.after(timeouts * T, () => this.#network.hold(this.#process, SERVER, { up: false, down: false }))
  }

  createBeside(): void {
    const path = this.#story.beside?.(this.#beside++)
    if (path !== undefined && this.model.nodes.get(path) === undefined) this.model.nodes.create(path)
  }

  /** Everything that was committed. */
  get log(): readonly LoggedTxn[] {
    return this.model.committedAfter(0n) ?? []
  }

  /** The last change of each path that was committed by this time. */
  changesBy(at: number): ReadonlyMap<string, { readonly zxid: bigint; readonly isThere: boolean }> {
    const changes = new Map<string, { readonly zxid: bigint; readonly isThere: boolean }>()
    for (const { header, txn } of this.log) {
      const isChange = txn.type === 'create' || txn.type === 'setData' || txn.type === 'delete'
      if (!isChange || header.time - WALL_START > at) continue
      changes.set(txn.path, { zxid: header.zxid, isThere: txn.type !== 'delete' })
    }
    return changes
  }

  pause(delay: number): Promise<void> {
    return new Promise((resolve) => void this.#process.setTimer(delay, resolve))
  }

  /** Settles as the call does, but resolves with undefined if the call fails with a cause. */
  async attempt<Result>(call: Promise<Result>, failed?: (error: unknown) => void): Promise<Result | undefined> {
    try {
      return await call
    } catch (error) {
      failed?.(error)
      const name = error instanceof Error ? error.name : 'no error'
      const isExpected = error === ABORTED || name === 'KeeperError' || this.#story.errors?.includes(name)
      if (!isExpected) this.wrong.push(`failed: ${String(error)}`)
      return undefined
    }
  }

  /** Tells the story from beginning to end. Returns what went wrong. */
  async tell(): Promise<readonly string[]> {
    this.#process.run(() => void this.#tell())
    await this.world.run(LONGEST, () => this.#isTold)
    if (!this.#isTold) return [...this.wrong, 'the story does not end']
    // Longer than a session lives that its client has given up.
    await this.world.run(this.world.now + 3 * T)
    const left = { timers: this.#process.timers, links: this.links.length, nodes: this.#story.left?.(this).length ?? 0 }
    const wrong = Object.entries(left).flatMap(([what, count]) => (count === 0 ? [] : [`${count} ${what} are left`]))
    return [...this.wrong, ...wrong]
  }

  async #tell(): Promise<void> {
    this.zk = await connect(`${SERVER}:2181`, { runtime: this.#runtime(), sessionTimeout: T, connectTimeout: T })
    this.#isTelling = true
    try {
      await this.#story.tell(this, this.zk)
    } catch (error) {
      this.wrong.push(`the story fails: ${String(error)}`)
    }
    this.#isTelling = false
    // With the session they would be gone in any case.
    await this.pause(3 * T)
    const left = this.#story.left?.(this) ?? []
    if (left.length > 0) this.wrong.push(`left before the end of the session: ${left.join(', ')}`)
    await this.close()
    this.#isTold = true
  }

  /** Sends requests one by one. A moment is also right after a segment has come in, before anything else is done. */
  #runtime(): Runtime {
    const process = this.#process
    const dial = (target: DialTarget, handler: ConnectionHandler) => {
      this.connections++
      const connection = process.dial(target, {
        opened: () => handler.opened(),
        drained: () => handler.drained(),
        lost: (error) => handler.lost(error),
        received: (bytes) => {
          handler.received(bytes)
          this.#moment()
        },
      })
      const write = (bytes: Uint8Array) => {
        for (const frame of framesOf(bytes)) connection.write(frame)
        return true
      }
      return { write, close: () => connection.close() }
    }
    return {
      now: () => process.now(),
      wallNow: () => process.wallNow(),
      setTimer: (delay, callback) => process.setTimer(delay, callback),
      random: () => process.random(),
      uuid: () => process.uuid(),
      dial,
    }
  }

  #moment(): void {
    if (!this.#isTelling) return
    for (const happen of this.#plan.get(this.moments++) ?? []) happen()
  }

  #look(): void {
    const wrong = this.#story.look?.(this)
    if (wrong !== undefined && !this.wrong.includes(wrong)) this.wrong.push(wrong)
  }
}

const ABORTED = new Error('aborted')

function* framesOf(bytes: Uint8Array): Generator<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (let at = 0; at < bytes.byteLength;) {
    const end = Math.min(at + LENGTH_SIZE + view.getInt32(at), bytes.byteLength)
    yield bytes.subarray(at, end)
    at = end
  }
}
