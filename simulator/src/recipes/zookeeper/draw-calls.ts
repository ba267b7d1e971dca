// Draws plain calls from a seed.
import type { Random } from '@zk/testing/internal'
import { type Call, type CallOp, callOps, type CallPlan, type Turn, watchesOnce } from './calls.ts'

/** Many writes and reads, few credentials. */
const drawnOps: readonly CallOp[] = [
  ...callOps.filter((op) => op !== 'addAuth'),
  ...callOps.filter((op) => op !== 'addAuth'),
  'setData',
  'getData',
  'addAuth',
]

/** How far the node that a call writes to is from its own number: nodes that are written together are read together. */
const REACH = 6

/** The smallest limit that a client accepts: some ten calls. */
const LEAST_BYTES = 1_024

/** Draws the calls of one scenario, one client after another. */
export class DrawnCalls {
  readonly #random: Random
  readonly #sessionTimeout: number
  #next = 0
  /** A deletion has no data that names its call: so each node gets one deletion at most. */
  readonly #deleted = new Set<number>()

  constructor(random: Random, sessionTimeout: number) {
    this.#random = random
    this.#sessionTimeout = sessionTimeout
  }

  plan(): CallPlan {
    const random = this.#random
    const refreshes = random.chance(0.1)
    return {
      ...(random.chance(0.2) && { maxWaiting: random.between(1, 6) }),
      ...(random.chance(0.3) && { maxInFlight: random.between(1, 4) }),
      ...(random.chance(0.1) && { maxWaitingBytes: LEAST_BYTES }),
      ...(random.chance(0.1) && { maxInFlightBytes: LEAST_BYTES }),
      hasCredential: random.chance(0.3),
      turns: refreshes ? this.#refreshes() : Array.from({ length: random.between(3, 9) }, () => this.#turn()),
    }
  }

  /** Credentials again and again, and nothing else for two session timeouts. */
  #refreshes(): Turn[] {
    const random = this.#random
    const every = random.one([100, 200, 300])
    const refresh = (): Turn => {
      const id = this.#next++
      return { after: every, calls: [{ id, op: 'addAuth', on: id }], waits: false }
    }
    return Array.from({ length: Math.min(Math.ceil((2 * this.#sessionTimeout) / every), 40) }, refresh)
  }

  #turn(): Turn {
    const random = this.#random
    const after = random.below(random.one([1, 20, 200, 1_500]))
    const calls = Array.from({ length: random.one([1, 2, 3, 4, 8]) }, () => this.#call())
    return {
      after,
      ...(random.chance(0.12) && { renews: true }),
      calls,
      ...(random.chance(0.5) && { abortAfter: random.below(random.one([1, 50, this.#sessionTimeout])) }),
      waits: random.chance(0.4),
    }
  }

  #call(): Call {
    const random = this.#random
    const id = this.#next++
    const drawn = random.one(drawnOps)
    const on = Math.max(0, id + random.between(-REACH, REACH))
    const op = drawn === 'delete' && this.#deleted.has(on) ? 'setData' : drawn
    if (op === 'delete') this.#deleted.add(on)
    return {
      id,
      op,
      on,
      ...(random.chance(0.2) && { timeout: random.below(random.one([20, 300, 2 * this.#sessionTimeout])) }),
      ...(random.chance(0.2) && { aborts: true }),
      ...(random.chance(0.2) && { pinned: true }),
      ...((watchesOnce(op) || op === 'watch') && random.chance(0.2) && { leavesAfter: random.below(1_000) }),
    }
  }
}
