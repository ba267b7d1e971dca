// One server of an ensemble, in any role (QuorumPeer).
import type { ConnectRequest, TypeOf } from '@zk/wire'
import { type DataTree, initialConfig, type QuorumConfig } from '../database/index.ts'
import type { Connection, ServerRequest } from '../server/request.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { Channel, End } from './channel.ts'
import { Database } from './database.ts'
import type { Election } from './election.ts'
import { Follower } from './follower.ts'
import type { Host } from './host.ts'
import { Leader } from './leader.ts'
import type { Network } from './network.ts'
import type { LearnerPacket } from './packets.ts'
import type { PrimaryServer } from './primary-server.ts'
import { Process } from './process.ts'
import { ReadOnlyServer } from './read-only-server.ts'
import { SessionIds } from './session-ids.ts'
import type { Settings } from './settings.ts'
import { StandaloneServer } from './standalone-server.ts'
import type { Vote } from './vote.ts'
import type { ZooKeeperServer } from './zookeeper-server.ts'

/**
 * `leader`, `follower` or `standalone` while it serves clients. `looking` also while it catches up with a leader.
 * `read-only` while it serves clients without a leader.
 */
export type Role = 'standalone' | 'leader' | 'follower' | 'looking' | 'read-only' | 'down'

type State =
  | { readonly type: 'down' }
  /** It has a server if it has looked for long, and may serve without a leader. */
  | { readonly type: 'looking'; readonly server?: ReadOnlyServer }
  | { readonly type: 'standalone'; readonly server: StandaloneServer }
  | { readonly type: 'leading'; readonly leader: Leader }
  | { readonly type: 'following'; readonly follower: Follower }

/** What a member needs from its ensemble. */
export interface MemberContext {
  readonly settings: Settings
  readonly network: Network
  readonly election: Election
  /** The port of the leader, for a connection that is not accepted yet. */
  door(channel: Channel): End<LearnerPacket>
  /** Reports a new role to the user. It must have no effect on the ensemble. */
  roleChanged(member: string, role: Role): void
}

const KILLED = 'the member was killed'

/** A call takes effect at once, or when the agenda runs. So the caller must run the agenda up to now after a call. */
export class Member {
  readonly name: string
  /** Its number in the ensemble (myid), from 1 on. */
  readonly id: number
  readonly #context: MemberContext
  readonly #database: Database
  readonly #host: { -readonly [Key in keyof Host]: Host[Key] }
  #state: State = { type: 'looking' }
  #ids: SessionIds | undefined
  #reportedRole: Role = 'looking'

