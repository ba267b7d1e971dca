// What the recipes need from promises, each with a name.
import type { Watched } from '@zk/client'

/** Nobody awaits this promise: its failure is handled elsewhere, or does not matter. */
export function unawaited(promise: Promise<unknown>): void {
  promise.catch(() => {})
}

/** Returns the promise. It is awaited only after another one, and until then its rejection does not count as unhandled. */
export function awaitedLater<P extends Promise<unknown>>(promise: P): P {
  unawaited(promise)
  return promise
}

/** Resolves when the promise has settled, whatever its outcome. */
export function settled(promise: Promise<unknown> | undefined): Promise<unknown> {
  return promise === undefined ? Promise.resolve() : promise.catch(() => {})
}

/** Removes a watch in the background: leaving does not wait for a silent server. */
export function unwatch(watch: Pick<Watched, 'unwatch'> | undefined): void {
  if (watch !== undefined) unawaited(watch.unwatch())
}

/** A promise that is settled from outside. */
export class Deferred<T = void> {
  readonly promise: Promise<T>
  resolve!: (value: T | PromiseLike<T>) => void
  reject!: (error: unknown) => void

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
  }
}
