// A `run` inside a `run` of the same lock, in one chain of async calls, uses the hold of the outer one.
import { AsyncLocalStorage } from 'node:async_hooks'
import type { RunOptions } from '../held/acquirable.ts'
import { RecipeError } from '../errors/recipe-error.ts'
import { type Held, isAbortOf } from '../held/held.ts'
import { lostHold } from '../held/lost-hold.ts'

interface Run<H> {
  readonly held: H
  isOver: boolean
}

export class Reentrancy<H extends Held> {
  readonly #path: string
  // Only locks with the option create it: from the first AsyncLocalStorage on, every promise of the program takes longer.
  readonly #runs = new AsyncLocalStorage<Run<H>>()

  constructor(path: string) {
    this.#path = path
  }

  /** The hold of the run in which this code runs, if any. Throws a `LostError` if that run has ended or lost its hold. */
  get current(): H | undefined {
    const run = this.#runs.getStore()
    if (run === undefined) return undefined
    run.held.throwIfLost()
    // The body of the run has ended, and the run is about to release the hold.
    if (run.isOver) throw lostHold('Released', run.held.path)
    return run.held
  }

  /** Acquires. Rejects if this code is inside a run that holds the lock: the acquire would wait for that run. */
  async outside(acquire: () => Promise<H>): Promise<H> {
    const run = this.#runs.getStore()
    if (run !== undefined && !run.isOver && run.held.isHeld()) throw wouldDeadlock(this.#path)
    return await acquire()
  }

  /** Calls `body` in an inner run. Rejects if the outermost run has released or lost the lock meanwhile. */
  async again<T>(body: (held: H) => T | Promise<T>, { onLost = 'reject' }: RunOptions): Promise<T> {
    const run = this.#runs.getStore()!
    let result: T
    try {
      result = await body(run.held)
    } catch (error) {
      const { loss, signal } = run.held
      throw loss !== undefined && onLost === 'reject' && isAbortOf(signal, error) ? loss.with(undefined) : error
    }
    if (onLost === 'ignore') return result
    if (run.isOver) throw lostHold('Released', run.held.path, { result })
    const { loss } = run.held
    if (loss !== undefined) throw loss.with(result)
    return result
  }

  /** Calls `body` in the outermost run, which has this hold. */
  async inside<T>(held: H, body: (held: H) => T | Promise<T>): Promise<T> {
    const run = { held, isOver: false }
    try {
      return await this.#runs.run(run, async () => await body(held))
    } finally {
      run.isOver = true
    }
  }
}

function wouldDeadlock(path: string): RecipeError {
  const message = `${path} is held by the run that this acquire is in, and would never be granted: use run, which re-enters`
  return new RecipeError('WouldDeadlock', path, message)
}
