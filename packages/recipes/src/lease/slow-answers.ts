import { NodeVanished } from '../calls/node-vanished.ts'

/** How slow answers were when a lease was proven too late, and how fast they must be. Times are in ms. */
export interface Slowness {
  /** How long each of the three answers took on average: to the touches, to the sync, and to the check. */
  readonly answers: number
  /** How long each may take on average. */
  readonly within: number
  /** The session timeout. */
  readonly T: number
}

/** Answers take too long for a lease. The contender gives its place up, since another one may get its answers sooner. */
export class SlowAnswers extends NodeVanished {
  readonly slowness: Slowness

  constructor(slowness: Slowness) {
    super()
    this.slowness = slowness
  }
}
