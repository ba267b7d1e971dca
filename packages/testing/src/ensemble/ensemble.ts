// ZooKeeper servers that agree on one tree, as a model in virtual time. Nothing happens outside of `Agenda.run`.
import { isQuorum, votersIn } from '../database/index.ts'
import type { Channel, End } from './channel.ts'
import { Election } from './election.ts'
import { Member, type Role } from './member.ts'
import { Network } from './network.ts'
import type { OperatorChange, OperatorResult } from './operator.ts'
import type { LearnerPacket } from './packets.ts'
import { Sessions } from './sessions.ts'
import { type EnsembleSettings, withDefaults } from './settings.ts'

export class Ensemble {
  readonly members: readonly Member[]
  readonly network: Network
  readonly sessions: Sessions
  /** Called for each change of a role. A role before it was set is not reported. */
  onRole: (member: string, role: Role) => void = () => {}

  /** A standalone server serves at once, an ensemble after it has elected a leader. */
  constructor(settings: EnsembleSettings) {
    const full = withDefaults(settings)
    const members: Member[] = []
    this.members = members
    this.network = new Network(full.members, full.agenda, full.latency)
    this.sessions = new Sessions(() => this.leader)
    const around = {
      settings: full,
      network: this.network,
      election: new Election(full, this.network, members),
      door: (channel: Channel) => door(this.member(channel.leader), channel),
      roleChanged: (member: string, role: Role) => this.onRole(member, role),
    }
    for (const [index, name] of full.members.entries()) members.push(new Member(name, index + 1, around))
    for (const member of members) member.start()
  }

  /**
   * The serving leader of the latest epoch, because a leader of an older epoch may still believe that it leads. A standalone
   * server counts as a leader.
   */
  get leader(): Member | undefined {
    let leader: Member | undefined
    for (const member of this.members) {
      if (member.primary === undefined) continue
      if (leader === undefined || (member.leading?.epoch ?? 0) > (leader.leading?.epoch ?? 0)) leader = member
    }
    return leader
  }

  /** The leader that a quorum (the leader included) follows and can reach, so its proposals will be committed. */
  get elected(): Member | undefined {
    return this.members.find((leader) => {
      if (leader.primary === undefined || !leader.isRunning) return false
      const isWith = (member: Member) =>
        member === leader || (member.isServing() && member.follows === leader.name && this.#reaches(leader, member))
      const ids = this.members.filter(isWith).map(({ id }) => id)
      return isQuorum(votersIn(leader.config), ids)
    })
  }

  /** Whether a leader has its quorum, and all running members that can reach the leader serve clients. */
  get isServing(): boolean {
    const leader = this.elected
    const isWithout = (member: Member) => member.role === 'read-only' || !member.isServing()
    return leader !== undefined && this.members.every((member) => !isWithout(member) || !this.#reaches(leader, member))
  }

  /** @throws RangeError if no member has that name */
  member(name: string): Member {
    const member = this.members.find((member) => member.name === name)
    if (member !== undefined) return member
    throw new RangeError(`no member ${name}: there are ${this.members.map(({ name }) => name).join(', ')}`)
  }

  /** Makes a change without a client, committed like any write. `done` gets the result: at once, or later. */
  operate(change: OperatorChange, done: (result: OperatorResult) => void = () => {}): void {
    const leader = this.leader
    if (leader?.primary === undefined) return done({ type: 'lost' })
    leader.process.input(() => {
      const { primary } = leader
      if (primary === undefined) done({ type: 'lost' })
      else primary.operate(change, done)
    })
  }

  #reaches(member: Member, other: Member): boolean {
    return other.isRunning && !this.network.isCut(member.name, other.name)
  }
}

/** The leader's port. When the first packet of a connection arrives, it accepts the connection if the member leads. */
function door(member: Member, channel: Channel): End<LearnerPacket> {
  return {
    get process() {
      return member.process
    },
    received(packet) {
      if (packet.type !== 'followerInfo') return
      if (member.leading === undefined) channel.closeByLeader()
      else member.leading.accept(channel, packet)
    },
    closed: () => channel.closeByLeader(),
  }
}
