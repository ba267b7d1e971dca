// A member that leads: it proposes transactions, commits those that a quorum has acknowledged, and steps down if it has lost
// its quorum (Leader).
import {
  configIn,
  configOf,
  initialConfig,
  isQuorum,
  type QuorumConfig,
  votersIn,
  writeConfig,
} from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { ServerRequest } from '../server/request.ts'
import type { Channel } from './channel.ts'
import type { Host } from './host.ts'
import { LeaderServer, type Quorum } from './leader-server.ts'
import { LearnerHandler } from './learner-handler.ts'
import type { LeaderPacket, LearnerPacket } from './packets.ts'
import { Pending } from './pending.ts'
import type { Owner } from './session-tracker.ts'
import { isAhead } from './vote.ts'

interface Proposal {
  readonly entry: LoggedTxn
  /** The names of the members that have it on disk, including members that are down now. */
  readonly acks: Set<string>
  /** The followers whose `sync` came after this proposal. */
  readonly syncs: Owner[]
}

type State =
  | { readonly type: 'establishing' }
  | { readonly type: 'serving'; readonly server: LeaderServer }
  | { readonly type: 'over' }

export class Leader implements Quorum {
  readonly host: Host
  readonly epoch: number
  tick = 0
  #tickSkip = true
  #state: State = { type: 'establishing' }
  /** The ids of the members whose acks count. */
  #voters: ReadonlySet<number>
  readonly #handlers = new Set<LearnerHandler>()
  readonly #outstanding: Proposal[] = []
  #lastCommitted: bigint
  readonly #initial

  constructor(host: Host, epoch: number) {
    const { database, process, settings } = host
    this.host = host
    this.epoch = epoch
    this.#initial = { currentEpoch: database.currentEpoch, lastZxid: database.log.last }
    // A leader begins with all transactions that it has accepted, even if no other member has them (loadData).
    database.fastForward()
    database.currentEpoch = epoch
    this.#voters = votersIn(database.lastConfig ?? initialConfig(settings.members))
    this.#lastCommitted = database.log.last
    process.at(process.now + settings.initLimit * settings.tickTime, () => {
      if (this.#state.type === 'establishing') this.#stepDown()
    })
  }

  /** The server for clients; undefined while the member does not serve. */
  get server(): LeaderServer | undefined {
    return this.#state.type === 'serving' ? this.#state.server : undefined
  }

  /** The number of followers that have caught up. */
  get followers(): number {
    return this.syncedMembers.size - 1
  }

  /** The ids of the leader and of the followers that have caught up. */
  get syncedMembers(): ReadonlySet<number> {
    return this.#idsOf(({ isSynced }) => isSynced)
  }

  /** The last configuration on which members agreed. The first one is the leader's own, with the first zxid of its epoch. */
  get #config(): QuorumConfig {
    const { database, settings } = this.host
    const known = configIn(database.tree)
    const config = known.servers.size === 0 ? initialConfig(settings.members) : known
    if (!settings.reconfigEnabled || config.version !== 0n) return config
    return { ...config, version: BigInt(this.epoch) << 32n }
  }

  /** A follower has connected. */
  accept(channel: Channel, info: Extract<LearnerPacket, { type: 'followerInfo' }>): void {
    // Before it has a quorum, the leader may not make the follower drop entries that the leader lacks.
    if (this.#state.type === 'over' || (this.#state.type === 'establishing' && isAhead(info, this.#initial))) {
      return channel.closeByLeader()
    }
    const { database } = this.host
    const known = database.log.after(info.lastZxid)
    const base = known === undefined ? database.snapshot() : undefined
    const entries = known ?? database.log.unapplied()
    channel.toFollower({
      type: 'newLeader',
      epoch: this.epoch,
      base,
      entries,
      committed: this.#lastCommitted,
      config: this.#config,
    })
    // From here on the follower gets every proposal, even while it catches up (startForwarding).
    this.#handlers.add(new LearnerHandler(this, channel, database.log.last))
  }

