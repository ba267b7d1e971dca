import type { EnsembleModel, Link as ServerLink, Output } from '@zk/testing'
import type { Link, Peer, VirtualWorld } from './outside.ts'
import { piecesOf } from './pieces.ts'

/** One connection of a client. */
interface Line {
  readonly link: Link
  /** When the last frame arrives at the client: none overtakes it. */
  arrivesAt: number
  /** How many wait for a timer. */
  waiting: number
}

const CLIENT = { address: '10.0.0.1' }

/**
 * Has an ensemble live in a virtual world: its clock, and all that is under way from and to its clients, frame by frame. Tests act
 * just before the n-th frame: the links of @zk/testing carry bytes and know of no frames.
 */
export class Network {
  /** How long a frame from a server is under way, in ms. Those of clients arrive at once: so long is a round trip. */
  latency: () => number = () => 0
  readonly #world: VirtualWorld
  readonly #ensemble: EnsembleModel
  readonly #lines = new Map<ServerLink, Line>()
  /** By the number of a frame, what happens before it arrives. */
  readonly #actions = new Map<number, () => void>()
  #frames = 0
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  constructor(world: VirtualWorld, ensemble: EnsembleModel) {
    this.#world = world
    this.#ensemble = ensemble
    for (const member of ensemble.members) {
      member.address = `${member.name}:2181`
      world.listen(member.address, { dialed: (link) => this.#dialed(member.name, link) })
    }
    ensemble.onWake = () => this.#elapse()
    this.#elapse()
  }

  /** Calls `act` just before the n-th frame from now, at least 1, arrives: all before it have been dealt with. */
  before(n: number, act: () => void): void {
    this.#actions.set(this.#frames + n, act)
  }

  /** Takes back every `before`. */
  calm(): void {
    this.#actions.clear()
  }

  // --- from clients -----------------------------------------------------------------------------------------------

  #dialed(member: string, link: Link): void {
    const server = this.#ensemble.accept(member, CLIENT, this.#world.now())
    if (server === undefined) return link.lose(new Error(`connect ECONNREFUSED ${member}:2181`))
    this.#lines.set(server, { link, arrivesAt: 0, waiting: 0 })
    link.open(this.#peer(server))
  }

  #peer(server: ServerLink): Peer {
    const ensemble = this.#ensemble
    return {
      received: (segment) => {
        for (const piece of piecesOf(segment)) {
          this.#send(() => this.#perform(ensemble.received(server, piece, this.#world.now())))
        }
      },
      // Behind what was sent before.
      closed: () => {
        this.#lines.delete(server)
        this.#world.arrive(() => this.#perform(ensemble.closed(server, this.#world.now())))
      },
    }
  }

  // --- from servers -----------------------------------------------------------------------------------------------

  #elapse(): void {
    this.#perform(this.#ensemble.elapse(this.#world.now()))
  }

  #perform(outputs: readonly Output[]): void {
    for (const output of outputs) {
      const line = this.#lines.get(output.link)
      if (line === undefined) continue
      const { link } = line
      if (output.type === 'send') {
        for (const piece of piecesOf(output.bytes)) this.#deliver(line, () => link.deliver(piece))
        continue
      }
      this.#lines.delete(output.link)
      // A reset comes at once: what is under way is lost.
      if (output.how === 'reset') link.lose(new Error('read ECONNRESET'))
      else this.#deliver(line, () => link.lose(new Error('the server closed the connection')))
    }
    this.#arm()
  }

  #arm(): void {
    const at = this.#ensemble.deadline()
    if (this.#timer?.at === at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Infinity) return
    const cancel = this.#world.elsewhere(Math.ceil(at - this.#world.now()), () => {
      this.#timer = undefined
      this.#elapse()
    })
    this.#timer = { at, cancel }
  }

  // --- under way --------------------------------------------------------------------------------------------------

  #deliver(line: Line, arrive: () => void): void {
    line.arrivesAt = Math.max(line.arrivesAt, this.#world.now() + this.latency())
    this.#send(arrive, line.arrivesAt, line)
  }

  /** Sends a frame: `arrive` is what happens when it arrives, at `at` or now. */
  #send(arrive: () => void, at = this.#world.now(), line?: Line): void {
    const frame = ++this.#frames
    const go = () => {
      const action = this.#actions.get(frame)
      this.#actions.delete(frame)
      if (action !== undefined) this.#world.arrive(action)
      this.#world.elsewhere(0, arrive)
    }
    // One that is due now goes behind those that are due now, too, and still wait for their timer.
    if (at <= this.#world.now() && (line?.waiting ?? 0) === 0) return go()
    if (line !== undefined) line.waiting++
    this.#world.setTimer(at - this.#world.now(), () => {
      if (line !== undefined) line.waiting--
      go()
    })
  }
}
