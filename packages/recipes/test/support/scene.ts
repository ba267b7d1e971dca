import { connect, type ConnectOptions, type ZooKeeper } from '@zk/client'
import { EnsembleModel, type ServerRelease, type TestConnection } from '@zk/testing'
import { InterruptibleWorld } from './interruptible-world.ts'
import { Network } from './network.ts'
import { outcome, type Outcome, SeededRandom } from './outside.ts'
import { Since } from './since.ts'
import { type Watch, Watches } from './watches.ts'

export interface SceneOptions {
  /** Whether members without a leader serve reads. @default false */
  readonly readOnlyMode?: boolean
  readonly members?: number | undefined
  readonly seed?: number
  /** What children get when the counter of their parent is used up. @default 'stick' */
  readonly sequenceOverflow?: 'stick' | 'wrap'
  /** Whether one connection can watch a path in more than one way. @default as the release */
  readonly watchModes?: 'one' | 'several' | undefined
  /** Servers before 3.6 know no persistent watches. @default the newest */
  readonly release?: ServerRelease
  /** The longest request that servers take, in bytes. @default that of ZooKeeper */
  readonly juteMaxBuffer?: number | undefined
}

export interface ClientOptions extends ConnectOptions {
  /** Behind the addresses. @default none */
  readonly chroot?: string
}

/** In ms. Sessions expire at ticks: up to one later than they might. */
export const TICK = 500
/** In ms; short against every deadline. */
const ROUND_TRIP = 1
const MUCH = 2 ** 31 - 1
/** The session timeout of clients in tests, unless the test gives another one. */
const T = 30_000

/** A virtual world with an ensemble and clients of it. */
export class Scene {
  readonly world: InterruptibleWorld
  readonly ensemble: EnsembleModel
  readonly network: Network
  /** How long a message between two members is under way, in ms. */
  memberLatency = 0
  readonly #watches: Watches
  readonly #clients: ZooKeeper[] = []

  constructor({
    members = 1,
    seed = 1,
    sequenceOverflow = 'stick',
    watchModes,
    readOnlyMode = false,
    release = '3.9',
    juteMaxBuffer,
  }: SceneOptions = {}) {
    const world = new InterruptibleWorld(seed)
    const random = new SeededRandom(seed)
    this.world = world
    this.ensemble = new EnsembleModel({
      members,
      tickTime: TICK,
      maxSessionTimeout: 40_000,
      sequenceOverflow,
      watchModes,
      readOnlyMode,
      release,
      juteMaxBuffer,
      latency: () => this.memberLatency,
      // A server serves clients from the beginning.
      electionTime: () => (world.now() === 0 ? 0 : 200),
      history: { entries: MUCH, bytes: MUCH },
      random: () => random.next(),
      now: () => world.now(),
      wallNow: (now) => world.wallNow() - world.now() + now,
    })
    this.network = new Network(world, this.ensemble)
    this.#watches = new Watches(this.ensemble.history)
  }

  get connectString(): string {
    return this.ensemble.members.map(({ address }) => address).join(',')
  }

  /** A client with a session. */
  async client({ chroot = '', ...options }: ClientOptions = {}): Promise<ZooKeeper> {
    const connecting = connect(this.connectString + chroot, { runtime: this.world, sessionTimeout: T, ...options })
    await this.world.settle()
    const zk = await connecting
    this.#clients.push(zk)
    return zk
  }

  async clients(count: number, options?: ClientOptions): Promise<ZooKeeper[]> {
    const clients: ZooKeeper[] = []
    for (let index = 0; index < count; index++) clients.push(await this.client(options))
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
    this.network.latency = () => ROUND_TRIP
    let trips = 0
    await this.world.settle()
    for (; started.status === 'pending'; trips++) await this.world.advance(ROUND_TRIP)
    this.network.latency = () => 0
    return trips
  }

  // --- faults of the clients --------------------------------------------------------------------------------------

  /** Resets the client's connection, if it has one. The session lives on. */
  cut({ session }: ZooKeeper): void {
    for (const connection of this.#connectionsOf(session.id)) connection.reset()
  }

  /** From now on what the client's connection carries is lost, both ways or one way, without notice. */
  freeze({ session }: ZooKeeper, loses: 'both' | 'replies' = 'both'): void {
    for (const connection of this.#connectionsOf(session.id)) connection.halfOpen(loses)
  }

  /** Ends the client's session as if no packet had been received for too long. */
  expire({ session }: ZooKeeper): void {
    this.ensemble.sessions.expire(session.id)
  }

  /** Nobody can connect any more; those connected stay. */
  refuse(): void {
    for (const member of this.ensemble.members) member.refuse()
  }

  accept(): void {
    for (const member of this.ensemble.members) member.accept()
  }

  // --- what there is ----------------------------------------------------------------------------------------------

  /** Names of the children, in the order in which they were created. */
  children(path: string): string[] {
    const { nodes } = this.ensemble
    const createdAt = (name: string) => nodes.get(path === '/' ? `/${name}` : `${path}/${name}`)!.stat.czxid
    return [...(nodes.get(path)?.children ?? [])].sort((one, other) => (createdAt(one) < createdAt(other) ? -1 : 1))
  }

  /** What servers watch: for one client, or for all. */
  watches(zk?: ZooKeeper): Watch[] {
    return this.#watches.list().filter(({ session }) => session === (zk?.session.id ?? session))
  }

  /** How many watches the servers say that they keep. */
  watchCount(): number {
    return this.ensemble.members.reduce((sum, { name }) => sum + watchCountAt(this, name), 0)
  }

  /** What the servers are asked and tell from now on. */
  since(): Since {
    return new Since(this.ensemble.history)
  }

  /** Drops the history of the servers, which grows without end. Earlier results of `since` are void. */
  forget(): void {
    this.#watches.forget()
  }

  /** Timers of clients, and frames under way. */
  get timers(): number {
    return this.world.timers
  }

  /** What contenders leave behind when no contender holds or waits: nothing. Every session has one timer at its client. */
  leftovers(): { nodes: readonly string[]; watches: string[]; timers: number } {
    const alive = this.#clients.filter(({ session }) => !session.signal.aborted)
    return {
      nodes: this.ensemble.nodes.ephemerals(),
      watches: this.watches().map(({ table, path }) => `${table} ${path}`),
      timers: this.timers - alive.length,
    }
  }

  #connectionsOf(session: bigint): TestConnection[] {
    return this.ensemble.members
      .flatMap(({ connections }) => connections)
      .filter((connection) => connection.session === session)
  }
}

/** As it tells monitoring. */
function watchCountAt({ ensemble, world }: Scene, member: string): number {
  const link = ensemble.accept(member, { address: '10.9.9.9' }, world.now())
  if (link === undefined) return 0
  const outputs = ensemble.received(link, new TextEncoder().encode('mntr'), world.now())
  const text = outputs.flatMap((output) => (output.link === link && output.type === 'send' ? [output.bytes] : []))
  const [, count = '0'] = /^zk_watch_count\t(\d+)$/m.exec(Buffer.concat(text).toString()) ?? []
  return Number(count)
}

export const nothing = { nodes: [], watches: [], timers: 0 }

/** A scene with so many members, and two clients in it. */
export async function sceneOfTwo(
  members: number | undefined,
  options: ClientOptions,
): Promise<{ scene: Scene; zk: ZooKeeper; other: ZooKeeper }> {
  const scene = new Scene({ members })
  const [zk, other] = await scene.clients(2, options)
  return { scene, zk: zk!, other: other! }
}