  /** @internal */
  constructor(name: string, id: number, context: MemberContext) {
    this.name = name
    this.id = id
    this.#context = context
    const { agenda, random } = context.settings
    this.#database = new Database(context.settings)
    this.#host = {
      name,
      settings: context.settings,
      database: this.#database,
      process: new Process(agenda, random),
      lag: 0,
      sessionIds: () => this.#sessionIds(),
      lookAgain: () => this.#look(),
      serves: () => this.#reportRole(),
    }
  }

  get role(): Role {
    const { type } = this.#state
    if (type === 'down' || type === 'standalone') return type
    if (this.#server === undefined) return 'looking'
    if (type === 'looking') return 'read-only'
    return type === 'leading' ? 'leader' : 'follower'
  }

  /** The current tree. After a snapshot it is another object. */
  get tree(): DataTree {
    return this.#database.tree
  }

  /** The transactions that its tree got after this one, in order; undefined if its log does not go back that far. */
  appliedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    return this.#database.log.appliedAfter(zxid)
  }

  /** The sessions of the ensemble that it knows, with their timeouts in ms. */
  get sessionTimeouts(): ReadonlyMap<bigint, number> {
    return this.#database.sessions
  }

  /** On a leader or a standalone server: the times at which sessions expire if they are not touched. */
  get sessionExpiry(): (readonly [number, readonly bigint[]])[] | undefined {
    return this.primary?.tracker.expiry
  }

  /** On a leader: how many followers have caught up with it. */
  get followers(): number {
    return this.#state.type === 'leading' ? this.#state.leader.followers : 0
  }

  get isFrozen(): boolean {
    return this.process.isStopped
  }

  /** Whether it serves clients. If not, it closes their connections at once. While it is down, it refuses them. */
  isServing(): boolean {
    return this.#server !== undefined
  }

  // --- clients ------------------------------------------------------------------------------------------------------

  /** Opens or resumes a session. Calls `connection.established`, or closes the connection without an answer. */
  connect(connection: Connection, request: TypeOf<typeof ConnectRequest>): void {
    if (this.#state.type === 'down') return connection.close('the member is down')
    this.process.input(() => {
      const server = this.#server
      if (server === undefined) connection.close('the member does not serve')
      else server.connect(connection, request)
    })
  }

  /** Takes requests, including pings, in the order in which the connection sent them. */
  submit(request: ServerRequest): void {
    if (this.process.isStopped) this.process.input(() => this.#server?.submit(request))
    else this.#server?.submit(request)
  }

  /** Touches the session for a request that a fault refuses in place of the server. */
  touchBy(connection: Connection): void {
    this.process.input(() => this.#server?.touchBy(connection))
  }

  /** The client, or a fault, has ended the connection. Does nothing if the connection is closed already. */
  disconnected(connection: Connection): void {
    this.process.input(() => this.#server?.disconnected(connection))
  }

  // --- faults -------------------------------------------------------------------------------------------------------

  /** Ends the process. Its disk survives. */
  kill(): void {
    if (this.#state.type === 'down') return
    this.process.die()
    this.#become({ type: 'down' })
  }

  /** Starts the process again, if it is down. */
  restart(): void {
    if (this.#state.type !== 'down') return
    const { agenda, random } = this.#context.settings
    this.#host.process = new Process(agenda, random)
    this.start()
  }

  /** Stops the process (SIGSTOP). Input waits. Other members notice it only by the silence. */
  freeze(): void {
    this.process.stop()
  }

  thaw(): void {
    this.process.continue()
  }

  /**
   * Applies later commits with this delay, in ms; Infinity means until `catchUp`. So reads are stale, and writes and `sync`
   * of its own clients are answered late. A standalone server answers everything late.
   * @throws RangeError for less than 0
   */
  lag(ms: number): void {
    if (!(ms >= 0)) throw new RangeError(`${this.name} cannot lag by ${ms} ms`)
    this.#host.lag = ms
  }

  /** Ends the lag, and applies all commits that it has received. */
  catchUp(): void {
    this.lag(0)
    this.process.input(() => {
      const state = this.#state
      if (state.type === 'standalone') state.server.catchUp()
      else if (state.type === 'leading') state.leader.server?.commits.catchUp()
      else if (state.type === 'following') state.follower.server?.commits.catchUp()
    })
  }

  /** Loses the follower's next touch (see `TouchTable.loseNext`). False if the member follows no leader. */
  loseTouch(): boolean {
    const server = this.#state.type === 'following' ? this.#state.follower.server : undefined
    server?.touches.loseNext()
    return server !== undefined
  }

  // --- called by the ensemble ---------------------------------------------------------------------------------------

  /** @internal */
  get process(): Process {
    return this.#host.process
  }

  /** The server that decides about sessions and transactions, or believes that it does. @internal */
  get primary(): PrimaryServer | undefined {
    const state = this.#state
    return state.type === 'standalone' ? state.server : state.type === 'leading' ? state.leader.server : undefined
  }

  /** @internal */
  get leading(): Leader | undefined {
    return this.#state.type === 'leading' ? this.#state.leader : undefined
  }

  /** The configuration that decides who votes. @internal */
  get config(): QuorumConfig {
    return this.#database.lastConfig ?? initialConfig(this.#context.settings.members)
  }

  /** @internal */
  get isRunning(): boolean {
    return this.#state.type !== 'down' && !this.process.isStopped
  }

  /** @internal */
  get isLooking(): boolean {
    return this.#state.type === 'looking'
  }

  /** @internal */
  get isLeading(): boolean {
    return this.#state.type === 'leading'
  }

  /** @internal */
  get follows(): string | undefined {
    return this.#state.type === 'following' ? this.#state.follower.leader : undefined
  }

  /** @internal */
  get vote(): Vote {
    return { currentEpoch: this.#database.currentEpoch, lastZxid: this.#database.log.last }
  }

  /** @internal */
  get acceptedEpoch(): number {
    return this.#database.acceptedEpoch
  }

  /** @internal */
  start(): void {
    const { settings } = this.#context
    // A single member needs no election.
    if (settings.members.length > 1) return this.#look()
    this.#database.fastForward()
    this.#become({ type: 'standalone', server: new StandaloneServer(this.#host) })
  }

  /** @internal */
  accept(epoch: number): void {
    this.#database.acceptedEpoch = epoch
  }

  /** @internal */
  lead(epoch: number): void {
    this.accept(epoch)
    this.#endReadOnly()
    this.#state = { type: 'leading', leader: new Leader(this.#host, epoch) }
  }

  /** @internal */
  follow(leader: string): void {
    this.#endReadOnly()
    const channel = this.#context.network.open(this.name, leader)
    channel.leaderEnd = this.#context.door(channel)
    this.#state = { type: 'following', follower: new Follower(this.#host, channel) }
  }

  #look(): void {
    const looking: State = { type: 'looking' }
    this.#become(looking)
    const { readOnlyMode, tickTime } = this.#context.settings
    if (readOnlyMode) this.process.at(this.process.now + tickTime, () => this.#serveReadOnly(looking))
    this.#context.election.enter(this)
  }

  /** Called if the member has found no leader for a tick (QuorumPeer.run). */
  #serveReadOnly(looking: State): void {
    if (this.#state !== looking) return
    this.#state = { type: 'looking', server: new ReadOnlyServer(this.#host) }
    this.#reportRole()
  }

  #endReadOnly(): void {
    if (this.#state.type !== 'looking') return
    this.#state.server?.shutdown('the member has found a leader')
    this.#state = { type: 'looking' }
    this.#reportRole()
  }

  #become(state: State): void {
    const old = this.#state
    this.#state = state
    // A server that has ended by itself has already reported its own reason.
    if (old.type === 'standalone') old.server.shutdown(KILLED)
    else if (old.type === 'looking') old.server?.shutdown(KILLED)
    else if (old.type === 'leading') old.leader.stop(KILLED)
    else if (old.type === 'following') old.follower.stop(KILLED)
    this.#reportRole()
  }

  get #server(): ZooKeeperServer | undefined {
    const state = this.#state
    switch (state.type) {
      case 'standalone':
        return state.server
      case 'leading':
        return state.leader.server
      case 'following':
        return state.follower.server
      case 'looking':
        return state.server
      case 'down':
        return undefined
    }
  }

  #sessionIds(): SessionIds {
    this.#ids = new SessionIds(this.id, this.#context.settings.wallNow(), this.#ids?.last)
    return this.#ids
  }

  #reportRole(): void {
    const { role } = this
    if (role === this.#reportedRole) return
    this.#reportedRole = role
    this.#context.roleChanged(this.name, role)
  }
}
