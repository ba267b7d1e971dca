import { printable } from './printable.ts'

/** The key by which `is` recognizes errors of any copy of this package. */
const brand = Symbol.for('@zk/ProtocolError')

/** The place at which the protocol was broken. */
export interface ProtocolErrorDetails {
  /** The offset in the frame or record, in bytes. */
  readonly offset?: number | undefined
  /** The path of the field, from the outermost record inwards: `['GetACLResponse', 'acl', '[2]', 'perms']`. */
  readonly field?: readonly string[] | undefined
}

/**
 * The peer broke the protocol: an impossible length, a record that ends too early, a reply without a request. The cause is
 * always in received bytes, not in arguments.
 */
export class ProtocolError extends Error {
  /** The name of the class. */
  override readonly name = 'ProtocolError'
  /** `is` looks for this key. */
  readonly [brand] = true
  /** The offset in the frame or record, in bytes. Undefined if it is not known. */
  readonly offset: number | undefined
  /** The path of the field, from the outermost record inwards. Empty if it is not known. */
  readonly field: readonly string[]
  readonly #reason: string

  /** Makes an error, for decoders of your own. */
  constructor(reason: string, { offset, field = [] }: ProtocolErrorDetails = {}) {
    const place = field.length === 0 ? '' : ` in ${field.join('.').replaceAll('.[', '[')}`
    super(printable(reason + place + (offset === undefined ? '' : ` at byte ${offset}`)))
    this.#reason = reason
    this.offset = offset
    this.field = field
  }

  /** Returns the same error, with the enclosing record or field `name` at the start of its path. */
  within(name: string): ProtocolError {
    return new ProtocolError(this.#reason, { offset: this.offset, field: [name, ...this.field] })
  }

  /** For logs: the message, too, which `JSON.stringify` would leave out. */
  toJSON(): object {
    const { name, message, offset, field, ...more } = this
    return { name, message, offset, field, ...more }
  }

  /** Whether the error is a `ProtocolError` of any copy of this package, even if it is called on a subclass. */
  static is(error: unknown): error is ProtocolError {
    return Object(error) === error && brand in (error as object)
  }
}
