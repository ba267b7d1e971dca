import { branded, printable } from '@zk/client/internal'

/** The brand by which `PermitsError.is` finds errors of any copy of this package. */
const permitsBrand = Symbol.for('@zk/PermitsError')

/**
 * The semaphore's node stores another number of permits than the one that this `Semaphore` was made with, or no number.
 * Nothing was acquired.
 */
export class PermitsError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'PermitsError'
  /** The brand for `is`. */
  readonly [permitsBrand] = true
  /** The path of the semaphore. */
  readonly path: string
  /** The number that this `Semaphore` was made with; undefined if it was made without. */
  readonly permits: number | undefined
  /** The number that the node stores; undefined if it stores none. */
  readonly stored: number | undefined

  /** @internal `stored` is the data of the node if it is no number. */
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
  if (stored === undefined) return 'stores no number of permits: make one Semaphore with { permits }, or call resize'
  if (typeof stored !== 'number')
    return `has ${stored.length} bytes of data, where a number of permits has 4: is it the path of something else?`
  return (
    `has ${stored} permits, and this Semaphore was made with { permits: ${permits} }: make it with ${stored}, ` +
    'make it without permits to follow what is stored, or change what is stored with resize'
  )
}
