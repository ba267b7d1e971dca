// Elects the leader. Candidates are members that can reach each other and follow no leader; the most recent state wins
// (FastLeaderElection).
import type { Process } from './process.ts'
import type { Network } from './network.ts'
import type { Settings } from './settings.ts'
import { isAhead, type Vote } from './vote.ts'

/** The shortest pause after an attempt without a leader, in ms. With 0, attempts would repeat at one instant forever. */
const LEAST_PAUSE = 1

/** What an election needs from a member. */
interface Voter {
  readonly id: number
  readonly name: string
  readonly process: Process
  readonly vote: Vote
  readonly acceptedEpoch: number
  readonly isRunning: boolean
  readonly isLooking: boolean
  readonly isLeading: boolean
  /** The leader that the member follows. */
  readonly follows: string | undefined
  follow(leader: string): void
  lead(epoch: number): void
  accept(epoch: number): void
}

export class Election {
  readonly #settings: Settings
  readonly #network: Network
  readonly #members: readonly Voter[]
  readonly #quorum: number

  constructor(settings: Settings, network: Network, members: readonly Voter[]) {
    this.#settings = settings
    this.#network = network
    this.#members = members
    this.#quorum = Math.floor(settings.members.length / 2) + 1
  }

  /** The member looks for a leader: it finds one, becomes the leader, or tries again later. */
  enter(member: Voter): void {
    this.#lookAfter(member, this.#settings.electionTime())
  }

  #lookAfter(member: Voter, delay: number): void {
    const { process } = member
    process.at(process.now + delay, () => {
      // Another member's attempt may already have found a leader for this one, too.
      if (member.process !== process || !member.isLooking) return
      const leader = this.#established(member)
      if (leader !== undefined) member.follow(leader)
      else if (!this.#elect(member)) this.#lookAfter(member, Math.max(LEAST_PAUSE, this.#settings.electionTime()))
    })
  }

  /** The leader that a quorum follows, this member included. The member must reach that quorum and the leader. */
  #established(member: Voter): string | undefined {
    const others = this.#members.filter((other) => this.#reaches(member, other))
    const leader = others.find(
      (leader) =>
        leader.isLeading && others.filter((other) => other.follows === leader.name).length + 1 >= this.#quorum,
    )
    return leader?.name
  }

  #elect(member: Voter): boolean {
    const voters = this.#members.filter(
      (other) => other === member || (other.isLooking && this.#reaches(member, other)),
    )
    if (voters.length < this.#quorum) return false
    // If two members have the same state, the larger id wins.
    const best = voters.toSorted((a, b) => (isAhead(a.vote, b.vote) ? -1 : isAhead(b.vote, a.vote) ? 1 : b.id - a.id))
    for (const leader of best) {
      const followers = voters.filter(
        (voter) => voter !== leader && !isAhead(voter.vote, leader.vote) && this.#reaches(leader, voter),
      )
      if (followers.length + 1 < this.#quorum) continue
      const epoch = 1 + Math.max(leader.acceptedEpoch, ...followers.map(({ acceptedEpoch }) => acceptedEpoch))
      leader.lead(epoch)
      for (const follower of followers) {
        // A quorum has now accepted the epoch, so it accepts no earlier one.
        follower.accept(epoch)
        follower.follow(leader.name)
      }
      return true
    }
    return false
  }

  #reaches(member: Voter, other: Voter): boolean {
    return other !== member && other.isRunning && !this.#network.isCut(member.name, other.name)
  }
}
