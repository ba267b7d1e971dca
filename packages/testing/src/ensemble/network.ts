// The links between members: how long they take, and which are cut.
import type { Agenda } from './agenda.ts'
import { Channel, type Wire } from './channel.ts'
import type { Latency } from './settings.ts'

export class Network {
  /** How long messages take from now on, in ms. None overtakes another of its connection. */
  latency: Latency
  readonly #names: readonly string[]
  /** From which member to which no message passes. */
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
   * No message passes between members of different groups; a member in none is alone. Replaces every cut there was. What is
   * sent waits, as TCP would repeat it, and arrives after `heal` if its connection still stands.
   * @throws RangeError for a member that there is not
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

  /** As `partition`, between these two only. */
  cut(a: string, b: string): void {
    this.#checkPair(a, b)
    this.#cut(a, b)
  }

  /** As `cut`, for messages one way only. What is sent the other way arrives. */
  stall(from: string, to: string): void {
    this.#checkPair(from, to)
    this.#cuts.add(way(from, to))
  }

  /** Messages pass this way again; the other way is as it was. */
  resume(from: string, to: string): void {
    this.#checkPair(from, to)
    this.#cuts.delete(way(from, to))
    this.#resume()
  }

  /** Between two members, of one member with all others, or, without names, between all. */
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

  /** Whether messages wait, if only one way: there is no answer to a message then. */
  isCut(a: string, b: string): boolean {
    return this.isStalled(a, b) || this.isStalled(b, a)
  }

  /** A new connection; with a cut link what is sent on it waits. @internal */
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

/** No name has a line break in it. */
const way = (from: string, to: string) => `${from}\n${to}`
