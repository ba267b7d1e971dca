// A member that follows a leader. It catches up, and then serves until the leader has been silent for too long (Follower,
// Learner).
import { configIn, writeConfig } from '../database/index.ts'
import type { Cancel } from './agenda.ts'
import type { Channel, End } from './channel.ts'
import { FollowerServer } from './follower-server.ts'
import type { Host } from './host.ts'
import type { LeaderPacket, NewLeader } from './packets.ts'
import type { Process } from './process.ts'

type State =
  | { readonly type: 'connecting' }
  | { readonly type: 'syncing' | 'serving'; readonly server: FollowerServer }
  | { readonly type: 'over' }

export class Follower implements End<LeaderPacket> {
  readonly leader: string
  readonly process: Process
  readonly #host: Host
  readonly #channel: Channel
  #state: State = { type: 'connecting' }
  #receivedAt: number
  #silence: Cancel | undefined

  constructor(host: Host, channel: Channel) {
    const { database, process } = host
    this.leader = channel.leader
    this.process = process
    this.#host = host
    this.#channel = channel
    this.#receivedAt = process.now
    channel.followerEnd = this
    const { currentEpoch, log } = database
    channel.toLeader({ type: 'followerInfo', member: host.name, currentEpoch, lastZxid: log.last })
    this.#awaitSilence()
  }

  /** The server for clients; undefined while the member does not serve. */
  get server(): FollowerServer | undefined {
    return this.#state.type === 'serving' ? this.#state.server : undefined
  }

  received(packet: LeaderPacket): void {
    this.#receivedAt = this.process.now
    if (packet.type === 'newLeader') return this.#sync(packet)
    const state = this.#state
    if (state.type !== 'syncing' && state.type !== 'serving') return
    const { server } = state
    switch (packet.type) {
      case 'upToDate':
        this.#state = { type: 'serving', server }
        return this.#host.serves()
      case 'proposal':
        server.logged(packet.entry)
        return this.#channel.toLeader({ type: 'ack', zxid: packet.entry.header.zxid })
      case 'commit':
        return server.committed(packet.zxid)
      case 'syncAnswered':
        return server.synced()
      case 'revalidated':
        return server.revalidated(packet.sessionId, packet.isValid)
      case 'ping':
        // This is the only way in which the leader learns of touches on this member.
        return this.#channel.toLeader({ type: 'ping', touched: server.touches.snapshot() })
    }
  }

  closed(): void {
    this.#leave('the member has lost its leader')
  }

  /** The member stops following, or its process ends. */
  stop(reason: string): void {
    const state = this.#state
    if (state.type === 'over') return
    this.#state = { type: 'over' }
    if (state.type !== 'connecting') state.server.shutdown(reason)
    this.#channel.closeByFollower()
  }

  #sync({ epoch, base, entries, committed, config }: NewLeader): void {
    const { database, settings } = this.#host
    // Since it connected, the member has accepted the epoch of a later leader.
    if (epoch < database.acceptedEpoch) return this.#leave('its leader is of an older epoch')
    if (base !== undefined) database.restore(base)
    database.acceptedEpoch = epoch
    for (const entry of entries) database.log.append(entry)
    // Later entries are not applied yet: they may never be committed.
    database.fastForward(committed)
    database.currentEpoch = epoch
    const own = configIn(database.tree)
    const latest = own.version > config.version ? own : config
    writeConfig(database.tree, latest, Math.floor(settings.wallNow()))
    const server = new FollowerServer(this.#host, (packet) => this.#channel.toLeader(packet))
    this.#state = { type: 'syncing', server }
    this.#awaitSilence()
    this.#channel.toLeader({ type: 'ackNewLeader' })
  }

  #leave(reason: string): void {
    if (this.#state.type === 'over') return
    this.stop(reason)
    this.#host.lookAgain()
  }

  /** The timeout of the socket: first for catching up, later for any message of the leader. */
  #awaitSilence(): void {
    if (this.#state.type === 'over') return
    this.#silence?.cancel()
    const { initLimit, syncLimit, tickTime } = this.#host.settings
    const due = this.#receivedAt + tickTime * (this.#state.type === 'connecting' ? initLimit : syncLimit)
    if (due <= this.process.now) return this.#leave('the member has received nothing from its leader for syncLimit')
    this.#silence = this.process.at(due, () => this.#awaitSilence())
  }
}
