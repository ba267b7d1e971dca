// What clients of the recipes do that hold nothing: `Counter`, `Barrier` and `DoubleBarrier`. And how it is drawn.
import type { Random } from '@zk/testing/internal'

/** The recipes whose clients do steps. */
export const stepped = ['Counter'] as const
export type SteppedRecipe = (typeof stepped)[number]

/** Something that a client does, after a pause. Times are in ms. */
interface Pausing {
  readonly after: number
}

/** Calls of one turn. */
export interface CounterStep extends Pausing {
  readonly counts: readonly Count[]
}

/** One call of a `Counter`. */
export interface Count {
  /** Every change adds 4 to the power of its number. So the value shows which changes have happened, and how often. */
  readonly number: number
  readonly how: 'add' | 'update' | 'get'
  readonly timeout?: number
  /** How long after the call the signal aborts. */
  readonly abortAfter?: number
}

export type Step = CounterStep

/** The changes of a history: 4 to the power of the next one may be above the highest value of a counter. */
const MOST_CHANGES = 31

/** Draws the steps of one scenario, one worker after the other. */
export class DrawnSteps {
  readonly #random: Random
  readonly #sessionTimeout: number
  #changes = 0

  constructor(random: Random, sessionTimeout: number) {
    this.#random = random
    this.#sessionTimeout = sessionTimeout
  }

  of(recipe: SteppedRecipe): Step[] {
    const drawOne: Record<SteppedRecipe, () => Step> = { Counter: () => this.#counterStep() }
    return Array.from({ length: this.#random.between(1, 5) }, drawOne[recipe])
  }

  #counterStep(): CounterStep {
    const random = this.#random
    const after = random.below(random.one([1, 50, 500, 2_000]))
    return { after, counts: Array.from({ length: random.one([1, 1, 1, 2, 3]) }, () => this.#count()) }
  }

  #count(): Count {
    const random = this.#random
    const drawn = random.one(['add', 'add', 'update', 'get'] as const)
    const how = this.#changes < MOST_CHANGES ? drawn : 'get'
    const number = how === 'get' ? 0 : this.#changes++
    return {
      number,
      how,
      ...(random.chance(0.3) && { timeout: random.below(random.one([20, 300, 3 * this.#sessionTimeout])) }),
      ...(random.chance(0.15) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
    }
  }
}
