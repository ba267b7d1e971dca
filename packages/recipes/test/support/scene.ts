import { connect, type ConnectOptions, type ZooKeeper } from '@zk/client'
import { Ensemble } from './ensemble/ensemble.ts'
import { InterruptibleWorld } from './interruptible-world.ts'
import { outcome, type Outcome } from './outside.ts'

export interface SceneOptions {
  readonly servers?: number
  readonly seed?: number
}

export interface ClientOptions extends ConnectOptions {
  /** Behind the addresses. @default none */
  readonly chroot?: string
}

/** In ms; short against every deadline. */
const ROUND_TRIP = 1

/** A virtual world with an ensemble and clients of it. */
export class Scene {
  readonly world: InterruptibleWorld
  readonly ensemble: Ensemble
  readonly #clients: ZooKeeper[] = []

  constructor({ servers = 1, seed = 1 }: SceneOptions = {}) {
    this.world = new InterruptibleWorld(seed)
    this.ensemble = new Ensemble(this.world, servers)
  }

  /** A client with a session. */
  async client({ chroot = '', ...options }: ClientOptions = {}): Promise<ZooKeeper> {
    const connecting = outcome(connect(this.ensemble.connectString + chroot, { runtime: this.world, ...options }))
    await this.world.settle()
    this.#clients.push(connecting.value)
    return connecting.value
  }

  async clients(count: number): Promise<ZooKeeper[]> {
    const clients: ZooKeeper[] = []
    for (let index = 0; index < count; index++) clients.push(await this.client())
    return clients
  }

  /** What becomes of the promise until the world is at rest. The clock stands still. */
  async start<T>(promise: Promise<T>): Promise<Outcome<T>> {
    const started = outcome(promise)
    await this.world.settle()
    return started
  }

  /** What the promise has resolved with when the world is at rest. Throws when it has not. */
  async done<T>(promise: Promise<T>): Promise<T> {
    return (await this.start(promise)).value
  }

  /** How many round trips it takes until the promise is settled. */
  async roundTrips(promise: Promise<unknown>): Promise<number> {
    const started = outcome(promise)
    const { network } = this.ensemble
    network.latency = () => ROUND_TRIP
    let trips = 0
    await this.world.settle()
    for (; started.status === 'pending'; trips++) await this.world.advance(ROUND_TRIP)
    network.latency = () => 0
    return trips
  }

  /**
   * What contenders leave behind when nobody holds or waits: nothing. Every session has one timer at its client and one
   * at the ensemble.
   */
  leftovers(): { nodes: string[]; watches: string[]; timers: number } {
    const { world, ensemble } = this
    const alive = this.#clients.filter(({ session }) => !session.signal.aborted)
    return {
      nodes: ensemble.ephemerals(),
      watches: ensemble.watches().map(({ table, path }) => `${table} ${path}`),
      timers: world.timers - alive.length - ensemble.sessions.live.length,
    }
  }
}

export const nothing = { nodes: [], watches: [], timers: 0 }
