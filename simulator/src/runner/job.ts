// What is asked of a worker thread, and what it says. Both are cloned between threads.
import type { Violation } from '../checks/check.ts'
import type { DrawOptions } from '../scenario/draw.ts'

/** Seeds to run, one after the other. */
export interface Job {
  readonly from: number
  readonly count: number
  readonly options: Omit<DrawOptions, 'seed'>
  /** Whether the worker goes on behind a seed that went wrong. */
  readonly goesOn: boolean
}

export interface JobReport {
  readonly histories: number
  /** Events of the world; and grants, or calls that were settled. */
  readonly events: number
  readonly grants: number
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** It came to no end: a replay must not wait for it. */
  readonly isEndless: boolean
}

/** Where a worker writes which seed it plays, for the pool: shared memory, for it may not answer. */
export class CurrentSeed {
  readonly memory: SharedArrayBuffer
  readonly #seed: Float64Array

  constructor(memory = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT)) {
    this.memory = memory
    this.#seed = new Float64Array(memory)
  }

  get value(): number {
    return this.#seed[0]!
  }

  set value(seed: number) {
    this.#seed[0] = seed
  }
}
