// Caches over one client's watches of every kind, while nodes change, connections break and sessions end.
import { KeeperError, type NodeEvents, type Watched, type ZooKeeper } from '@zk/client'
import { expect } from 'vitest'
import { SeededRandom } from './outside.ts'
import { Scene, type SceneOptions } from './scene.ts'

const PATHS = ['/a', '/a/b', '/a/b/c', '/a/d'] as const
const KINDS = ['plain', 'recursive', 'data', 'exist', 'child'] as const
const CACHES = 8
const STEPS = 60
/** In ms. */
const SETTLED = 90_000

/** The state of a node as known by watching it. */
class Cache {
  readonly kind: (typeof KINDS)[number]
  readonly path: string
  known = 'nothing'
  #isClosed = false
  #events: NodeEvents | undefined
  #watched: Watched | undefined
  readonly #zk: ZooKeeper

  constructor(zk: ZooKeeper, kind: Cache['kind'], path: string) {
    this.#zk = zk
    this.kind = kind
    this.path = path
  }

  async run(): Promise<void> {
    while (!this.#isClosed) {
      try {
        await (this.kind === 'plain' || this.kind === 'recursive' ? this.#follow() : this.#watchOnce())
      } catch (error) {
        if (!KeeperError.is(error)) throw error
      }
    }
  }

  close(): void {
    this.#isClosed = true
    void this.#events?.return()
    this.#watched?.unwatch().catch(() => {})
  }

  async #follow(): Promise<void> {
    this.#events ??= await this.#zk.watch(this.path, { recursive: this.kind === 'recursive', maxQueued: 5 })
    if (this.#isClosed) return this.close()
    do this.known = await this.#read()
    while ((await this.#events.next()).done !== true)
  }

  async #read(): Promise<string> {
    const paths = this.kind === 'plain' ? [this.path] : PATHS.filter((path) => isWithin(path, this.path))
    const stats = await Promise.all(paths.map((path) => this.#zk.exists(path)))
    return describeState(paths.map((path, index) => [path, stats[index]]))
  }

  async #watchOnce(): Promise<void> {
    const { stat, ...watched } = await this.#ask()
    this.#watched = watched
    this.known = describeState([[this.path, stat]])
    if (this.#isClosed) return this.close()
    await watched.changed
  }

  async #ask(): ReturnType<ZooKeeper['existsAndWatch']> {
    if (this.kind === 'exist') return this.#zk.existsAndWatch(this.path)
    const read = () =>
      this.kind === 'data' ? this.#zk.getDataAndWatch(this.path) : this.#zk.getChildrenAndWatch(this.path)
    try {
      return await read()
    } catch (error) {
      if (KeeperError.is(error, 'NoNode')) return this.#zk.existsAndWatch(this.path)
      throw error
    }
  }

  /** What it must know, as the ensemble has it. */
  truth({ ensemble: { nodes } }: Scene): string {
    const paths = this.kind === 'recursive' ? PATHS.filter((path) => isWithin(path, this.path)) : [this.path]
    return describeState(paths.map((path) => [path, nodes.get(path)?.stat]))
  }

  /** What it may not know: that one kind of watch is not about. */
  comparable(state: string): string {
    if (this.kind === 'child') return state.replace(/ v\d+/g, '')
    return this.kind === 'plain' ? state : state.replace(/ c-?\d+/g, '')
  }
}

export class CacheWalk {
  readonly #random: SeededRandom
  readonly #scene: Scene
  #zk!: ZooKeeper
  #caches: Cache[] = []
  readonly steps: string[] = []

  constructor(seed: number, options: SceneOptions) {
    this.#random = new SeededRandom(seed)
    this.#scene = new Scene({ seed, members: 3, ...options })
    this.#scene.network.latency = () => this.#random.below(5)
    this.#scene.memberLatency = this.#random.below(4)
  }

  async play(): Promise<void> {
    const connecting = this.#scene.client({ sessionTimeout: 6_000 })
    await this.#scene.world.advance(2_000)
    this.#zk = await connecting
    const running: Promise<void>[] = []
    for (let step = 0; step < STEPS; step++) {
      const draw = this.#random.below(20)
      if (draw < 6 && this.#caches.length < CACHES) running.push(this.#open().run())
      else if (draw < 8 && this.#caches.length > 0) this.#close(this.#pick(this.#caches))
      else if (draw === 8) this.#fault('cut', () => this.#scene.cut(this.#zk))
      else if (draw === 9 && this.#random.below(3) === 0) this.#expire()
      else this.#change()
      await this.#scene.world.advance(this.#random.below(4) === 0 ? this.#random.below(2_000) : this.#random.below(6))
    }
    await this.#scene.world.advance(SETTLED)
    for (const cache of this.#caches) {
      const { kind, path } = cache
      expect(cache.comparable(cache.known), `${kind} cache of ${path}`).toBe(cache.comparable(cache.truth(this.#scene)))
    }
    for (const cache of this.#caches) this.#close(cache)
    await this.#scene.world.advance(SETTLED)
    await Promise.all(running)
    expect(this.#scene.watchCount(), 'watches that the servers keep').toBe(0)
    void this.#zk.close()
    await this.#scene.world.advance(SETTLED)
  }

  #open(): Cache {
    const cache = new Cache(this.#zk, this.#pick(KINDS), this.#pick(PATHS))
    this.steps.push(`open ${cache.kind} ${cache.path}`)
    this.#caches.push(cache)
    return cache
  }

  #close(cache: Cache): void {
    this.steps.push(`close ${cache.kind} ${cache.path}`)
    this.#caches = this.#caches.filter((other) => other !== cache)
    cache.close()
  }

  #expire(): void {
    // It may have none at the moment.
    const isKnown = this.#scene.ensemble.sessions.get(this.#zk.session.id) !== undefined
    if (isKnown) this.#fault('expire', () => this.#scene.expire(this.#zk))
  }

  #fault(what: string, happen: () => void): void {
    this.steps.push(what)
    happen()
  }

  #change(): void {
    const path = this.#pick(PATHS)
    const { nodes } = this.#scene.ensemble
    const node = nodes.get(path)
    const parent = path.slice(0, path.lastIndexOf('/')) || '/'
    if (node === undefined && nodes.get(parent) === undefined) return
    this.steps.push(`change ${path}`)
    // A follower may be asked that does not know yet, and an operator be refused.
    try {
      if (node === undefined) nodes.create(path)
      else if (node.children.length > 0 || this.#random.below(2) === 0) nodes.setData(path, 'x')
      else nodes.delete(path)
    } catch (error) {
      this.steps.push(String(error))
    }
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#random.below(items.length)]!
  }
}

function isWithin(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}

/** Which node it is, its version, and that of its children. */
function describeState(
  states: readonly (readonly [string, { czxid: bigint; version: number; cversion: number } | undefined])[],
): string {
  return states
    .map(([path, stat]) =>
      stat === undefined ? `${path} -` : `${path} ${stat.czxid} v${stat.version} c${stat.cversion}`,
    )
    .join(', ')
}
