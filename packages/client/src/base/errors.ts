import type { ErrorName } from '@zk/wire'
import { ErrorCode, printable } from '@zk/wire'
import { wasAborted } from './aborts.ts'
import { hex } from './hex.ts'
import { nameErrors, ZkError } from './zk-error.ts'

/**
 * The names of ZooKeeper's error codes, and seven codes of our own: `Closed` (the client was closed), `QueueFull` (too many
 * calls wait to be sent, see `maxWaiting`), `NoUsableServer` (of `followServers`), `RequestTooLarge` (servers close the
 * connection when they get a request this long), `ResponseTooLarge` (a reply over `maxResponseSize`), `InvalidResponse` (a reply
 * that cannot be read) and `Unknown` (a server answered with a number that this version does not know: see `number`).
 *
 * A later version may have a name for a number that is `Unknown` now. The number stays the same, and `KeeperError.is` accepts
 * it.
 */
export type KeeperErrorCode =
  | Exclude<ErrorName, 'Ok'>
  | 'Closed'
  | 'QueueFull'
  | 'NoUsableServer'
  | 'RequestTooLarge'
  | 'ResponseTooLarge'
  | 'InvalidResponse'
  | 'Unknown'

/** The fields of a `KeeperError` besides its code. Each is undefined by default. */
export interface KeeperErrorDetails {
  /** The operation, by the name of the client's method. */
  readonly op?: string | undefined
  /** The path of the call. */
  readonly path?: string | undefined
  /** The chroot of the path. @default undefined: the root */
  readonly chroot?: string | undefined
  /** The number in the server's answer. @default ZooKeeper's number for the code, if there is one */
  readonly number?: number | undefined
  /** Whether a write may have happened. @default false */
  readonly outcomeUnknown?: boolean | undefined
  /** `host:port` */
  readonly server?: string | undefined
  /** The id of the session that the call ran in. */
  readonly sessionId?: bigint | undefined
  /** Which operation failed a multi, from 0. */
  readonly index?: number | undefined
  /** The result of each operation of a failed multi. */
  readonly results?: readonly (KeeperErrorCode | 'Ok')[] | undefined
  /** What the servers lack: see `KeeperError.needs`. */
  readonly needs?: string | undefined
  /** For `SessionExpired`: whether no other session follows, which the message then says. @default false */
  readonly isLastSession?: boolean | undefined
  /** The `cause` of the error. */
  readonly cause?: unknown
}

const sessionIds = new WeakMap<KeeperError, bigint>()

/** The error of a call that failed, in ZooKeeper or in the client. */
export class KeeperError extends ZkError {
  static {
    nameErrors(this, 'KeeperError')
  }
  /** The name of the failure; `Unknown` if this version has no name for the number that the server sent. */
  declare readonly code: KeeperErrorCode
  /**
   * The number in the server's answer, or ZooKeeper's number for the code; undefined for a code of our own. For `Unknown` use
   * this number: it stays the same when a later version has a name for it.
   */
  readonly number: number | undefined
  /** The operation, by the name of the client's method. */
  readonly op: string | undefined
  /** The path of the call, as the caller named it; undefined for a call without a path. */
  declare readonly path: string | undefined
  /** The chroot of the client, below which `path` is; undefined if there is none. */
  readonly chroot: string | undefined
  /**
   * True if the call is a write that was passed to the socket, and its answer never came or could not be read: the write may or
   * may not have happened. False means that the call did not happen, or changes nothing.
   */
  readonly outcomeUnknown: boolean
  /** `host:port` of the server to which the session was connected. */
  readonly server: string | undefined
  /** The index of the operation that failed a multi, from 0. Code, number and path are those of this operation. */
  readonly index: number | undefined
  /** The result of each operation of a failed multi; `RuntimeInconsistency` after the one that failed. */
  readonly results: readonly (KeeperErrorCode | 'Ok')[] | undefined
  /**
   * For `Unimplemented`: which servers know the operation. For `NoAuth`: which right it needs, and on which node. For
   * `RequestTooLarge`: the size of the request; and if it was not sent, why, and when such sizes are tried again. For
   * `NoUsableServer`: why, and what to do. For `ConnectionLoss`: what a server may lack if it closes the connection each time
   * it gets such a request; undefined if the servers have answered such requests before.
   */
  readonly needs: string | undefined

  constructor(code: KeeperErrorCode, details: KeeperErrorDetails = {}) {
    super(code, describe(code, details), details)
    this.number = details.number ?? (code in ErrorCode ? ErrorCode[code as ErrorName] : undefined)
    this.op = details.op
    this.chroot = details.chroot
    this.outcomeUnknown = details.outcomeUnknown ?? false
    this.server = details.server
    if (details.sessionId !== undefined) sessionIds.set(this, details.sessionId)
    this.index = details.index
    this.results = details.results
    this.needs = details.needs
  }

  /**
   * The id of the session that the call ran in; undefined before there is one. It is not an own property: JSON has no bigint,
   * and test runners serialize all own properties.
   */
  get sessionId(): bigint | undefined {
    return sessionIds.get(this)
  }

