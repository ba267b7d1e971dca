import { branded, printable } from '@zk/client/internal'

/** The brand by which `PermitsError.is` finds errors of any copy of this package. */
const permitsBrand = Symbol.for('@zk/PermitsError')

/**
 * The semaphore's node stores a different number of permits than this `Semaphore` was created with, or no number. Nothing was acquired.
 */
export class PermitsError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'PermitsError'
  /** The brand for `is`. */
  readonly [permitsBrand] = true
  /** The path of the semaphore. */
  readonly path: string
  /** The number that this `Semaphore` was created with; undefined if it was created without one. */
  readonly permits: number | undefined
  /** The number that the node stores; undefined if it stores none. */
  readonly stored: number | undefined

  /** @internal `stored` is the data of the node if it is not a number. */
  constructor(path: string, permits: number | undefined, stored: number | Uint8Array | undefined) {
    super(printable(`${path} ${explainPermits(permits, stored)}`))
    this.path = path
    this.permits = permits
    this.stored = typeof stored === 'number' ? stored : undefined
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path, permits, stored } = this
    return { name, message, path, permits, stored }
  }

  /** True for a `PermitsError` of any copy of this package in the program. */
  static is(error: unknown): error is PermitsError {
    return branded(error, permitsBrand)
  }
}

function explainPermits(permits: number | undefined, stored: number | Uint8Array | undefined): string {
  if (stored === undefined) return 'stores no number of permits: create one Semaphore with { permits }, or call resize'
  if (typeof stored !== 'number')
    return `has ${stored.length} bytes of data, where a number of permits has 4: is it the path of something else?`
  return (
    `has ${stored} permits, and this Semaphore was created with { permits: ${permits} }: create it with ${stored}, ` +
    'create it without permits to follow what is stored, or change what is stored with resize'
  )
}
