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
  /** Events of the world, and grants. */
  readonly events: number
  readonly grants: number
  readonly failures: readonly Failure[]
}

export interface Failure {
  readonly seed: number
  readonly violations: readonly Violation[]
}
