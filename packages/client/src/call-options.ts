import type { KeeperErrorCode } from './errors.ts'
import type { ACL } from './operations/arguments.ts'
import type { Session } from './session.ts'

/** How long a call waits, and in which session it runs. */
export interface CallOptions {
  /** When it aborts, the call rejects with its reason. A write that was sent may still happen. */
  signal?: AbortSignal | undefined
  /** How long the call may take, in ms. Then it rejects with `RequestTimeout`. @default the session timeout */
  timeout?: number | undefined
  /**
   * Whether the call is repeated, after a pause, when a busy server has not executed it (`ThrottledOp`). Later calls may have
   * been executed by then. With `false` it rejects with `ThrottledOp`, and the order is kept. @default true
   */
  repeatThrottled?: boolean | undefined
  /** The session in which the call runs. When it has ended, the call rejects. @default the client's current session */
  session?: Session | undefined
}

/** Options for a node whose parent may be missing. */
export interface ParentsOptions {
  /**
   * Whether missing nodes above are made, as `ensureContainer` makes them. `acl` is their ACL, by default open to everyone.
   * It costs nothing where the parent exists. @default false
   */
  parents?: boolean | { readonly acl: readonly ACL[] } | undefined
}

/** Options for nodes that are made if they are missing. */
export interface EnsureOptions extends CallOptions {
  /** The rights to the nodes that are made. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

const expectedCodes = Symbol('expected codes')

/** A call whose caller handles errors of some codes as answers. */
interface ExpectingOptions {
  readonly [expectedCodes]?: readonly KeeperErrorCode[]
}

/**
 * Adds that the caller handles errors of these codes as answers: they are traced without an error, and count as no failure.
 */
export function expecting<const Options extends CallOptions>(options: Options, ...codes: KeeperErrorCode[]): Options {
  // With `[expectedCodes]` behind a spread, V8 would give each object a hidden class of its own (half a microsecond).
  return Object.assign({ [expectedCodes]: codes }, options)
}

export function expectedBy(options: object): readonly KeeperErrorCode[] | undefined {
  return (options as ExpectingOptions)[expectedCodes]
}
