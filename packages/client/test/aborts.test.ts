import { expect, test, vi } from 'vitest'
import { Aborts } from '../src/aborts.ts'

/** A signal, and how many listeners it has. */
function listened(): { controller: AbortController; signal: AbortSignal; count: () => number } {
  const controller = new AbortController()
  const { signal } = controller
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')
  return { controller, signal, count: () => added.mock.calls.length - removed.mock.calls.length }
}

test('Aborts has one listener a signal, however many calls wait', () => {
  const aborts = new Aborts<string>(() => {})
  const { signal, count } = listened()
  for (let call = 0; call < 1_000; call++) aborts.add(signal, `call ${call}`)
  expect(count()).toBe(1)
})

test('Aborts has no listener when no call waits any more, and one again when one does', () => {
  const aborts = new Aborts<string>(() => {})
  const { signal, count } = listened()
  aborts.add(signal, 'first')
  aborts.add(signal, 'second')
  aborts.remove(signal, 'first')
  expect(count()).toBe(1)
  aborts.remove(signal, 'second')
  expect(count()).toBe(0)
  aborts.add(signal, 'third')
  expect(count()).toBe(1)
})

test('Aborts tells each waiting call once, in the order of the calls, with the reason', () => {
  const told: unknown[] = []
  const aborts = new Aborts<string>((call, reason) => told.push([call, reason]))
  const { controller, signal } = listened()
  for (const call of ['a', 'b', 'c']) aborts.add(signal, call)
  aborts.remove(signal, 'b')
  controller.abort('enough')
  expect(told).toEqual([
    ['a', 'enough'],
    ['c', 'enough'],
  ])
})

test('Aborts tells nobody of another signal', () => {
  const told: string[] = []
  const aborts = new Aborts<string>((call) => told.push(call))
  const [one, other] = [listened(), listened()]
  aborts.add(one.signal, 'one')
  aborts.add(other.signal, 'other')
  one.controller.abort()
  expect(told).toEqual(['one'])
  expect(other.count()).toBe(1)
})

test('Aborts.remove does nothing for a call that it does not have', () => {
  const aborts = new Aborts<string>(() => {})
  const { controller, signal, count } = listened()
  aborts.remove(signal, 'never added')
  aborts.add(signal, 'first')
  aborts.remove(signal, 'never added')
  expect(count()).toBe(1)
  controller.abort()
  aborts.remove(signal, 'first')
})

test('Aborts lets a call that is told remove itself and others', () => {
  const told: string[] = []
  const { controller, signal } = listened()
  const aborts = new Aborts<string>((call) => {
    told.push(call)
    aborts.remove(signal, call)
  })
  aborts.add(signal, 'a')
  aborts.add(signal, 'b')
  controller.abort()
  expect(told).toEqual(['a', 'b'])
})
