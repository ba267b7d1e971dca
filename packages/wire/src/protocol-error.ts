/** The brand by which `is` finds errors of any copy of this package. */
const brand = Symbol.for('@zk/ProtocolError')

/** The place at which the protocol was broken. */
export interface ProtocolErrorDetails {
  /** The offset in the frame or record, in bytes. */
  readonly offset?: number | undefined
  /** Names from the outermost record inwards, items of a vector by index: `['GetACLResponse', 'acl', '[2]', 'perms']`. */
  readonly field?: readonly string[] | undefined
}

/**
 * The peer broke the protocol: an impossible length, a record that ends too early, a reply without a request. It concerns
 * bytes that came in, never arguments of the caller.
 */
export class ProtocolError extends Error {
  /** The name of the class, as of every error. */
  override readonly name = 'ProtocolError'
  /** `is` looks for it. */
  readonly [brand] = true
  /** The offset in the frame or record, in bytes. Undefined where it is not known. */
  declare readonly offset: number | undefined
  /** Names from the outermost record inwards. Empty where they are not known. */
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

  /** The same error, with the name of the enclosing record or field before its path. */
  within(name: string): ProtocolError {
    return new ProtocolError(this.#reason, { offset: this.offset, field: [name, ...this.field] })
  }

  /** True for every `ProtocolError` of any copy of this package in the program, also when it is called on a subclass. */
  static is(error: unknown): error is ProtocolError {
    return Object(error) === error && brand in (error as object)
  }
}
