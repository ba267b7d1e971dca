import { branded, printable } from '@zk/client/internal'

/** The brand by which `MirrorTooLargeError.is` finds errors of any copy of this package. */
const brand = Symbol.for('@zk/MirrorTooLargeError')

/** The tree exceeds one of the limits of its mirror. The mirror has ended. */
export class MirrorTooLargeError extends Error {
  /** The name with which its stack begins. */
  override readonly name = 'MirrorTooLargeError'
  /** The brand for `is`. */
  readonly [brand] = true
  /** The path of the mirror. */
  readonly path: string
  /** Which limit was exceeded. */
  readonly bound: 'maxNodes' | 'maxBytes'
  /** Its value. */
  readonly limit: number
  /** The number of nodes or bytes, at least. */
  readonly found: number

  constructor(path: string, bound: 'maxNodes' | 'maxBytes', limit: number, found: number) {
    const what = bound === 'maxNodes' ? 'nodes' : 'bytes of data and names'
    super(
      printable(
        `${path} has at least ${found} ${what}, and its mirror was opened with { ${bound}: ${limit} }: raise the bound, or ` +
          'mirror less of it with filter or depth',
      ),
    )
    this.path = path
    this.bound = bound
    this.limit = limit
    this.found = found
  }

  /** For logs. */
  toJSON(): object {
    const { name, message, path, bound, limit, found } = this
    return { name, message, path, bound, limit, found }
  }

  /** True for a `MirrorTooLargeError` of any copy of this package in the program. */
  static is(error: unknown): error is MirrorTooLargeError {
    return branded(error, brand)
  }
}
