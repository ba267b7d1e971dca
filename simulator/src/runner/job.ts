// The messages to and from a worker thread. They are cloned between threads.
import type { Violation } from '../checks/check.ts'
import type { DrawOptions } from '../scenario/draw.ts'

/** Seeds to run, one after the other. */
export interface Job {
  readonly from: number
  readonly count: number
  readonly options: Omit<DrawOptions, 'seed'>
  /** Whether the worker goes on after a seed that failed. */
  readonly goesOn: boolean
}

export interface JobReport {
  readonly histories: number
  /** The number of events of the world, and of grants, or of calls that were settled. */
  readonly events: number
  readonly grants: number
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly seed: number
  readonly violations: readonly Violation[]
  /** The seed did not end: a replay must not wait for it. */
  readonly isEndless: boolean
}

/** The shared memory in which a worker writes the seed that it plays. The pool reads it, since the worker may not answer. */
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
