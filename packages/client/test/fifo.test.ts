import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Fifo } from '../src/session/requests/fifo.ts'

function fifoOf<T>(...items: T[]): Fifo<T> {
  const fifo = new Fifo<T>()
  for (const item of items) fifo.push(item)
  return fifo
}

test('Fifo gives items in the order they came, then undefined', () => {
  const fifo = fifoOf('a', 'b')
  expect([fifo.shift(), fifo.shift(), fifo.shift(), fifo.shift()]).toEqual(['a', 'b', undefined, undefined])
  expect(fifo.size).toBe(0)
})

test('Fifo.peek shows the front and leaves it', () => {
  const fifo = fifoOf('a', 'b')
  expect([fifo.peek(), fifo.peek(), fifo.size]).toEqual(['a', 'a', 2])
  expect(new Fifo().peek()).toBeUndefined()
})

test('Fifo.drop gives what is left, front first, and leaves nothing', () => {
  const fifo = fifoOf('a', 'b', 'c')
  fifo.shift()
  expect(fifo.drop()).toEqual(['b', 'c'])
  expect([fifo.size, fifo.peek(), fifo.drop()]).toEqual([0, undefined, []])
  fifo.push('d')
  expect(fifo.shift()).toBe('d')
})

test('Fifo can be iterated, which takes nothing', () => {
  const fifo = fifoOf('a', 'b', 'c')
  fifo.shift()
  expect([...fifo]).toEqual(['b', 'c'])
  expect(fifo.size).toBe(2)
})

test('Fifo keeps its iteration when it is changed meanwhile', () => {
  const fifo = fifoOf('a', 'b')
  const seen: string[] = []
  for (const item of fifo) {
    seen.push(item)
    fifo.shift()
    fifo.push('c')
  }
  expect(seen).toEqual(['a', 'b'])
})

// Long enough runs of one step to cross the compaction several times.
const step = fc.record({
  does: fc.constantFrom('push', 'push', 'shift', 'drop'),
  times: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 500, max: 3_000 })),
})

test('Fifo does what an array does', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40, size: 'max' }), (steps) => {
      const fifo = new Fifo<number>()
      let model: number[] = []
      let next = 0
      for (const { does, times } of steps) {
        if (does === 'drop') {
          expect(fifo.drop()).toEqual(model)
          model = []
          continue
        }
        for (let time = 0; time < times; time++) {
          if (does === 'push') {
            fifo.push(next)
            model.push(next++)
          } else if (fifo.shift() !== model.shift()) throw new Error('another item came out')
        }
        expect([fifo.size, fifo.peek(), [...fifo]]).toEqual([model.length, model[0], model])
      }
    }),
    { numRuns: 50 },
  )
})

test('Fifo takes a hundred thousand items from its front without copying the rest for each', () => {
  const fifo = fifoOf(...Array.from({ length: 100_000 }, (_, index) => index))
  let sum = 0
  for (let item = fifo.shift(); item !== undefined; item = fifo.shift()) sum += item
  expect(sum).toBe((100_000 * 99_999) / 2)
})

test('Fifo.take takes the first that is so, and leaves the others in order', () => {
  const fifo = fifoOf('a', 'b', 'a', 'c')
  fifo.shift()
  expect(fifo.take((item) => item === 'a')).toBe('a')
  expect(fifo.take((item) => item === 'a')).toBeUndefined()
  expect([...fifo]).toEqual(['b', 'c'])
  expect(fifo.size).toBe(2)
})
