import { checkMember, show } from '../connection/fault.ts'
import type { Network } from '../ensemble/index.ts'
import { asFunction } from '../options.ts'
import type { Control } from './control.ts'

/** A member, or its name. */
export type MemberLike = string | { readonly name: string }

/** The links between members, not those of clients. A message on a cut link waits, because TCP would repeat it. */
export class TestNetwork {
  readonly #network: Network
  readonly #members: readonly string[]
  readonly #control: Control

  /** @internal */
  constructor(network: Network, members: readonly string[], control: Control) {
    this.#network = network
    this.#members = members
    this.#control = control
  }

  /**
   * Undoes all earlier cuts. Then no message passes between members of different groups. A member that is in no group is alone.
   *
   *     ensemble.network.partition(['zk1'], ['zk2', 'zk3'])
   */
  partition(...groups: readonly (readonly MemberLike[])[]): void {
    const odd = groups.findIndex((group) => !Array.isArray(group))
    if (odd !== -1) throw new TypeError(`partition: a group is a list such as ['zk1'], not ${show(groups[odd])}`)
    const names = groups.map((group) => group.map((member) => this.#nameOf(member)))
    const all = names.flat()
    const double = all.find((name, index) => all.indexOf(name) !== index)
    if (double !== undefined) throw new RangeError(`partition: ${double} cannot be in two groups`)
    const text = names.map((group) => `[${group.join(', ')}]`).join(', ')
    this.#control(`network.partition(${text})`, () => this.#network.partition(...names))
  }

  /** Lets no message pass between this member and any other. Other cuts stay. */
  isolate(member: MemberLike): void {
    const name = this.#nameOf(member)
    this.#control(`network.isolate(${name})`, () => {
      for (const other of this.#members) if (other !== name) this.#network.cut(name, other)
    })
  }

  /** Lets no message pass between these two members. */
  cut(a: MemberLike, b: MemberLike): void {
    const [one, other] = this.#pair(a, b)
    this.#control(`network.cut(${one}, ${other})`, () => this.#network.cut(one, other))
  }

  /**
   * Lets no message pass in this direction. Messages in the other direction pass. If the messages of a leader do not arrive, the
   * leader still receives requests and revalidations of sessions, but no other touches: followers report touches only when they are
   * pinged. If the messages of a follower do not arrive, the follower still
   * receives commits.
   */
  stall(from: MemberLike, to: MemberLike): void {
    const [one, other] = this.#pair(from, to)
    this.#control(`network.stall(${one}, ${other})`, () => this.#network.stall(one, other))
  }

  /** Lets messages pass in this direction again. */
  resume(from: MemberLike, to: MemberLike): void {
    const [one, other] = this.#pair(from, to)
    this.#control(`network.resume(${one}, ${other})`, () => this.#network.resume(one, other))
  }

  /** Heals the link between these two members; without arguments, all links. */
  heal(a?: MemberLike, b?: MemberLike): void {
    if (a === undefined && b === undefined) return this.#control('network.heal()', () => this.#network.heal())
    const [one, other] = this.#pair(a, b)
    this.#control(`network.heal(${one}, ${other})`, () => this.#network.heal(one, other))
  }

  /** Whether messages between these two wait, in at least one direction. */
  isCut(a: MemberLike, b: MemberLike): boolean {
    return this.#network.isCut(...this.#pair(a, b))
  }

  /** Sets how long messages take from now on, in ms. A function is called for each message. */
  delay(latency: number | ((from: string, to: string) => number)): void {
    const asked = asFunction('delay', latency)
    this.#control(`network.delay(${typeof latency === 'number' ? latency : '…'})`, () => {
      this.#network.latency = asked
    })
  }

  #pair(a: MemberLike | undefined, b: MemberLike | undefined): [string, string] {
    const one = this.#nameOf(a)
    const other = this.#nameOf(b)
    if (one === other) throw new RangeError(`a link is between two members, not ${one} and itself`)
    return [one, other]
  }

  #nameOf(member: MemberLike | undefined): string {
    const name = nameOf(member)
    checkMember(name, this.#members)
    return name
  }
}

/** The name in the argument. It is not checked: the caller must call `checkMember`. */
export const nameOf = (member: MemberLike | null | undefined) =>
  (typeof member === 'object' && member !== null ? member.name : member) as string
