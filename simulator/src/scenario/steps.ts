// What clients do with the recipes that hold nothing (`Counter`, `Barrier`, `DoubleBarrier`), and how it is drawn.
import type { Random } from '@zk/testing/internal'

/** The recipes whose clients do steps. */
export const stepped = ['Counter', 'Barrier', 'DoubleBarrier'] as const
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

/** How a call may be given up. */
export interface Ending {
  readonly timeout?: number
  readonly abortAfter?: number
}

/** One call of a `Barrier`. */
export interface BarrierStep extends Pausing, Ending {
  readonly barrier: 'set' | 'remove' | 'wait'
}

/** Enters a `DoubleBarrier`, is inside for a while, and leaves. */
export interface MemberStep extends Pausing {
  /** The same in all steps of a history. */
  readonly size: number
  readonly enter: Ending & { readonly timeout: number }
  readonly inside: number
  readonly leave: Ending
}

export type Step = CounterStep | BarrierStep | MemberStep

/** The changes of a history: 4 to the power of the next one may be above the highest value of a counter. */
const MOST_CHANGES = 31

/** Draws the steps of one scenario, one worker after the other. */
export class DrawnSteps {
  readonly #random: Random
  readonly #sessionTimeout: number
  #changes = 0
  #size: number | undefined

  constructor(random: Random, sessionTimeout: number) {
    this.#random = random
    this.#sessionTimeout = sessionTimeout
  }

  of(recipe: SteppedRecipe): Step[] {
    const random = this.#random
    if (recipe === 'Barrier') return this.#barrierSteps()
    const drawOne = (): Step => (recipe === 'Counter' ? this.#counterStep() : this.#memberStep())
    return Array.from({ length: random.between(1, 5) }, drawOne)
  }

  /** A worker waits, or closes and opens. It opens in the end. */
  #barrierSteps(): BarrierStep[] {
    const random = this.#random
    const after = () => random.below(random.one([1, 50, 500, 2_000]))
    const waits = (): BarrierStep => ({ after: after(), barrier: 'wait', ...this.#ending() })
    if (random.chance(0.5)) return Array.from({ length: random.between(1, 4) }, waits)
    return Array.from({ length: random.between(1, 3) }, (): BarrierStep[] => [
      { after: after(), barrier: 'set' },
      { after: after(), barrier: 'remove', timeout: 3 * this.#sessionTimeout },
    ]).flat()
  }

  #memberStep(): MemberStep {
    const random = this.#random
    this.#size ??= random.one([2, 2, 3])
    return {
      after: random.below(random.one([1, 50, 500])),
      size: this.#size,
      enter: { timeout: 6 * this.#sessionTimeout, ...this.#ending() },
      inside: random.below(random.one([1, 100, this.#sessionTimeout])),
      leave: this.#ending(),
    }
  }

  #ending(): Ending {
    const random = this.#random
    return {
      ...(random.chance(0.2) && { timeout: random.below(random.one([20, 300, 3 * this.#sessionTimeout])) }),
      ...(random.chance(0.15) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
    }
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
