// The links between members: how long messages take, and which links are cut.
import type { Agenda } from './agenda.ts'
import { Channel, type Wire } from './channel.ts'
import type { Latency } from './settings.ts'

export class Network {
  /** Returns how long a message takes, in ms. Messages of one connection keep their order. */
  latency: Latency
  readonly #names: readonly string[]
  /** The pairs (from, to) between which no message passes. */
  readonly #cuts = new Set<string>()
  readonly #channels = new Set<Channel>()
  readonly #wire: Wire

  constructor(names: readonly string[], agenda: Agenda, latency: Latency) {
    this.#names = names
    this.latency = latency
    this.#wire = {
      get now() {
        return agenda.now
      },
      at: (time, action) => agenda.at(time, action),
      delay: (from, to) => this.latency(from, to),
      isStalled: (from, to) => this.isStalled(from, to),
    }
  }

  /**
   * Lets no message pass between members of different groups. A member that is in no group is alone. This replaces all
   * earlier cuts. Messages wait, because TCP would repeat them, and arrive after `heal` if their connection is still open.
   * @throws RangeError for a member that does not exist
   */
  partition(...groups: readonly (readonly string[])[]): void {
    for (const name of groups.flat()) this.#check(name)
    this.#cuts.clear()
    for (const [index, a] of this.#names.entries()) {
      for (const b of this.#names.slice(index + 1)) {
        if (!groups.some((group) => group.includes(a) && group.includes(b))) this.#cut(a, b)
      }
    }
    this.#resume()
  }

  /** Lets no message pass between these two, as after `partition`. */
  cut(a: string, b: string): void {
    this.#checkPair(a, b)
    this.#cut(a, b)
  }

  /** Does the same as `cut`, but in one direction only. */
  stall(from: string, to: string): void {
    this.#checkPair(from, to)
    this.#cuts.add(way(from, to))
  }

  /** Lets messages pass in this direction again. The other direction does not change. */
  resume(from: string, to: string): void {
    this.#checkPair(from, to)
    this.#cuts.delete(way(from, to))
    this.#resume()
  }

  /** Heals the link of two members, all links of one member, or, without arguments, all links. */
  heal(a?: string, b?: string): void {
    if (a !== undefined) this.#check(a)
    if (b !== undefined) this.#check(b)
    for (const name of this.#names) {
      for (const other of this.#names) {
        if ((a === undefined || name === a) && (b === undefined || other === b)) {
          this.#cuts.delete(way(name, other))
          this.#cuts.delete(way(other, name))
        }
      }
    }
    this.#resume()
  }

  /** Whether messages from one to the other wait. */
  isStalled(from: string, to: string): boolean {
    return this.#cuts.size > 0 && this.#cuts.has(way(from, to))
  }

  /** Whether messages wait in at least one direction. Then no request between the two gets an answer. */
  isCut(a: string, b: string): boolean {
    return this.isStalled(a, b) || this.isStalled(b, a)
  }

  /** Opens a connection. If the link is cut, its messages wait. @internal */
  open(follower: string, leader: string): Channel {
    const channel = new Channel(this.#wire, follower, leader, (gone) => this.#channels.delete(gone))
    this.#channels.add(channel)
    return channel
  }

  #resume(): void {
    for (const channel of this.#channels) channel.resume()
  }

  #cut(a: string, b: string): void {
    this.#cuts.add(way(a, b))
    this.#cuts.add(way(b, a))
  }

  #checkPair(a: string, b: string): void {
    this.#check(a)
    this.#check(b)
    if (a === b) throw new RangeError(`${a} is always in touch with itself`)
  }

  #check(name: string): void {
    if (!this.#names.includes(name)) throw new RangeError(`no member ${name}: there are ${this.#names.join(', ')}`)
  }
}

/** The key of a pair. It is unique, because no name contains a line break. */
const way = (from: string, to: string) => `${from}\n${to}`
