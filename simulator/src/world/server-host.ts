import type { Link, ServerEnd } from './link.ts'
import type { Network } from './network.ts'
import type { EventSource } from './world.ts'

/** What a server without I/O wants done. */
export type Output<Key> =
  | { readonly type: 'send'; readonly link: Key; readonly bytes: Uint8Array }
  | { readonly type: 'close'; readonly link: Key; readonly how: 'end' | 'reset' }

/** Servers without I/O, as `EnsembleModel` of `@zk/testing`. */
export interface Servers<Key> {
  accept(member: string, remote: { readonly address: string }, now: number): Key | undefined
  received(link: Key, bytes: Uint8Array, now: number): readonly Output<Key>[]
  closed(link: Key, now: number): readonly Output<Key>[]
  elapse(now: number): readonly Output<Key>[]
  deadline(): number
  onWake: () => void
}

/** Drives servers without I/O in the world: their connections are links, their time is true time. */
export class ServerHost<Key> implements EventSource {
  readonly #servers: Servers<Key>
  readonly #onActivity: () => void
  readonly #links = new Map<Key, Link>()
  #isWoken = false

  /** `onActivity` is called whenever the servers did something. */
  constructor(servers: Servers<Key>, onActivity: () => void) {
    this.#servers = servers
    this.#onActivity = onActivity
    servers.onWake = () => {
      this.#isWoken = true
    }
  }

  deadline(): number {
    return this.#isWoken ? 0 : this.#servers.deadline()
  }

  elapse(now: number): void {
    this.#isWoken = false
    this.#perform(this.#servers.elapse(now))
  }

  /** Has the member of this name listen. */
  listen(network: Network, member: string, now: () => number): void {
    network.listen(member, (process) => (link) => {
      const key = this.#servers.accept(member, { address: process.name }, now())
      if (key === undefined) return undefined
      this.#links.set(key, link)
      return this.#endOf(key, now)
    })
  }

  #endOf(key: Key, now: () => number): ServerEnd {
    return {
      received: (bytes) => this.#perform(this.#servers.received(key, bytes, now())),
      closed: () => {
        this.#links.delete(key)
        this.#perform(this.#servers.closed(key, now()))
      },
    }
  }

  #perform(outputs: readonly Output<Key>[]): void {
    this.#onActivity()
    for (const output of outputs) {
      const link = this.#links.get(output.link)
      if (output.type === 'send') {
        link?.deliver(output.bytes)
        continue
      }
      this.#links.delete(output.link)
      if (output.how === 'end') link?.end()
      else link?.resetByServer()
    }
  }
}
