// Elects the leader. Candidates are members that can reach each other and follow no leader; the most recent state wins
// (FastLeaderElection).
import { isQuorum, type QuorumConfig, votersIn } from '../database/index.ts'
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
  readonly config: QuorumConfig
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

  constructor(settings: Settings, network: Network, members: readonly Voter[]) {
    this.#settings = settings
    this.#network = network
    this.#members = members
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

  /** The leader that a quorum follows, the leader included. The member must reach all of them. */
  #established(member: Voter): string | undefined {
    const others = this.#members.filter((other) => this.#reaches(member, other))
    const voters = newestVoters([member, ...others])
    const leader = others.find((leader) => {
      const followers = others.filter((other) => other.follows === leader.name)
      return leader.isLeading && isQuorum(voters, idsOf([leader, ...followers]))
    })
    return leader?.name
  }

  /** Members that do not vote wait for the leader of the others. */
  #elect(member: Voter): boolean {
    const looking = this.#members.filter(
      (other) => other === member || (other.isLooking && this.#reaches(member, other)),
    )
    const ids = newestVoters(looking)
    const voters = looking.filter(({ id }) => ids.has(id))
    if (!voters.includes(member) || !isQuorum(ids, idsOf(voters))) return false
    // If two members have the same state, the larger id wins.
    const best = voters.toSorted((a, b) => (isAhead(a.vote, b.vote) ? -1 : isAhead(b.vote, a.vote) ? 1 : b.id - a.id))
    for (const leader of best) {
      const followers = voters.filter(
        (voter) => voter !== leader && !isAhead(voter.vote, leader.vote) && this.#reaches(leader, voter),
      )
      if (!isQuorum(ids, idsOf([leader, ...followers]))) continue
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

/** The voters of the newest configuration that one of these members knows. */
function newestVoters(members: readonly Voter[]): ReadonlySet<number> {
  const configs = members.map(({ config }) => config)
  return votersIn(configs.reduce((newest, config) => (config.version > newest.version ? config : newest)))
}

const idsOf = (members: readonly Voter[]): readonly number[] => members.map(({ id }) => id)
