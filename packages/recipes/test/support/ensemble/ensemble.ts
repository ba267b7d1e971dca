// A ZooKeeper ensemble in a virtual world: servers that agree on one tree, sessions that outlive connections. What the
// servers do is looked up in ZooKeeper's source; what goes wrong is up to the test.
import { type ACL, type MultiOp, Perms } from '@zk/wire'
import type { VirtualWorld } from '../outside.ts'
import { Faults } from './faults.ts'
import { History } from './history.ts'
import { Network } from './network.ts'
import { attempt, Refusal } from './refusal.ts'
import { type Committed, Server } from './server.ts'
import { Sessions } from './sessions.ts'
import { type Change, type Node, Tree } from './tree.ts'
import type { WatchTable } from './watches.ts'
import { type Author, prepare } from './writes.ts'

export interface NodeOptions {
  /** The session whose ephemeral node it is. @default 0, none */
  readonly owner?: bigint
  readonly data?: string
  /** @default everything to everybody */
  readonly acl?: readonly ACL[]
}

const OPEN: readonly ACL[] = [{ perms: Perms.ALL, id: { scheme: 'world', id: 'anyone' } }]

export class Ensemble {
  readonly servers: readonly Server[]
  readonly sessions: Sessions
  readonly network: Network
  readonly faults = new Faults()
  readonly history = new History()
  readonly #world: VirtualWorld
  /** What has been committed: what a leader knows. */
  readonly #tree = new Tree()
  #zxid = 0n

  constructor(world: VirtualWorld, servers = 1) {
    this.#world = world
    this.network = new Network(world)
    this.sessions = new Sessions(world, (id) => this.endSession(id))
    this.servers = Array.from({ length: servers }, (_, index) => new Server(this, `zk${index + 1}:2181`))
    for (const server of this.servers) world.listen(server.address, server)
  }

  get connectString(): string {
    return this.servers.map(({ address }) => address).join(',')
  }

  get now(): number {
    return this.#world.now()
  }

  // --- looking, as an operator ------------------------------------------------------------------------------------

  node(path: string): Node | undefined {
    return this.#tree.get(path)
  }

  /** Names of the children, in the order in which they were created. */
  children(path: string): string[] {
    return [...(this.node(path)?.children ?? [])]
  }

  /** Paths of the ephemeral nodes: of one session, or of all. */
  ephemerals(session?: bigint): string[] {
    if (session !== undefined) return this.#tree.ephemerals(session)
    return this.#tree.paths.filter((path) => this.node(path)!.ephemeralOwner !== 0n)
  }

  watches(): { readonly table: WatchTable; readonly path: string; readonly session: bigint }[] {
    return this.servers
      .flatMap((server) => server.watches.all())
      .map(({ table, path, watcher }) => ({ table, path, session: watcher.author.session }))
  }

  // --- interfering, as an operator --------------------------------------------------------------------------------

  create(path: string, { owner = 0n, data = '', acl = OPEN }: NodeOptions = {}): void {
    const bytes = new TextEncoder().encode(data)
    this.#publish([{ type: 'created', path, data: bytes, acl, ephemeralOwner: owner, isContainer: false }])
  }

  setData(path: string, data: string): void {
    this.#publish([{ type: 'dataChanged', path, data: new TextEncoder().encode(data) }])
  }

  /** The node and everything below it. */
  delete(path: string): void {
    for (const name of this.children(path)) this.delete(`${path}/${name}`)
    this.#publish([{ type: 'deleted', path }])
  }

  /** What the servers do to a container whose children are gone (server/ContainerManager.java). */
  removeIfEmpty(path: string): void {
    if (this.node(path)?.isContainer && this.children(path).length === 0) this.delete(path)
  }

  /** Ends the session as if nothing had been heard of it for too long. */
  expire(session: bigint): void {
    this.endSession(session)
  }

  /** Cuts the session's connection, if it has one. The session lives on. */
  cut(session: bigint): void {
    this.sessions.get(session)?.connection?.cut()
  }

  freeze(session: bigint): void {
    this.sessions.get(session)?.connection?.freeze()
  }

  /** Nobody can connect to any server. */
  refuse(): void {
    for (const server of this.servers) server.refuse()
  }

  listen(): void {
    for (const server of this.servers) server.listen()
  }

  // --- the servers' side ------------------------------------------------------------------------------------------

  /** All of the operations or none. */
  commit(author: Author, ops: readonly MultiOp[]): Committed {
    if (this.sessions.get(author.session) === undefined) throw new Refusal('SessionExpired')
    const draft = ops.length > 1 ? this.#tree.copy() : this.#tree
    const changes: (Change | undefined)[] = []
    for (const [index, op] of ops.entries()) {
      const change = attempt(() => prepare(draft, op, author))
      if (typeof change === 'string') {
        // A refused write uses up a zxid too.
        return { zxid: this.#publish([]), changes: [], failure: { index, code: change } }
      }
      changes.push(change)
      if (change !== undefined && index < ops.length - 1) draft.apply(change, this.#zxid + 1n, this.#world.wallNow())
    }
    return { zxid: this.#publish(changes.filter((change) => change !== undefined)), changes }
  }

  /** With its ephemeral nodes. Its connection is closed too, unless it was the one that asked. */
  endSession(session: bigint, { isAsked = false } = {}): bigint {
    if (this.sessions.get(session) === undefined) return this.#zxid
    const gone = this.ephemerals(session).map((path) => ({ type: 'deleted', path }) as const)
    const zxid = this.#publish(gone, isAsked ? undefined : session)
    this.sessions.end(session)
    return zxid
  }

  #publish(changes: readonly Change[], ends?: bigint): bigint {
    const transaction = { zxid: ++this.#zxid, time: this.#world.wallNow(), changes, ends }
    for (const change of changes) this.#tree.apply(change, transaction.zxid, transaction.time)
    for (const server of this.servers) server.learn(transaction)
    return transaction.zxid
  }
}
