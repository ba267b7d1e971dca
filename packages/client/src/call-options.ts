import type { KeeperErrorCode } from './errors.ts'
import type { ACL } from './operations/arguments.ts'
import type { Session } from './session.ts'

/** How a call waits, and in which session it runs. */
export interface CallOptions {
  /** The call rejects with its reason; a write that was sent may still happen. */
  signal?: AbortSignal | undefined
  /** ms from the call; then it rejects with `RequestTimeout`. @default the session timeout */
  timeout?: number | undefined
  /**
   * A busy server that has not executed it (`ThrottledOp`) is asked again after a pause. Calls made right behind it may have
   * been executed by then. With `false` it is not repeated: it rejects with `ThrottledOp`, and the order is kept. @default true
   */
  repeatThrottled?: boolean | undefined
  /** Run in this session or not at all: once it has ended, the call rejects. @default the client's current session */
  session?: Session | undefined
}

/** For a node whose parent may be missing. */
export interface ParentsOptions {
  /**
   * Makes the nodes above, if they are missing, as `ensureContainer` does; `acl` is theirs, by default open to everyone. It
   * costs nothing where the parent is there. @default false
   */
  parents?: boolean | { readonly acl: readonly ACL[] } | undefined
}

/** For nodes that are made where they are missing. */
export interface EnsureOptions extends CallOptions {
  /** The rights to the nodes that are made. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

const expectedCodes = Symbol('expected codes')

/** A call whose caller handles errors of some codes as answers. */
interface ExpectingOptions {
  readonly [expectedCodes]?: readonly KeeperErrorCode[]
}

/** The options, for a caller that handles errors of these codes as answers: they are traced without an error, and count as no failure. */
export function expecting<const Options extends CallOptions>(options: Options, ...codes: KeeperErrorCode[]): Options {
  return { ...options, [expectedCodes]: codes }
}

export function expectedBy(options: object): readonly KeeperErrorCode[] | undefined {
  return (options as ExpectingOptions)[expectedCodes]
}
