/** What `is` knows errors of any copy of this package by. */
const brand = Symbol.for('@zk/ProtocolError')

/** Where the protocol was broken. */
export interface ProtocolErrorDetails {
  /** Where in the frame or record, in bytes from its start. */
  readonly offset?: number | undefined
  /** Names from the outermost record inwards, items of a vector by index: `['GetACLResponse', 'acl', '[2]', 'perms']`. */
  readonly field?: readonly string[] | undefined
}

/**
 * The peer broke the protocol: a length that cannot be, a record that ends too early, a reply to no request.
 * It is about bytes that came in; it never means that our own arguments were wrong.
 */
export class ProtocolError extends Error {
  /** As of every error: what its stack begins with. */
  override readonly name = 'ProtocolError'
  /** What `is` looks for. */
  readonly [brand] = true
  /** Where in the frame or record, in bytes from its start; undefined where that is not known. */
  declare readonly offset: number | undefined
  /** Names from the outermost record inwards; empty where that is not known. */
  declare readonly field: readonly string[]
  readonly #reason: string

  /** For decoders of your own. */
  constructor(reason: string, { offset, field = [] }: ProtocolErrorDetails = {}) {
    const place = field.length === 0 ? '' : ` in ${field.join('.').replaceAll('.[', '[')}`
    super(reason + place + (offset === undefined ? '' : ` at byte ${offset}`))
    this.#reason = reason
    this.offset = offset
    this.field = field
  }

  /** The same error, seen from the record or field that encloses the place where it happened. */
  within(name: string): ProtocolError {
    return new ProtocolError(this.#reason, { offset: this.offset, field: [name, ...this.field] })
  }

  /** True for any `ProtocolError`, of any copy of this package in the program, also when asked of a subclass. */
  static is(error: unknown): error is ProtocolError {
    return Object(error) === error && brand in (error as object)
  }
}
