// A member that leads. It proposes, commits what a quorum has acknowledged, and steps down when it has lost its quorum
// (Leader).
import { configIn, initialConfig, type QuorumConfig, writeConfig } from '../database/index.ts'
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
  /** The names of the members that have it on disk. Members that are gone count, too. */
  readonly acks: Set<string>
  /** The followers whose `sync` came after it. */
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
  readonly #quorum: number
  readonly #handlers = new Set<LearnerHandler>()
  readonly #outstanding: Proposal[] = []
  #lastCommitted: bigint
  readonly #initial

  constructor(host: Host, epoch: number) {
    const { database, process, settings } = host
    this.host = host
    this.epoch = epoch
    this.#quorum = Math.floor(settings.members.length / 2) + 1
    this.#initial = { currentEpoch: database.currentEpoch, lastZxid: database.log.last }
    // It begins with everything that it has accepted, whether or not another member has it (loadData).
    database.fastForward()
    database.currentEpoch = epoch
    this.#lastCommitted = database.log.last
    process.at(process.now + settings.initLimit * settings.tickTime, () => {
      if (this.#state.type === 'establishing') this.#stepDown()
    })
  }

  /** The server for clients; undefined while it does not serve. */
  get server(): LeaderServer | undefined {
    return this.#state.type === 'serving' ? this.#state.server : undefined
  }

  /** The followers that have caught up. */
  get followers(): number {
    return this.#count(({ isSynced }) => isSynced) - 1
  }

  /** The ids of the members that have caught up with it, and its own. */
  get syncedMembers(): ReadonlySet<number> {
    const { members } = this.host.settings
    const synced = [...this.#handlers].filter(({ isSynced }) => isSynced).map(({ member }) => member)
    return new Set([this.host.name, ...synced].map((name) => members.indexOf(name) + 1))
  }

  /** The configuration that was agreed on last. The first one is the leader's own, with the zxid of its beginning. */
  get #config(): QuorumConfig {
    const { database, settings } = this.host
    const known = configIn(database.tree)
    const config = known.servers.size === 0 ? initialConfig(settings.members) : known
    if (!settings.reconfigEnabled || config.version !== 0n) return config
    return { ...config, version: BigInt(this.epoch) << 32n }
  }

  /** A follower has connected. */
  accept(channel: Channel, info: Extract<LearnerPacket, { type: 'followerInfo' }>): void {
    // Without a quorum it may not yet make the follower drop its extra entries.
    if (this.#state.type === 'over' || (this.#state.type === 'establishing' && isAhead(info, this.#initial))) {
      return channel.closeByLeader()
    }
    const { database } = this.host
    const known = database.log.after(info.lastZxid)
    const base = known === undefined ? database.snapshot() : undefined
    const entries = known ?? database.log.unapplied()
    channel.toFollower({
      type: 'sync',
      epoch: this.epoch,
      base,
      entries,
      committed: this.#lastCommitted,
      config: this.#config,
    })
    // From here on the follower gets every proposal, also while it catches up (startForwarding).
    this.#handlers.add(new LearnerHandler(this, channel, database.log.last))
  }

  /** The process ends, or stops leading. */
  stop(reason: string): void {
    const state = this.#state
    this.#state = { type: 'over' }
    if (state.type === 'serving') state.server.shutdown(reason)
    for (const handler of this.#handlers) handler.close()
    this.#handlers.clear()
  }

  // --- called by the handlers ---------------------------------------------------------------------------------------

  /** A follower has everything up to this proposal on its disk. */
  synced(handler: LearnerHandler, zxid: bigint): void {
    if (this.#state.type === 'establishing') {
      if (this.#count(({ isSynced }) => isSynced) < this.#quorum) return
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

  /** The handler of this follower. */
  ownerOf(member: string): Owner | undefined {
    return [...this.#handlers].findLast((handler) => handler.member === member)
  }

  // --- proposals ----------------------------------------------------------------------------------------------------

  propose({ entry }: Pending): void {
    if (entry === undefined) return
    this.host.database.log.append(entry)
    this.#outstanding.push({ entry, acks: new Set([this.host.name]), syncs: [] })
    this.#send({ type: 'proposal', entry })
  }

  /** The answer comes after the proposals before it. The leader does not check whether it still leads. */
  processSync(owner: Owner): void {
    const last = this.#outstanding.at(-1)
    if (last === undefined) this.#sendSync(owner)
    else last.syncs.push(owner)
  }

  #tryToCommit(): void {
    const { server } = this
    while (server !== undefined && (this.#outstanding[0]?.acks.size ?? 0) >= this.#quorum) {
      const { entry, syncs } = this.#outstanding.shift()!
      this.#lastCommitted = entry.header.zxid
      this.#send({ type: 'commit', zxid: entry.header.zxid })
      server.commits.commit(entry)
      for (const owner of syncs) this.#sendSync(owner)
    }
  }

  #sendSync(owner: Owner): void {
    for (const handler of this.#handlers) if (handler === owner) handler.channel.toFollower({ type: 'syncDone' })
  }

  #send(packet: LeaderPacket): void {
    for (const { channel } of this.#handlers) channel.toFollower(packet)
  }

  // --- the quorum ---------------------------------------------------------------------------------------------------

  #startServing(): void {
    const { database, settings } = this.host
    const zxid = BigInt(this.epoch) << 32n
    writeConfig(database.tree, this.#config, Math.floor(settings.wallNow()))
    // This comes before any transaction of its epoch. A client that has seen it does not connect to a follower that has not.
    database.tree.lastProcessedZxid = zxid
    this.#state = { type: 'serving', server: new LeaderServer(this.host, zxid, this) }
    for (const { isSynced, channel } of this.#handlers) if (isSynced) channel.toFollower({ type: 'upToDate' })
    this.host.serves()
    this.#beat()
  }

  /** The leader's loop: a ping to each follower every half tick, and a check of the quorum every second time. */
  #beat(): void {
    const { process, settings } = this.host
    process.at(process.now + Math.floor(settings.tickTime / 2), () => {
      if (this.#state.type === 'over') return
      if (!this.#tickSkip) {
        this.tick++
        if (this.#count((handler) => handler.isInTouch(this.tick)) < this.#quorum) return this.#stepDown()
      }
      this.#tickSkip = !this.#tickSkip
      this.#send({ type: 'ping' })
      this.#beat()
    })
  }

  /** Counts members, this one included. A member that has come back may have two handlers for a while. */
  #count(counts: (handler: LearnerHandler) => boolean): number {
    const members = new Set([this.host.name])
    for (const handler of this.#handlers) if (counts(handler)) members.add(handler.member)
    return members.size
  }

  #stepDown(): void {
    this.stop('the leader is without a quorum')
    this.host.lookAgain()
  }
}
