import type { KeeperErrorCode } from '../base/errors.ts'
import { type ACL, checkBoolean, checkKeys, checkSignal, checkTime } from '../base/arguments.ts'
import type { Session } from './session.ts'

/** How long a call may take. What it waits for, and for how long by default, is documented at each call. */
export interface WaitOptions {
  /** The longest wait, in ms, 0 or more. */
  timeout?: number | undefined
  /** Ends the wait: the call rejects with the reason of the signal. A write that was sent may still happen. */
  signal?: AbortSignal | undefined
}

/** How long a call waits, and in which session it runs. */
export interface CallOptions extends WaitOptions {
  /** How long the call may take, in ms. After that it rejects with `RequestTimeout`. @default the session timeout */
  timeout?: number | undefined
  /**
   * Whether the call is repeated, after a pause, if a busy server has not executed it (`ThrottledOp`). Later calls may then
   * be executed before this one. With `false` the call rejects with `ThrottledOp`, and the order is kept. @default true
   */
  repeatThrottled?: boolean | undefined
  /** The session in which the call runs. If the session has ended, the call rejects. @default the client's current session */
  session?: Session | undefined
}

/** Options for a node whose parent may be missing. */
export interface ParentsOptions {
  /**
   * Whether missing nodes above the node are created, as `ensureContainer` creates them. `acl` is their ACL, by default open
   * to everyone. The option costs nothing if the parent exists. @default false
   */
  parents?: boolean | { readonly acl: readonly ACL[] } | undefined
}

/** Options for nodes that are created if they are missing. */
export interface EnsureOptions extends CallOptions {
  /** The ACL of the created nodes. @default OPEN_ACL_UNSAFE */
  acl?: readonly ACL[] | undefined
}

/** The options of every call. */
const commonOptions = ['signal', 'timeout', 'repeatThrottled', 'session'] as const satisfies (keyof CallOptions)[]

/** The options of every call, and these. */
export const optionNames = (...more: readonly string[]): readonly string[] => [...more, ...commonOptions]

const onlyCommonOptions = optionNames()

/** Checks the options of a call. Other clients take a version, a callback or a signal in place of options. */
export function checkCallOptions(
  name: string,
  options: CallOptions,
  known = onlyCommonOptions,
  example = '{ timeout: 5_000 }',
): void {
  if (typeof options === 'function') throw new TypeError(`${name} takes no callback: it returns a promise`)
  checkKeys(name, options, known, example)
  const { timeout, repeatThrottled, signal } = options
  checkTime('timeout', timeout)
  checkBoolean('repeatThrottled', repeatThrottled)
  checkSignal(signal)
}

/** Known to all copies of this package: recipes from one copy may call a client from another. */
const expectedCodes = Symbol.for('@zk/expectedCodes')

/** The options of a call whose caller handles some error codes as answers. */
interface ExpectingOptions {
  readonly [expectedCodes]?: readonly KeeperErrorCode[]
}

/**
 * Copies the options, and adds that the caller handles these error codes as answers: a call that ends with one of them is
 * traced without an error, and does not count as failed. Codes that the options have already are kept.
 */
export function expecting<const Options extends CallOptions>(options: Options, ...codes: KeeperErrorCode[]): Options {
  // If `[expectedCodes]` followed a spread, V8 would give each object a hidden class of its own (half a microsecond).
  const before = expectedBy(options)
  const expected = Object.assign({ [expectedCodes]: codes }, options)
  if (before !== undefined) Object.assign(expected, { [expectedCodes]: [...before, ...codes] })
  return expected
}

export function expectedBy(options: object): readonly KeeperErrorCode[] | undefined {
  return (options as ExpectingOptions)[expectedCodes]
}
