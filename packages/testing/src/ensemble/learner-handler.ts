// The leader's end of the connection of one follower (LearnerHandler).
import type { Cancel } from './agenda.ts'
import type { Channel, End } from './channel.ts'
import type { Host } from './host.ts'
import type { ServerRequest } from '../server/request.ts'
import type { LearnerPacket } from './packets.ts'
import type { Process } from './process.ts'
import type { Owner } from './session-tracker.ts'

type State =
  /** `sent` is the zxid of the leader's last proposal that the follower was sent. */
  { readonly type: 'syncing'; readonly sent: bigint } | { readonly type: 'synced' } | { readonly type: 'closed' }

/** What a handler needs from its leader. */
interface LeaderOfHandler {
  readonly host: Host
  readonly tick: number
  synced(handler: LearnerHandler, zxid: bigint): void
  processAck(member: string, zxid: bigint): void
  submitLearnerRequest(request: ServerRequest, owner: Owner): void
  revalidate(sessionId: bigint, timeOut: number, owner: Owner): boolean
  touch(sessionId: bigint, timeOut: number): void
  removed(handler: LearnerHandler): void
}

export class LearnerHandler implements End<LearnerPacket>, Owner {
  readonly member: string
  readonly process: Process
  readonly channel: Channel
  readonly #leader: LeaderOfHandler
  #state: State
  #receivedAt: number
  /** The last tick of the leader up to which the follower counts if it sends no further message. */
  #deadline: number
  #silence: Cancel | undefined

  constructor(leader: LeaderOfHandler, channel: Channel, sent: bigint) {
    const { initLimit, syncLimit } = leader.host.settings
    this.member = channel.follower
    this.process = leader.host.process
    this.channel = channel
    this.#leader = leader
    this.#state = { type: 'syncing', sent }
    this.#receivedAt = this.process.now
    this.#deadline = leader.tick + initLimit + syncLimit
    channel.leaderEnd = this
    this.#awaitSilence()
  }

  get isSynced(): boolean {
    return this.#state.type === 'synced'
  }

  /** Whether the follower counts for the leader's quorum. This depends on ticks of the leader's loop, not on time. */
  isInTouch(tick: number): boolean {
    return this.#state.type !== 'closed' && tick <= this.#deadline
  }

  received(packet: LearnerPacket): void {
    const leader = this.#leader
    this.#receivedAt = this.process.now
    this.#deadline = leader.tick + leader.host.settings.syncLimit
    switch (packet.type) {
      case 'followerInfo':
        return
      case 'ackNewLeader': {
        if (this.#state.type !== 'syncing') return
        const { sent } = this.#state
        this.#state = { type: 'synced' }
        this.#awaitSilence()
        return leader.synced(this, sent)
      }
      case 'ack':
        return leader.processAck(this.member, packet.zxid)
      case 'request':
        return leader.submitLearnerRequest(packet.request, this)
      case 'revalidate': {
        const { sessionId, timeOut } = packet
        const isValid = leader.revalidate(sessionId, timeOut, this)
        return this.channel.toFollower({ type: 'revalidated', sessionId, isValid })
      }
      case 'ping':
        for (const [sessionId, timeOut] of packet.touched) leader.touch(sessionId, timeOut)
    }
  }

  closed(): void {
    this.close()
    this.#leader.removed(this)
  }

  close(): void {
    this.#state = { type: 'closed' }
    this.channel.closeByLeader()
  }

  /** The timeout of the socket. The leader also counts ticks: see `isInTouch`. */
  #awaitSilence(): void {
    if (this.#state.type === 'closed') return
    this.#silence?.cancel()
    const { initLimit, syncLimit, tickTime } = this.#leader.host.settings
    const due = this.#receivedAt + tickTime * (this.#state.type === 'syncing' ? initLimit : syncLimit)
    if (due <= this.process.now) return this.closed()
    this.#silence = this.process.at(due, () => this.#awaitSilence())
  }
}
