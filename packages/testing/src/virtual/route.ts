import type { Random } from './random.ts'

/** The network between one process and one server. */
export class Route {
  /** The longest time in one direction, in ms. The shortest is 0. */
  readonly #latency: number
  /** The longest time while the route is slow, for each call of `slow` in force. The longest of all counts. */
  readonly #slow: number[] = []
  /** Whether segments of the process (up) and of the server (down) are held back. New connections obey this, too. */
  readonly held = { up: false, down: false }
  readonly #random: Random
  readonly #cuts: number

  /** `cuts` is the probability that a segment arrives in several pieces. */
  constructor(random: Random, latency: number, cuts: number) {
    this.#random = random
    this.#latency = latency
    this.#cuts = cuts
  }

  /** The time until a segment arrives, in ms. It is a multiple of 1/8 ms, which floating point represents exactly. */
  readonly delay = (): number => this.#random.below(Math.max(this.#latency, ...this.#slow) * 8 + 1) / 8

  /** Segments take up to `latency` ms, until the returned function is called. */
  slow(latency: number): () => void {
    this.#slow.push(latency)
    return () => this.#slow.splice(this.#slow.indexOf(latency), 1)
  }

  /** Cuts a segment into the pieces in which it arrives. */
  pieces(segment: Uint8Array): Uint8Array[] {
    if (segment.byteLength < 2 || !this.#random.chance(this.#cuts)) return [segment]
    const at = this.#random.between(1, segment.byteLength - 1)
    return [segment.subarray(0, at), ...this.pieces(segment.subarray(at))]
  }
}
