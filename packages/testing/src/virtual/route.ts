import type { Random } from './random.ts'

export interface RouteOptions {
  /** The longest time of a segment in one direction, in ms. */
  readonly latency: number
  /** The probability that a segment arrives in several pieces. */
  readonly cuts: number
  /** The probability that a connection is reset when the server closes it. @default 0 */
  readonly resets?: number | undefined
}

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
  readonly #resets: number

  constructor(random: Random, { latency, cuts, resets = 0 }: RouteOptions) {
    this.#random = random
    this.#latency = latency
    this.#cuts = cuts
    this.#resets = resets
  }

  /** The time until a segment arrives, in ms. It is a multiple of 1/8 ms, which floating point represents exactly. */
  readonly delay = (): number => this.#random.below(Math.max(this.#latency, ...this.#slow) * 8 + 1) / 8

  /** Segments take up to `latency` ms, until the returned function is called. */
  slow(latency: number): () => void {
    this.#slow.push(latency)
    return () => this.#slow.splice(this.#slow.indexOf(latency), 1)
  }

  /** Whether a connection that the server closes is reset. */
  get resetsAtEnd(): boolean {
    return this.#resets > 0 && this.#random.chance(this.#resets)
  }

  /** Cuts a segment into the pieces in which it arrives. */
  pieces(segment: Uint8Array): Uint8Array[] {
    if (segment.byteLength < 2 || !this.#random.chance(this.#cuts)) return [segment]
    const at = this.#random.between(1, segment.byteLength - 1)
    return [segment.subarray(0, at), ...this.pieces(segment.subarray(at))]
  }
}
