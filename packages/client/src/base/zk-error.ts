// The base of all error classes, here and in the recipes. It recognizes errors of other copies of the package: a program may
// have several, of one version or of different ones.
import { printable } from '@zk/wire'
import { fieldsInJson } from './in-json.ts'

/** The key by which each class of ours finds its errors, whichever copy made them. A class that a user derives has none. */
const brands = new WeakMap<object, symbol>()

/** Gives a class its brand, and the name with which the stacks of its errors begin. */
export function nameErrors(errorClass: { readonly prototype: ZkError }, name: string): void {
  const brand = Symbol.for(`@zk/${name}`)
  brands.set(errorClass, brand)
  Object.defineProperties(errorClass.prototype, {
    [brand]: { value: true },
    name: { value: name, writable: true, configurable: true },
  })
}

/**
 * The base of all errors of these packages but `TypeError`, `RangeError` and `ProtocolError`. `code` says what happened, and which
 * class the error belongs to says what it concerns. The message is for people, and may change with any version.
 *
 * `instanceof` and `is` also recognize errors of another copy of the package.
 */
export abstract class ZkError extends Error {
  static {
    nameErrors(this, 'ZkError')
  }
  /** What happened. */
  readonly code: string
  /** The path that it concerns, if any. */
  readonly path: string | undefined

  /** For a class of your own. */
  constructor(code: string, message: string, { path, cause }: { path?: string | undefined; cause?: unknown } = {}) {
    super(printable(message), cause === undefined ? undefined : { cause })
    this.code = code
    this.path = path
  }

  /** For logs: all fields, with the ids of sessions as text. */
  toJSON(): object {
    const { name, message } = this
    return { name, message, ...fieldsInJson(this) }
  }

  /**
   * Whether the error is of this class, in any copy of the package, and has one of the codes, if any is given. Call it as a method:
   * `errors.filter((error) => ZkError.is(error))`.
   */
  static is<E extends ZkError, Code extends E['code']>(
    this: abstract new (...args: never) => E,
    error: unknown,
    ...codes: Code[]
  ): error is E & { readonly code: Code } {
    return error instanceof this && (codes.length === 0 || codes.includes(error.code as Code))
  }

  /** For `instanceof`: errors of this class, in any copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    const brand = brands.get(this)
    if (brand === undefined) return Function.prototype[Symbol.hasInstance].call(this, value)
    return typeof value === 'object' && value !== null && brand in value
  }
}
