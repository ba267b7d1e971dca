import { expect, test } from 'vitest'
import { Few } from '../src/session/watches/few.ts'
import { pick, SeededRandom } from './support/random.ts'

test('Few does what a Set does, also with one item and none', () => {
  for (let seed = 1; seed <= 200; seed++) {
    const random = new SeededRandom(seed)
    const items = Array.from({ length: 3 }, (_, index) => ({ index }))
    const [few, set] = [new Few<object>(), new Set<object>()]
    for (let step = 0; step < 30; step++) {
      const item = pick(random, items)
      if (random.below(2) === 0) {
        few.add(item)
        set.add(item)
      } else expect(few.delete(item)).toBe(set.delete(item))
      expect(few.list()).toEqual([...set])
    }
  }
})

test('Few.list is not changed by what follows: watchers that are notified may add and remove others', () => {
  const [one, two] = [{}, {}]
  const few = new Few<object>()
  few.add(one)
  const alone = few.list()
  few.add(two)
  const both = few.list()
  few.delete(one)
  expect([alone, both, few.list()]).toEqual([[one], [one, two], [two]])
})
