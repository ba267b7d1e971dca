// What a history draws by its seed, as its features allow.
import type { CallOptions, ConnectOptions } from '../../../src/index.ts'
import type { RemovableWatches } from '../../../src/operations/remove-watches.ts'
import { pick, SeededRandom } from '../../support/index.ts'
import type { Reading } from './calls.ts'

export type Feature =
  /** Connections are lost. */
  | 'loss'
  /** The client moves to another server. */
  | 'move'
  /** Time passes between what happens. */
  | 'time'
  /** Callers no longer wait. */
  | 'abort'
  /** Calls do not wait for long. */
  | 'timeout'
  /** Watches are removed by their path. */
  | 'remove'
  /** Few requests are in flight, and others wait. */
  | 'narrow'
  /** Servers are too busy for a request (ThrottledOp). */
  | 'throttle'

/** Something that may happen, as often as it weighs; without its feature never. */
export interface Choice<Result> {
  readonly weight: number
  readonly feature?: Feature
  readonly act: () => Result
}

export const PATHS = ['/a', '/a/x', '/b']
/** A child that is not watched by itself. */
const CHILD = '/a/y'
const READINGS: readonly Reading[] = ['data', 'exist', 'child']
const REMOVABLE: readonly RemovableWatches[] = ['Data', 'Children', 'Persistent', 'PersistentRecursive', 'Any']

export class Draws {
  readonly #random: SeededRandom
  readonly #features: ReadonlySet<Feature>
  readonly #paths: readonly string[]
  readonly #aborts: AbortController[] = []

  constructor(seed: number, features: readonly Feature[]) {
    this.#random = new SeededRandom(seed)
    this.#features = new Set(features)
    // Most of what goes wrong takes several watches of one path.
    this.#paths = this.pick([['/a'], ['/a', '/a/x'], PATHS])
  }

  below(limit: number): number {
    return this.#random.below(limit)
  }

  oneIn(many: number): boolean {
    return this.below(many) === 0
  }

  pick<T>(items: readonly T[]): T {
    return pick(this.#random, items)
  }

  /** The choices that there are, each as often as it weighs. */
  possible<Result>(choices: readonly Choice<Result>[]): Choice<Result>[] {
    const possible = choices.filter(({ feature }) => feature === undefined || this.#features.has(feature))
    return possible.flatMap((choice) => Array.from({ length: choice.weight }, () => choice))
  }

  path(): string {
    return this.pick(this.#paths)
  }

  /** The path of a node that may come and go. */
  changingPath(): string {
    return this.pick([this.path(), CHILD])
  }

  reading(): Reading {
    return this.pick(READINGS)
  }

  removable(): RemovableWatches {
    return this.pick(REMOVABLE)
  }

  /** How a call waits. */
  waiting(): CallOptions {
    if (this.#features.has('abort') && this.oneIn(4)) {
      const controller = new AbortController()
      this.#aborts.push(controller)
      return { signal: controller.signal }
    }
    return this.#features.has('timeout') && this.oneIn(8) ? { timeout: 20 + this.below(100) } : {}
  }

  /** The signal of one of the last calls that have one; undefined while there is none. */
  abort(): AbortController | undefined {
    return this.#aborts.splice(-1 - this.below(3))[0]
  }

  /** Whether the server is too busy for so many requests, one behind the other. */
  isBusy(): boolean {
    return this.#features.has('throttle') && this.oneIn(8)
  }

  mostInFlight(): ConnectOptions {
    return this.#features.has('narrow') ? { advanced: { maxInFlight: 1 + this.below(3) } } : {}
  }
}
