// One client with watches of every kind on a few nodes, in random order, against what a server would have to tell each.
import { KeeperError, type NodeEvents, type Watched, type PersistentWatchEvent, type ZooKeeper } from '@zk/client'
import { expect } from 'vitest'
import { SeededRandom } from './outside.ts'
import { Scene, type SceneOptions } from './scene.ts'

/** A persistent watch. */
interface Stream {
  readonly path: string
  readonly isRecursive: boolean
  /** undefined until it is set. */
  events: NodeEvents | undefined
  readonly notified: string[]
  readonly expected: string[]
}

/** A one-shot watch. */
interface Single {
  readonly path: string
  readonly isOfChildren: boolean
  watched: Watched | undefined
  notified: string | undefined
  expected: string | undefined
}

interface Change {
  readonly type: string
  readonly path: string
}

const PATHS = ['/', '/a', '/a/b', '/a/b/c', '/a/d'] as const
const ROUNDS = 40
/** In ms: long enough to be connected again. */
const RECONNECTED = 20_000

export class WatchWalk {
  readonly #random: SeededRandom
  readonly #scene: Scene
  #zk!: ZooKeeper
  #streams: Stream[] = []
  #singles: Single[] = []
  /** In this round. */
  #isCut = false
  /** The history, for the message of a failure. */
  readonly steps: string[] = []

  constructor(seed: number, options: SceneOptions) {
    this.#random = new SeededRandom(seed)
    this.#scene = new Scene({ seed, ...options })
  }

  async play(): Promise<void> {
    this.#zk = await this.#scene.client()
    for (let round = 0; round < ROUNDS; round++) {
      this.#isCut = false
      for (let actions = this.#random.below(5); actions > 0; actions--) this.#act()
      await this.#scene.world.advance(RECONNECTED)
      this.#compare()
      for (let changes = this.#random.below(4); changes > 0; changes--) {
        this.#change()
        await this.#scene.world.settle()
        this.#compare()
      }
    }
    for (const stream of this.#streams) this.#leave(stream)
    for (const single of this.#singles) this.#unwatch(single)
    await this.#scene.world.settle()
    expect(this.#scene.watchCount(), 'watches that the servers keep').toBe(0)
    expect(this.#zk.session.anomalies, 'events without a watcher').toBe(0)
    await this.#scene.done(this.#zk.close())
  }

  // --- what the client does, all of one round in one turn -----------------------------------------------------------

  #act(): void {
    const draw = this.#random.below(12)
    if (draw < 4) return this.#watch()
    if (draw < 7) return this.#read()
    if (draw < 9 && this.#streams.length > 0) return this.#leave(this.#pick(this.#streams))
    if (draw < 10 && this.#singles.length > 0) return this.#unwatch(this.#pick(this.#singles))
    if (draw === 11) this.#cut()
  }

  #watch(): void {
    const path = this.#pick(PATHS)
    const isRecursive = this.#random.below(2) === 0
    const stream: Stream = { path, isRecursive, events: undefined, notified: [], expected: [] }
    this.#note(`watch ${path} ${isRecursive ? 'recursive' : ''}`)
    this.#streams.push(stream)
    void this.#follow(stream)
  }

  async #follow(stream: Stream): Promise<void> {
    const { path, isRecursive, notified } = stream
    stream.events = await this.#zk.watch(path, { recursive: isRecursive })
    // It was left before it was set.
    if (!this.#streams.includes(stream)) await stream.events.return()
    for await (const event of stream.events) notified.push(describe(event))
  }

  #read(): void {
    const path = this.#pick(PATHS)
    const method = this.#pick(['getDataAndWatch', 'existsAndWatch', 'getChildrenAndWatch'] as const)
    const isOfChildren = method === 'getChildrenAndWatch'
    this.#note(`${method} ${path}`)
    const isSet = method === 'existsAndWatch' || this.#exists(path)
    const single: Single = { path, isOfChildren, watched: undefined, notified: undefined, expected: undefined }
    if (isSet) this.#singles.push(single)
    const follow = async () => {
      single.watched = await this.#zk[method](path)
      const { type, path: at } = await single.watched.changed
      single.notified = `${type} ${at}`
    }
    follow().catch((error: unknown) => {
      if (!KeeperError.is(error, 'NoNode')) throw error
    })
  }

  #leave(stream: Stream): void {
    this.#note(`leave ${stream.path} ${stream.isRecursive ? 'recursive' : ''}`)
    this.#streams = this.#streams.filter((other) => other !== stream)
    void stream.events?.return()
  }

  #unwatch(single: Single): void {
    if (single.watched === undefined) return
    this.#note(`unwatch ${single.path} ${single.isOfChildren ? 'children' : 'data'}`)
    this.#singles = this.#singles.filter((other) => other !== single)
    single.watched.unwatch().catch(() => {})
  }

  #cut(): void {
    if (this.#isCut) return
    this.#isCut = true
    this.#note('cut')
    this.#scene.cut(this.#zk)
    for (const { events, expected } of this.#streams) if (events !== undefined) expected.push('Gap reconnected')
  }

  // --- what happens to the nodes ------------------------------------------------------------------------------------

  #change(): void {
    const path = this.#pick(PATHS.slice(1))
    const { nodes } = this.#scene.ensemble
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    if (!this.#exists(path)) {
      if (!this.#exists(parent)) return
      nodes.create(path)
      return this.#changed({ type: 'NodeCreated', path }, { type: 'NodeChildrenChanged', path: parent })
    }
    if (this.#random.below(2) === 0 || nodes.get(path)!.children.length > 0) {
      nodes.setData(path, 'x')
      return this.#changed({ type: 'NodeDataChanged', path })
    }
    nodes.delete(path)
    this.#changed({ type: 'NodeDeleted', path }, { type: 'NodeChildrenChanged', path: parent })
  }

  #changed(...changes: readonly Change[]): void {
    for (const { type, path } of changes) {
      this.#note(`${type} ${path}`)
      for (const stream of this.#streams) if (isNotified(stream, type, path)) stream.expected.push(`${type} ${path}`)
      for (const single of this.#singles) {
        const isOfIt = single.isOfChildren === (type === 'NodeChildrenChanged') || type === 'NodeDeleted'
        if (single.path === path && isOfIt) single.expected ??= `${type} ${path}`
      }
    }
  }

  // --- the events that must have arrived ----------------------------------------------------------------------------

  #compare(): void {
    for (const { path, isRecursive, notified, expected } of this.#streams) {
      expect(notified, `what the ${isRecursive ? 'recursive ' : ''}watch of ${path} tells`).toEqual(expected)
    }
    for (const { path, isOfChildren, notified, expected } of this.#singles) {
      expect(notified, `what the watch of ${isOfChildren ? 'children' : 'data'} of ${path} tells`).toBe(expected)
    }
    this.#singles = this.#singles.filter(({ expected }) => expected === undefined)
  }

  #exists(path: string): boolean {
    return this.#scene.ensemble.nodes.get(path) !== undefined
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)]!
  }

  #note(step: string): void {
    this.steps.push(step)
  }
}

function isNotified({ path, isRecursive }: Stream, type: string, at: string): boolean {
  if (!isRecursive) return path === at
  return type !== 'NodeChildrenChanged' && (path === at || path === '/' || at.startsWith(`${path}/`))
}

function describe(event: PersistentWatchEvent): string {
  return event.type === 'Gap' ? `Gap ${event.cause}` : `${event.type} ${event.path}`
}
