import { NodeVanished } from '../kernel/sessions.ts'

/** How long answers took when a lease was proven too late, and how long they may take. Times are in ms. */
export interface Slowness {
  /** How long each of the three answers took on average: to the touches, to the sync, and to the check. */
  readonly answers: number
  /** How long each answer may take on average. */
  readonly within: number
  /** The session timeout. */
  readonly T: number
}

/** Answers take too long for a lease. The contender gives up its place: another contender may get answers sooner. */
export class SlowAnswers extends NodeVanished {
  readonly slowness: Slowness

  constructor(slowness: Slowness) {
    super()
    this.slowness = slowness
  }
}