  /** For logs: all fields, `sessionId` as text. */
  override toJSON(): object {
    const { sessionId } = this
    return { ...super.toJSON(), sessionId: sessionId === undefined ? undefined : hex(sessionId) }
  }

  /**
   * Whether the error is a `KeeperError` of any copy of this package. If codes or ZooKeeper's numbers are given, it must have
   * one of them. A number matches whatever its name is: `KeeperError.is(error, -200)` stays right when a later version has a
   * name for a number that is `Unknown` now.
   */
  static override is<E extends ZkError, Code extends E['code']>(
    this: abstract new (...args: never) => E,
    error: unknown,
    ...codes: Code[]
  ): error is E & { readonly code: Code }
  /** Accepts numbers, too. The compiler cannot derive the code from a number. */
  static override is(error: unknown, ...codes: (KeeperErrorCode | number)[]): error is KeeperError
  static override is(error: unknown, ...codes: (KeeperErrorCode | number)[]): boolean {
    if (!super.is(error)) return false
    const { code, number } = error as KeeperError
    return codes.length === 0 || codes.includes(code) || (number !== undefined && codes.includes(number))
  }
}

/** What happened at one server during a `connect` that failed. */
export interface ConnectAttempt {
  /** `host:port` */
  readonly server: string
  /** The address, if the host name was resolved to several. */
  readonly address?: string | undefined
  /** How many times it was tried; 0 if time ran out before that. */
  readonly attempts: number
  /** The error of the last attempt. */
  readonly error: Error
}

/** No server could be reached in time. `servers` lists what happened at each. */
export class ConnectError extends ZkError {
  static {
    nameErrors(this, 'ConnectError')
  }
  /** The only code. */
  declare readonly code: 'NoServerReached'
  /** All servers, tried or not. A server with several addresses has an entry for each address that was tried. */
  readonly servers: readonly ConnectAttempt[]

  constructor(servers: readonly ConnectAttempt[], after: number) {
    const list = servers.map(
      ({ server, address, attempts, error }) =>
        `${server}${address === undefined ? '' : ` at ${address}`} (tried ${attempts}): ${messageOf(error)}`,
    )
    const tried = list.length === 0 ? 'no server answered' : list.join('; ')
    super('NoServerReached', `no ZooKeeper server could be reached within ${Math.round(after)} ms: ${tried}`)
    for (const { error } of servers) describeInJson(error)
    this.servers = servers
  }

  /** For logs: what happened at each server, each error as its message. */
  override toJSON(): object {
    return { ...super.toJSON(), servers: this.servers.map((each) => ({ ...each, error: messageOf(each.error) })) }
  }
}

/** The failures after which the same call may succeed without a change. */
const transient = [
  'ConnectionLoss',
  'RequestTimeout',
  'OperationTimeout',
  'ThrottledOp',
  'QueueFull',
  'NotReadOnly',
  'SessionExpired',
] as const satisfies readonly KeeperErrorCode[]

/**
 * Whether the same call may succeed later without a change: no server could be reached, or none answered in time, or the
 * session has expired and the client opens the next one. Pause before you repeat the call: some of these failures come at
 * once.
 *
 * A write may have happened nevertheless: see `outcomeUnknown`. After `SessionExpired` the same call never succeeds if no other
 * session follows: if the call has the option `session`, or with `renewSession: false`. If a call rejects with the reason of
 * its signal, the reason is judged like any other error.
 */
export function isTransient(error: unknown): boolean {
  return ConnectError.is(error) || KeeperError.is(error, ...transient)
}

/**
 * The message of an error, as `printable` text. If a host name has several addresses, the error may be an `AggregateError`
 * without a message.
 */
export function messageOf(error: Error): string {
  // A runtime may pass a value that is not an `Error`.
  if (!(error instanceof Error) && typeof (error as { message?: unknown } | undefined)?.message !== 'string') {
    return printable(String(error))
  }
  if (error.message !== '') return printable(error.message)
  return error instanceof AggregateError ? error.errors.map(messageOf).join(', ') : error.name
}

/** The maximum number of causes that are changed: an error may be its own cause. */
const MOST_CAUSES = 5

/**
 * Makes the message of an error of the runtime, or of a SASL mechanism, printable, including in its stack and its causes. It may
 * contain text from a server, such as the names in a certificate. The error stays the same object.
 */
export function madePrintable<E>(error: E, causes = MOST_CAUSES): E {
  if (typeof error !== 'object' || error === null || !('message' in error) || typeof error.message !== 'string')
    return error
  const { message, stack, cause, errors } = error as unknown as AggregateError
  const text = printable(message)
  if (text !== message) {
    // If a property cannot be set, it stays as it is.
    Reflect.set(error, 'message', text)
    if (typeof stack === 'string')
      Reflect.set(
        error,
        'stack',
        stack.replace(message, () => text),
      )
  }
  if (causes > 0) for (const part of [cause, ...(Array.isArray(errors) ? errors : [])]) madePrintable(part, causes - 1)
  return error
}

