import { Random } from '@zk/testing/internal'
import { describe, expect, test } from 'vitest'
import { DataStore, type Place } from '../../src/mirror/data-store.ts'

/** Data of more than 16 KiB has a chunk of its own. */
const lengths = [0, 1, 40, 5_000, 16_384, 16_385, 20_000, 70_000]

describe('DataStore', () => {
  test.each([1, 2, 3, 4])(
    'DataStore.read gives the data that was added, whatever was added and removed since (seed %i)',
    (seed) => {
      const random = new Random(seed, 'data')
      const store = new DataStore()
      const kept: { place: Place; data: Uint8Array }[] = []
      for (let step = 0; step < 1_000; step++) {
        // Often it holds nothing, or one.
        if (random.chance(kept.length < 2 ? 0.5 : 0.3)) {
          const data = new Uint8Array(random.one(lengths)).fill(step)
          kept.push({ place: store.add(data), data })
        } else if (kept.length > 0) {
          const [{ place, data }] = kept.splice(random.below(kept.length), 1) as [(typeof kept)[number]]
          store.remove(place, data.length)
        }
        for (const { place, data } of kept) {
          expect(Buffer.compare(store.read(place, data.length), data)).toBe(0)
        }
      }
    },
  )

  test('DataStore.isWasteful says whether most of its memory is empty', () => {
    const store = new DataStore()
    const data = new Uint8Array(16_384)
    const places = Array.from({ length: 64 }, () => store.add(data))
    expect(store.isWasteful).toBe(false)
    // One of four in each chunk stays.
    for (const [index, place] of places.entries()) if (index % 4 !== 0) store.remove(place, data.length)
    expect(store.isWasteful).toBe(true)
  })
})
