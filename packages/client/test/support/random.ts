import { Random } from '@zk/testing/internal'

/** Random numbers that are the same for the same seed. */
export class SeededRandom extends Random {
  constructor(seed: number) {
    super(seed, 'test')
  }
}

export function pick<T>(random: SeededRandom, items: readonly T[]): T {
  return items[random.below(items.length)]!
}
