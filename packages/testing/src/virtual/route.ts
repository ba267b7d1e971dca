import type { Random } from './random.ts'

/** The network between one process and one server. */
export class Route {
  /** Longest time one way, in ms; the shortest is 0. */
  readonly #latency: number
  /** The same while it is slow, for each reason there is: the longest counts. */
  readonly #slow: number[] = []
  /** Whether what the process sends is held back, and what the server sends. New connections feel it too. */
  readonly held = { up: false, down: false }
  readonly #random: Random
  readonly #cuts: number

  /** `cuts` is how likely a segment arrives in several pieces. */
  constructor(random: Random, latency: number, cuts: number) {
    this.#random = random
    this.#latency = latency
    this.#cuts = cuts
  }

  /** How long something is under way: multiples of 1/8 ms, which are exact. */
  readonly delay = (): number => this.#random.below(Math.max(this.#latency, ...this.#slow) * 8 + 1) / 8

  /** It takes up to `latency` ms until the returned function is called. */
  slow(latency: number): () => void {
    this.#slow.push(latency)
    return () => this.#slow.splice(this.#slow.indexOf(latency), 1)
  }

  /** A segment in the pieces in which it arrives. */
  pieces(segment: Uint8Array): Uint8Array[] {
    if (segment.byteLength < 2 || !this.#random.chance(this.#cuts)) return [segment]
    const at = this.#random.between(1, segment.byteLength - 1)
    return [segment.subarray(0, at), ...this.pieces(segment.subarray(at))]
  }
}