  /** The process ends, or the member stops leading. */
  stop(reason: string): void {
    const state = this.#state
    this.#state = { type: 'over' }
    if (state.type === 'serving') state.server.shutdown(reason)
    for (const handler of this.#handlers) handler.close()
    this.#handlers.clear()
  }

  // --- called by the handlers ---------------------------------------------------------------------------------------

  /** A follower has all transactions up to this one on its disk. */
  synced(handler: LearnerHandler, zxid: bigint): void {
    if (this.#state.type === 'establishing') {
      if (!isQuorum(this.#voters, this.syncedMembers)) return
      this.#startServing()
    } else handler.channel.toFollower({ type: 'upToDate' })
    for (const { entry, acks } of this.#outstanding) if (entry.header.zxid <= zxid) acks.add(handler.member)
    this.#tryToCommit()
  }

  processAck(member: string, zxid: bigint): void {
    if (zxid <= this.#lastCommitted) return
    // Acks come in order, so the proposal is among the oldest.
    this.#outstanding.find(({ entry }) => entry.header.zxid === zxid)?.acks.add(member)
    this.#tryToCommit()
  }

  submitLearnerRequest(request: ServerRequest, owner: Owner): void {
    this.server?.process(new Pending(request, owner))
  }

  revalidate(sessionId: bigint, timeOut: number, owner: Owner): boolean {
    const tracker = this.server?.tracker
    return tracker !== undefined && tracker.touch(sessionId, timeOut) && tracker.setOwner(sessionId, owner)
  }

  touch(sessionId: bigint, timeOut: number): void {
    this.server?.tracker.touch(sessionId, timeOut)
  }

  removed(handler: LearnerHandler): void {
    this.#handlers.delete(handler)
  }

  /** The handler of this follower, which is the owner of its sessions. */
  handlerOf(member: string): LearnerHandler | undefined {
    return [...this.#handlers].findLast((handler) => handler.member === member)
  }

  // --- proposals ----------------------------------------------------------------------------------------------------

  propose({ entry }: Pending): void {
    if (entry === undefined) return
    this.host.database.log.append(entry)
    this.#outstanding.push({ entry, acks: new Set([this.host.name]), syncs: [] })
    this.#send({ type: 'proposal', entry })
  }

  /** Answers a `sync` after all earlier proposals are committed. The leader does not check whether it still leads. */
  processSync(owner: Owner): void {
    const last = this.#outstanding.at(-1)
    if (last === undefined) this.#sendSync(owner)
    else last.syncs.push(owner)
  }

  #tryToCommit(): void {
    const { server } = this
    while (server !== undefined && this.#isAcknowledged(this.#outstanding[0])) {
      const { entry, syncs } = this.#outstanding.shift()!
      this.#lastCommitted = entry.header.zxid
      this.#send({ type: 'commit', zxid: entry.header.zxid })
      server.commits.commit(entry)
      for (const owner of syncs) this.#sendSync(owner)
      const config = configOf(entry.txn)
      if (config !== undefined) this.#reconfigured(config)
    }
  }

  /** A reconfiguration needs a quorum of the old voters and one of the new. */
  #isAcknowledged(proposal: Proposal | undefined): boolean {
    if (proposal === undefined) return false
    const config = configOf(proposal.entry.txn)
    const acks = [...proposal.acks].map((name) => this.#idOf(name))
    return isQuorum(this.#voters, acks) && (config === undefined || isQuorum(votersIn(config), acks))
  }

  /** A leader that has no vote any more steps down, after it has answered. */
  #reconfigured(config: QuorumConfig): void {
    this.#voters = votersIn(config)
    const { process, name } = this.host
    if (this.#voters.has(this.#idOf(name))) return
    process.at(process.now, () => {
      if (this.#state.type === 'serving') this.#stepDown('the leader has no vote any more')
    })
  }

  #sendSync(owner: Owner): void {
    for (const handler of this.#handlers) if (handler === owner) handler.channel.toFollower({ type: 'syncAnswered' })
  }

  #send(packet: LeaderPacket): void {
    for (const { channel } of this.#handlers) channel.toFollower(packet)
  }

  // --- the quorum ---------------------------------------------------------------------------------------------------

  #startServing(): void {
    const { database, settings } = this.host
    const zxid = BigInt(this.epoch) << 32n
    writeConfig(database.tree, this.#config, Math.floor(settings.wallNow()))
    // This zxid is before any transaction of the epoch. A client that has seen it cannot connect to a follower that has not.
    database.tree.lastProcessedZxid = zxid
    this.#state = { type: 'serving', server: new LeaderServer(this.host, zxid, this) }
    for (const { isSynced, channel } of this.#handlers) if (isSynced) channel.toFollower({ type: 'upToDate' })
    this.host.serves()
    this.#beat()
  }

  /** The loop of the leader: a ping to each follower every half tick, and a check of the quorum every second time. */
  #beat(): void {
    const { process, settings } = this.host
    process.at(process.now + Math.floor(settings.tickTime / 2), () => {
      if (this.#state.type === 'over') return
      if (!this.#tickSkip) {
        this.tick++
        if (
          !isQuorum(
            this.#voters,
            this.#idsOf((handler) => handler.isInTouch(this.tick)),
          )
        )
          return this.#stepDown()
      }
      this.#tickSkip = !this.#tickSkip
      this.#send({ type: 'ping' })
      this.#beat()
    })
  }

  /** The ids of this member and of those that count. A member that has come back may have two handlers for a while. */
  #idsOf(counts: (handler: LearnerHandler) => boolean): ReadonlySet<number> {
    const members = [...this.#handlers].filter(counts).map(({ member }) => member)
    return new Set([this.host.name, ...members].map((name) => this.#idOf(name)))
  }

  #idOf(member: string): number {
    return this.host.settings.members.indexOf(member) + 1
  }

  #stepDown(reason = 'the leader is without a quorum'): void {
    this.stop(reason)
    this.host.lookAgain()
  }
}
