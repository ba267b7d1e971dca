import { branded, printable } from '@zk/client/internal'

/** The brand by which `BarrierTimeoutError.is` finds errors of any copy of this package. */
const brand = Symbol.for('@zk/BarrierTimeoutError')

/** The barrier did not open in time. The nodes that the call created are deleted. */
export class BarrierTimeoutError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'BarrierTimeoutError'
  /** The brand for `is`. */
  readonly [brand] = true
  /** The path of the barrier. */
  readonly path: string
  /** The paths of the nodes that existed when last seen: members that have entered, or not yet left. */
  readonly present: readonly string[]

  constructor(path: string, timeout: number, missing: string, present: readonly string[]) {
    super(printable(`${path} did not open within ${timeout} ms: ${missing}`))
    this.path = path
    this.present = present
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path, present } = this
    return { name, message, path, present }
  }

  /** True for a `BarrierTimeoutError` of any copy of this package in the program. */
  static is(error: unknown): error is BarrierTimeoutError {
    return branded(error, brand)
  }
}
