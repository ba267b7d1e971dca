import { ZkError } from '@zk/client'
import { nameErrors } from '@zk/client/internal'

/** Why a recipe cannot do what was asked. */
export type RecipeErrorCode =
  /** an `acquire` inside a `run` of the same re-entrant lock: it would never be granted. Nothing was sent */
  | 'WouldDeadlock'
  /**
   * the semaphore's node stores a different number of permits than this `Semaphore` was created with, or no number. Nothing was
   * acquired. See `permits` and `stored`
   */
  | 'PermitsDiffer'
  /** the tree exceeds one of the limits of its mirror. The mirror has ended. See `bound`, `limit` and `found` */
  | 'MirrorTooLarge'

/**
 * A `RecipeError` with this code, and with the fields that such an error has for certain. For several codes it is a union, which a
 * `switch` over `code` tells apart.
 */
export type RecipeErrorWith<Code extends RecipeErrorCode> = {
  [Each in Code]: RecipeError & { readonly code: Each } & (Each extends 'MirrorTooLarge'
      ? { readonly bound: 'maxNodes' | 'maxBytes'; readonly limit: number; readonly found: number }
      : unknown)
}[Code]

/** A recipe cannot do what was asked, however often it is asked. The message says what to change. */
export class RecipeError extends ZkError {
  static {
    nameErrors(this, 'RecipeError')
  }
  /** Why it cannot. */
  declare readonly code: RecipeErrorCode
  /** The path of the recipe. */
  declare readonly path: string
  /** The number of permits that this `Semaphore` was created with; undefined if it was created without one. */
  declare readonly permits: number | undefined
  /** The number of permits that the node stores; undefined if it stores none. */
  declare readonly stored: number | undefined
  /** Which limit of the mirror was exceeded. */
  declare readonly bound: 'maxNodes' | 'maxBytes' | undefined
  /** The value of this limit. */
  declare readonly limit: number | undefined
  /** The number of nodes or bytes, at least. */
  declare readonly found: number | undefined

  /** The other fields are those of the code. */
  constructor(
    code: RecipeErrorCode,
    path: string,
    message: string,
    fields: {
      readonly [Field in 'permits' | 'stored' | 'bound' | 'limit' | 'found']?: RecipeError[Field] | undefined
    } = {},
  ) {
    super(code, message, { path })
    Object.assign(this, fields)
  }

  /** See `ZkError.is`. With codes, the error has their fields. */
  static override is<Code extends RecipeErrorCode>(error: unknown, ...codes: Code[]): error is RecipeErrorWith<Code>
  /** For a class of your own. */
  static override is<E extends ZkError, Code extends E['code']>(
    this: abstract new (...args: never) => E,
    error: unknown,
    ...codes: Code[]
  ): error is E & { readonly code: Code }
  static override is(error: unknown, ...codes: RecipeErrorCode[]): boolean {
    return super.is(error, ...codes)
  }
}
