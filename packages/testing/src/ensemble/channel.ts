// One TCP connection between a follower and its leader. Messages arrive in order. On a stalled link they wait.
import type { LeaderPacket, LearnerPacket } from './packets.ts'
import type { Process } from './process.ts'

/** The network between the two ends of a pipe. */
export interface Wire {
  readonly now: number
  at(time: number, action: () => void): void
  delay(from: string, to: string): number
  isStalled(from: string, to: string): boolean
}

/** One end of a connection, with the process that reads from it. */
export interface End<Packet> {
  readonly process: Process
  received(packet: Packet): void
  /** The other side has closed the connection, or has died. */
  closed(): void
}

const FIN = Symbol('FIN')

/** What a pipe carries, in order: a packet, the end of the connection, or a function to call when everything before it has arrived. */
type Sent<Packet> = Packet | typeof FIN | (() => void)

/** One direction of a connection. */
class Pipe<Packet extends object> {
  end: End<Packet> | undefined
  readonly #wire: Wire
  readonly #from: string
  readonly #to: string
  #sent: Sent<Packet>[] = []
  #dueTimes: number[] = []
  #first = 0
  #lastDue = 0
  #isScheduled = false
  readonly #arrive = () => this.#arrived()

  constructor(wire: Wire, from: string, to: string) {
    this.#wire = wire
    this.#from = from
    this.#to = to
  }

  get isEmpty(): boolean {
    return this.#sent.length === 0
  }

  send(packet: Sent<Packet>): void {
    this.#lastDue = Math.max(this.#lastDue, this.#wire.now + this.#wire.delay(this.#from, this.#to))
    this.#sent.push(packet)
    this.#dueTimes.push(this.#lastDue)
    this.#schedule()
  }

  /** The link works again: the packets that have waited are sent again. */
  resume(): void {
    if (this.#isScheduled || this.#first === this.#sent.length) return
    const due = this.#wire.now + this.#wire.delay(this.#from, this.#to)
    for (let i = this.#first; i < this.#dueTimes.length; i++) this.#dueTimes[i] = Math.max(this.#dueTimes[i]!, due)
    this.#lastDue = this.#dueTimes.at(-1)!
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#first === this.#sent.length || this.#wire.isStalled(this.#from, this.#to)) return
    this.#isScheduled = true
    this.#wire.at(this.#dueTimes[this.#first]!, this.#arrive)
  }

  #arrived(): void {
    this.#isScheduled = false
    if (this.#wire.isStalled(this.#from, this.#to)) return
    const packet = this.#sent[this.#first++]!
    if (this.#first === this.#sent.length) {
      this.#sent = []
      this.#dueTimes = []
      this.#first = 0
    }
    this.#schedule()
    const { end } = this
    if (end === undefined) return
    // A stopped process reads the packet when it continues.
    if (end.process.isStopped) end.process.input(() => this.#deliver(packet))
    else this.#deliver(packet)
  }

  #deliver(packet: Sent<Packet>): void {
    if (packet === FIN) this.end?.closed()
    else if (typeof packet === 'function') packet()
    else this.end?.received(packet)
  }
}

export class Channel {
  readonly follower: string
  readonly leader: string
  readonly #toLeader: Pipe<LearnerPacket>
  readonly #toFollower: Pipe<LeaderPacket>
  readonly #gone: () => void
  #open = 2

  /** `gone` is called when both sides have closed the connection. */
  constructor(wire: Wire, follower: string, leader: string, gone: (channel: Channel) => void) {
    this.follower = follower
    this.leader = leader
    this.#toLeader = new Pipe(wire, follower, leader)
    this.#toFollower = new Pipe(wire, leader, follower)
    this.#gone = () => gone(this)
  }

  set leaderEnd(end: End<LearnerPacket>) {
    this.#toLeader.end = end
  }

  set followerEnd(end: End<LeaderPacket>) {
    this.#toFollower.end = end
  }

  toLeader(packet: LearnerPacket): void {
    this.#toLeader.send(packet)
  }

  /** Calls `action` when the leader has received everything that the follower has sent: at once if nothing is under way. */
  behindFollower(action: () => void): void {
    if (this.#toLeader.isEmpty) action()
    else this.#toLeader.send(action)
  }

  toFollower(packet: LeaderPacket): void {
    this.#toFollower.send(packet)
  }

  /** The leader's side stops reading. The follower's side notices this after it has received everything that was sent. */
  closeByLeader(): void {
    if (this.#toLeader.end === undefined) return
    this.#toLeader.end = undefined
    this.#toFollower.send(FIN)
    this.#closed()
  }

  closeByFollower(): void {
    if (this.#toFollower.end === undefined) return
    this.#toFollower.end = undefined
    this.#toLeader.send(FIN)
    this.#closed()
  }

  resume(): void {
    this.#toLeader.resume()
    this.#toFollower.resume()
  }

  #closed(): void {
    if (--this.#open === 0) this.#gone()
  }
}
