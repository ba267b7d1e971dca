// What changes below some paths, collected.
import { KeeperError, type ZooKeeper } from '@zk/client'
import { setTimeout as pause } from 'node:timers/promises'

/** Changes that come this soon after another one are reported with it; in ms. */
const COLLECTED = 100
/** Servers before 3.6 have no watches of whole trees: with them, this often anything may have changed; in ms. */
const POLL = 1_000

export type Change =
  /** These nodes were created, deleted, or have new data. */
  | { readonly name: 'nodes'; readonly paths: ReadonlySet<string> }
  /** Anything may have changed. */
  | { readonly name: 'all' }
  /** The client has lost its server, or has one again. What is known may be old until the next change. */
  | { readonly name: 'connection'; readonly isConnected: boolean }

export class Changes {
  readonly #zk: ZooKeeper
  readonly #signal: AbortSignal
  #paths = new Set<string>()
  #isAll = false
  #isConnected = true
  #toldConnected = true
  #failure: { readonly error: unknown } | undefined
  #wake = (): void => {}

  /** Resolves when the watches are set: changes from then on are reported. */
  static async below(zk: ZooKeeper, roots: readonly string[], signal: AbortSignal): Promise<Changes> {
    const changes = new Changes(zk, signal)
    await Promise.all(roots.map((root) => changes.#watch(root)))
    void changes.#watchConnection()
    return changes
  }

  private constructor(zk: ZooKeeper, signal: AbortSignal) {
    this.#zk = zk
    this.#signal = signal
    signal.addEventListener('abort', () => this.#wake())
  }

  /** The next changes. Rejects when the signal aborts, or no session can be opened any more. */
  async next(): Promise<readonly Change[]> {
    while (!this.#hasNews()) await new Promise<void>((resolve) => (this.#wake = resolve))
    if (!this.#signal.aborted && this.#failure === undefined)
      await pause(COLLECTED, undefined, { signal: this.#signal })
    this.#signal.throwIfAborted()
    if (this.#failure !== undefined) throw this.#failure.error
    const changes: Change[] = []
    if (this.#isConnected !== this.#toldConnected) {
      this.#toldConnected = this.#isConnected
      changes.push({ name: 'connection', isConnected: this.#isConnected })
    }
    if (this.#isAll) changes.push({ name: 'all' })
    else if (this.#paths.size > 0) changes.push({ name: 'nodes', paths: this.#paths })
    this.#paths = new Set()
    this.#isAll = false
    return changes
  }

  #hasNews(): boolean {
    if (this.#signal.aborted || this.#failure !== undefined) return true
    return this.#isAll || this.#paths.size > 0 || this.#isConnected !== this.#toldConnected
  }

  async #watch(root: string): Promise<void> {
    try {
      const events = await this.#zk.watch(root, { recursive: true, signal: this.#signal })
      void this.#reporting(async () => {
        for await (const event of events) {
          if (event.type === 'Gap') this.#isAll = true
          else this.#paths.add(event.path)
          this.#wake()
        }
      })
    } catch (error) {
      if (!KeeperError.is(error, 'Unimplemented')) throw error
      void this.#reporting(async () => {
        for (;;) {
          await pause(POLL, undefined, { signal: this.#signal })
          this.#isAll = true
          this.#wake()
        }
      })
    }
  }

  async #watchConnection(): Promise<void> {
    await this.#reporting(async () => {
      for await (const state of this.#zk.watchState()) {
        if (state.name === 'authFailed') throw state.error ?? new Error('the credentials were refused')
        this.#isConnected = state.name === 'connected'
        this.#wake()
      }
    })
  }

  async #reporting(body: () => Promise<void>): Promise<void> {
    try {
      await body()
    } catch (error) {
      this.#failure ??= { error }
      this.#wake()
    }
  }
}
