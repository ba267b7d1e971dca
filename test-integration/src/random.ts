import { Random as SeededRandom } from '@zk/testing/internal'

/** Random numbers from a seed, the same on every machine. */
export class Random extends SeededRandom {
  constructor(seed: number) {
    super(seed, 'test')
  }

  /** True with this probability, in percent. */
  percent(chance: number): boolean {
    return this.below(100) < chance
  }

  pick<T>(items: readonly T[]): T {
    return this.one(items)
  }

  /** Picks a name; the number of each name is its weight. */
  weighted<Name extends string>(weights: Readonly<Record<Name, number>>): Name {
    const entries = Object.entries(weights) as [Name, number][]
    let left = this.below(entries.reduce((sum, [, weight]) => sum + weight, 0))
    return entries.find(([, weight]) => (left -= weight) < 0)![0]
  }
}
