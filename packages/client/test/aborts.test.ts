import { expect, test, vi } from 'vitest'
import { LazyAbortController, onAbort } from '../src/base/aborts.ts'
import { pause } from '../src/runtime/pause.ts'
import { systemRuntime } from '../src/index.ts'

/** A signal, and how many listeners it has. */
function listened(): { controller: AbortController; signal: AbortSignal; count: () => number } {
  const controller = new AbortController()
  const { signal } = controller
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')
  return { controller, signal, count: () => added.mock.calls.length - removed.mock.calls.length }
}

test('onAbort has one listener a signal, however many wait', () => {
  const { signal, count } = listened()
  for (let call = 0; call < 1_000; call++) onAbort(signal, () => {})
  expect(count()).toBe(1)
})

test('onAbort has no listener when no caller waits any more, and one again when one does', () => {
  const { signal, count } = listened()
  const stops = [onAbort(signal, () => {}), onAbort(signal, () => {})]
  stops[0]?.()
  expect(count()).toBe(1)
  stops[1]?.()
  expect(count()).toBe(0)
  onAbort(signal, () => {})
  expect(count()).toBe(1)
})

test('onAbort notifies each once, in the order of asking, with the reason', () => {
  const notified: unknown[] = []
  const { controller, signal } = listened()
  const stops = ['a', 'b', 'c'].map((name) => onAbort(signal, (reason) => notified.push([name, reason])))
  stops[1]?.()
  controller.abort('enough')
  expect(notified).toEqual([
    ['a', 'enough'],
    ['c', 'enough'],
  ])
})

test('onAbort tells at once of a signal that has been aborted already, and keeps no listener', () => {
  const { controller, signal, count } = listened()
  controller.abort('before')
  const notified: unknown[] = []
  onAbort(signal, (reason) => notified.push(reason))()
  expect(notified).toEqual(['before'])
  expect(count()).toBe(0)
})

test('onAbort notifies no caller of another signal', () => {
  const notified: string[] = []
  const [one, other] = [listened(), listened()]
  onAbort(one.signal, () => notified.push('one'))
  onAbort(other.signal, () => notified.push('other'))
  one.controller.abort()
  expect(notified).toEqual(['one'])
  expect(other.count()).toBe(1)
})

test('onAbort is undone once: a second call does not affect later listeners', () => {
  const { controller, signal } = listened()
  const stop = onAbort(signal, () => {})
  stop()
  const notified: string[] = []
  onAbort(signal, () => notified.push('later'))
  stop()
  controller.abort()
  expect(notified).toEqual(['later'])
})

test('onAbort lets a notified listener take back its own and other registrations', () => {
  const notified: string[] = []
  const { controller, signal } = listened()
  const stops: (() => void)[] = []
  stops.push(
    onAbort(signal, () => {
      notified.push('a')
      for (const stop of stops) stop()
    }),
    onAbort(signal, () => notified.push('b')),
  )
  controller.abort()
  expect(notified).toEqual(['a'])
})

test('pause is over at once when one of its signals has been aborted already, and keeps no listener of another', async () => {
  const { signal, count } = listened()
  await pause(systemRuntime, 60_000, AbortSignal.abort(), signal)
  expect(count()).toBe(0)
})

test('LazyAbortController makes the reason once, and not before someone reads the signal', () => {
  const late = new LazyAbortController()
  const reason = vi.fn(() => new Error('over'))
  late.abort(reason)
  late.abort(() => new Error('another'))
  expect(reason).not.toHaveBeenCalled()
  const { signal } = late
  expect(signal.aborted).toBe(true)
  expect(signal.reason).toEqual(new Error('over'))
  expect(late.signal).toBe(signal)
  expect(reason).toHaveBeenCalledTimes(1)
})

test('LazyAbortController notifies who has read the signal before, once', () => {
  const late = new LazyAbortController()
  const { signal } = late
  const notified: unknown[] = []
  signal.addEventListener('abort', () => notified.push(signal.reason))
  expect(signal.aborted).toBe(false)
  late.abort(() => 'over')
  late.abort(() => 'another')
  expect(notified).toEqual(['over'])
})
