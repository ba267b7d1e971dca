import { branded, printable } from '@zk/client/internal'

/** The brand by which `WouldDeadlockError.is` finds errors of any copy of this package. */
const deadlockBrand = Symbol.for('@zk/WouldDeadlockError')

/** An `acquire` inside a `run` of the same re-entrant lock: it would never be granted. Nothing was sent. */
export class WouldDeadlockError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'WouldDeadlockError'
  /** The brand for `is`. */
  readonly [deadlockBrand] = true
  /** The path of the lock. */
  readonly path: string

  constructor(path: string) {
    super(
      printable(
        `${path} is held by the run that this acquire is in, and would never be granted: use run, which re-enters`,
      ),
    )
    this.path = path
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path } = this
    return { name, message, path }
  }

  /** True for a `WouldDeadlockError` of any copy of this package in the program. */
  static is(error: unknown): error is WouldDeadlockError {
    return branded(error, deadlockBrand)
  }
}