/** JSON turns most errors into {}, and throws on some. The error gets a `toJSON` of its own, which copies of its fields keep. */
export function describeInJson(error: Error | undefined): void {
  if (!(error instanceof Error) || 'toJSON' in error || !Object.isExtensible(error)) return
  Object.defineProperty(error, 'toJSON', { value: () => messageOf(error), configurable: true })
}

/** Gives an error of ours the stack of the caller instead of that of our socket. The reason of the signal is not changed. */
export function atCaller(error: unknown, signal?: AbortSignal): unknown {
  const isOurs = (KeeperError.is(error) || ConnectError.is(error)) && !wasAborted(error, signal)
  if (isOurs) Error.captureStackTrace?.(error, atCaller)
  return error
}

/** Throws an error of ours with the stack of the caller. */
export function throwAtCaller(error: unknown, signal?: AbortSignal): never {
  throw atCaller(error, signal)
}

function describe(code: KeeperErrorCode, details: KeeperErrorDetails): string {
  const { op, path, chroot, number, outcomeUnknown, server, sessionId, index, needs } = details
  const session = sessionId === undefined ? undefined : hex(sessionId)
  const place = Object.entries({ operation: index, chroot, server, session })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name} ${value}`)
  const what = code === 'Unknown' ? joined(' ', 'unknown error code', number) : code
  const hint = outcomeUnknown
    ? ofUnknownOutcome(code, needs)
    : code === 'NoNode' && chroot !== undefined
      ? missingBelow(details)
      : code === 'SessionExpired' && details.isLastSession === true
        ? LAST_SESSION
        : joined(': ', advice[code], needs)
  return joined(': ', joined(' ', op, path), place.length === 0 ? what : `${what} (${place.join(', ')})`, hint)
}

/** Joins the parts that are not undefined. */
function joined(separator: string, ...parts: readonly (string | number | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(separator)
}

function ofUnknownOutcome(code: KeeperErrorCode, needs: string | undefined): string {
  const unknown = 'sent but not answered: it may have happened; read before you repeat it'
  if (code === 'RequestTooLarge') return joined('; ', joined(': ', advice[code], needs), unknown)
  if (needs === undefined) return unknown
  return `${unknown}; if the connection breaks each time it is sent, the servers may not accept it: ${needs}`
}

/** The advice for `NoNode` if there is a chroot: the server does not say that the chroot itself is missing. */
function missingBelow({ op, path, chroot }: KeeperErrorDetails): string {
  const isChroot = path === '/' || (op === 'create' && path?.lastIndexOf('/') === 0)
  const missing = isChroot ? `the chroot ${chroot} does not exist` : `${advice.NoNode}, or the chroot does not`
  return `${missing}: ensurePath('/') creates the chroot`
}

/** Formats a session id as in ZooKeeper's logs: `0x` and hexadecimal digits. */
export function formatSessionId(id: bigint): string {
  return hex(id)
}

const LAST_SESSION =
  'the session is over: its ephemeral nodes are gone, or will be within a session timeout, and so are its watches; ' +
  'no other follows, since renewSession is false'

const advice: Partial<Record<KeeperErrorCode, string>> = {
  NoUsableServer: 'the list of servers is unchanged',
  AuthFailed:
    'the server refused the credentials, or requires some; the client cannot be used any more; connect again with other credentials',
  BadVersion: 'the node was changed meanwhile; read it again',
  Closed: 'the client was closed',
  ConnectionLoss: 'the connection broke before an answer came',
  InvalidACL: 'the ACL is empty, or names a scheme or id the server does not accept',
  NoAuth: "the session's identities lack the right",
  NoChildrenForEphemerals: 'an ephemeral node cannot have children',
  NoNode: 'the node, or its parent, does not exist',
  NoWatcher: 'no such watch is set',
  NodeExists: 'a node with this path already exists',
  NotEmpty: 'the node has children; delete them first',
  NotReadOnly: 'the server serves reads only',
  QueueFull:
    'too many calls, or too many bytes, are waiting to be sent (maxWaiting, maxWaitingBytes); this call was not sent: call again later',
  QuotaExceeded: 'a quota above the node is used up',
  RequestTimeout: 'no answer came in time',
  RequestTooLarge:
    'the servers close the connection when they get a request this long; raise their jute.maxbuffer, or store less in one node; ' +
    'set maxRequestSize to their limit to have such a request refused before it is sent',
  ResponseTooLarge: 'the reply is over maxResponseSize; raise it, or keep fewer children or bytes in the node',
  SessionClosedRequireSaslAuth:
    'the server accepts requests only from clients that have proved their identity, by SASL or by another scheme of its ' +
    'enforce.auth.schemes; give connect the option sasl or auth',
  SessionExpired:
    'the session is over: its ephemeral nodes are gone, or will be within a session timeout, and so are its watches; ' +
    'calls go to the next session',
  ThrottledOp: 'the server is overloaded and did not execute it; try again later',
  Unimplemented: 'this server does not know the operation',
}
