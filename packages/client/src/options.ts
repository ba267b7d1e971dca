import { JUTE_MAXBUFFER, type ServerAddress } from '@zk/wire'
import { checkKeys } from './operations/arguments.ts'
import { checkLogger, type Logger, silentLogger } from './telemetry/logger.ts'
import type { CallOptions } from './call-options.ts'
import type { Runtime } from './runtime/runtime.ts'
import { systemRuntime } from './runtime/system.ts'
import { checkMechanism, type SaslMechanism } from './sasl/mechanism.ts'
import { LOCAL_EXPIRY } from './session/protocol/deadlines.ts'
import type { SessionCredentials } from './session/protocol/detached-session.ts'
import type { HostProvider } from './session/servers/static-host-provider.ts'
import { checkTlsSource, type TlsSource } from './runtime/tls.ts'

/** A credential for every connection: `{ scheme: 'digest', auth: 'user:password' }`. */
export interface AuthInfo {
  /** Such as `digest`; `AuthFailed` ends the client where the servers do not know it. */
  readonly scheme: string
  /** What the scheme takes; text goes as UTF-8. A secret: it is in no error and on no diagnostics channel. */
  readonly auth: Uint8Array | string
}

/**
 * How `connect` finds a server, and what its client does. `connect` rejects with a `TypeError` or `RangeError` for an option that
 * it does not know or whose value cannot be right; undefined stands for the default.
 */
export interface ConnectOptions {
  /**
   * Session timeout T to ask for, in ms, at least 1; the server brings it between 2 and 20 of its ticks. Below about 8 s
   * every change of the ensemble's leader costs held locks.
   * @default 30_000
   */
  sessionTimeout?: number | undefined
  /** How long `connect` looks for a first server, in ms, at least 1. @default sessionTimeout */
  connectTimeout?: number | undefined
  /** Sent first on every connection. @default none */
  auth?: readonly AuthInfo[] | undefined
  /**
   * Speak TLS with the servers: `true`, what `node:tls` takes (`ca`, `cert`, `key` …), or a function, sync or async, that
   * gives these at each connection anew. The certificate must be for the host's name or address. @default plain TCP
   */
  tls?: TlsSource | undefined
  /**
   * Prove the client's identity by SASL, on every connection before anything else: `digestMd5({ username, password })`, or a
   * mechanism of your own. A refusal ends the client with `AuthFailed`. @default none
   */
  sasl?: SaslMechanism | undefined
  /** Open a new session by itself when one has expired. @default true */
  renewSession?: boolean | undefined
  /** After how many T without a word from any server the session counts as expired; at least 1. @default 4/3 */
  localExpiry?: number | undefined
  /**
   * Longest request sent, in bytes. Servers close the connection at one over their jute.maxbuffer, without an answer.
   * @default 1_048_575
   */
  maxRequestSize?: number | undefined
  /** Longest reply taken, in bytes. @default 4 MiB */
  maxResponseSize?: number | undefined
  /**
   * Whether a server without a quorum will do, for reads, until a server is found that takes writes. Then
   * `zk.session.connection.readOnly` is true. @default false
   */
  readOnly?: boolean | undefined
  /** A session to go on with in place of a new one: what `zk.detach()` gave. @default none */
  session?: SessionCredentials | undefined
  /** Which server is next: called once, with the servers of the connect string. @default rounds in a random order */
  hostProvider?: MakeHostProvider | undefined
  /**
   * Calls that may wait to be sent, at least 1: while there is no connection, or so many are in flight. A call beyond rejects
   * at once with `QueueFull`.
   * @default 65_536
   */
  maxWaiting?: number | undefined
  /** Bytes of them, at least 1,024; one call always has room. @default 64 MiB */
  maxWaitingBytes?: number | undefined
  /**
   * Calls that may be sent and not answered, at least 1; those beyond wait their turn. A server takes 1,000 of all its clients
   * before it stops reading (zookeeper.globalOutstandingLimit).
   * @default 1_000
   */
  maxInFlight?: number | undefined
  /** Bytes of them, at least 1,024; one call always has room. @default 16 MiB */
  maxInFlightBytes?: number | undefined
  /** Told what happens to sessions and connections, on four levels. It may throw. @default silent */
  logger?: Logger | undefined
  /** Cut the bytes of connections into frames for the diagnostics channel `zk:frame`. @default false */
  traceFrames?: boolean | undefined
  /** Ends `connect`, which then rejects with its reason. */
  signal?: AbortSignal | undefined
  /** Clock, timers, randomness and sockets. @default systemRuntime */
  runtime?: Runtime | undefined
}

/** Options as they are once undefined has been left out. */
type Given = { readonly [Name in keyof ConnectOptions]?: Exclude<ConnectOptions[Name], undefined> }

type WithoutDefault = 'tls' | 'sasl' | 'session' | 'hostProvider'

export type ClientOptions = Required<Omit<Given, 'signal' | WithoutDefault>> &
  Readonly<Pick<ConnectOptions, WithoutDefault>>

/**
 * Makes what chooses servers, from those of the connect string. `random` is that of the runtime: a provider that draws from it alone can be
 * played again from a seed.
 */
export type MakeHostProvider = (servers: readonly ServerAddress[], random: () => number) => HostProvider

const defaults = {
  sessionTimeout: 30_000,
  auth: [],
  renewSession: true,
  readOnly: false,
  session: undefined,
  hostProvider: undefined,
  localExpiry: LOCAL_EXPIRY,
  maxRequestSize: JUTE_MAXBUFFER,
  maxResponseSize: 4 * 1024 * 1024,
  maxWaiting: 65_536,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxInFlight: 1_000,
  maxInFlightBytes: 16 * 1024 * 1024,
  logger: silentLogger,
  traceFrames: false,
  runtime: systemRuntime,
} satisfies ConnectOptions

const known = new Set(['connectTimeout', 'signal', 'tls', 'sasl', ...Object.keys(defaults)])
const LARGEST_INT = 2 ** 31 - 1

/** Fills in defaults; throws a `TypeError` or `RangeError` that names the option and what would be right. */
export function checkOptions(options: ConnectOptions): ClientOptions {
  checkKeys('connect', options, known, '{ sessionTimeout: 10_000 }')
  // Plain JavaScript says undefined for what it does not say.
  const given: Given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const { signal, ...filled } = {
    connectTimeout: given.sessionTimeout ?? defaults.sessionTimeout,
    ...defaults,
    ...given,
  }
  const { sessionTimeout, connectTimeout, runtime } = filled
  inRange('sessionTimeout', sessionTimeout, 1, LARGEST_INT)
  inRange('connectTimeout', connectTimeout, 1, LARGEST_INT)
  inRange('maxRequestSize', filled.maxRequestSize, 1_024, LARGEST_INT)
  inRange('maxResponseSize', filled.maxResponseSize, 1_024, LARGEST_INT)
  for (const name of ['maxWaiting', 'maxInFlight'] as const) inRange(name, filled[name], 1, LARGEST_INT)
  for (const name of ['maxWaitingBytes', 'maxInFlightBytes'] as const) inRange(name, filled[name], 1_024, LARGEST_INT)
  if (!(Number.isFinite(filled.localExpiry) && filled.localExpiry >= 1)) {
    throw new RangeError(
      `localExpiry must be a number of session timeouts, at least 1, not ${String(filled.localExpiry)}`,
    )
  }
  if (!Array.isArray(filled.auth)) throw new TypeError('auth must be a list of { scheme, auth }')
  for (const entry of filled.auth as readonly (AuthInfo | undefined)[]) checkAuth(entry?.scheme, entry?.auth)
  checkTlsSource(filled.tls)
  checkMechanism(filled.sasl)
  for (const name of ['renewSession', 'readOnly', 'traceFrames'] as const) {
    if (typeof filled[name] !== 'boolean') throw new TypeError(`${name} must be true or false`)
  }
  checkLogger(filled.logger)
  if (filled.session !== undefined) checkSession(filled.session)
  if (filled.hostProvider !== undefined && typeof filled.hostProvider !== 'function') {
    throw new TypeError('hostProvider must be a function that makes a HostProvider')
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new TypeError('signal must be an AbortSignal')
  }
  const needed = Object.keys(systemRuntime).filter((name) => name !== 'resolve')
  const missing = needed.filter((name) => typeof runtime?.[name as keyof Runtime] !== 'function')
  if (missing.length > 0) throw new TypeError(`runtime must be a Runtime; it has no ${missing.join(', ')}`)
  return filled
}

function checkSession(session: Partial<SessionCredentials> | null): void {
  if (typeof session?.id !== 'bigint' || session.id === 0n) {
    throw new TypeError('session.id must be a bigint, and not 0: what zk.detach() gave')
  }
  if (BigInt.asIntN(64, session.id) !== session.id) {
    throw new RangeError(`session.id must be a signed number of 64 bits, not ${session.id}; see BigInt.asIntN`)
  }
  // What it holds is a secret and stays out of the message.
  if (!(session.passwd instanceof Uint8Array)) throw new TypeError('session.passwd must be a Uint8Array')
  const { lastZxid = 0n } = session
  if (typeof lastZxid !== 'bigint') throw new TypeError('session.lastZxid must be a bigint: what zk.detach() gave')
  if (lastZxid < 0n || BigInt.asIntN(64, lastZxid) !== lastZxid) {
    throw new RangeError(`session.lastZxid must be a number of 63 bits, at least 0, not ${lastZxid}`)
  }
  inRange('session.shortestTimeout', session.shortestTimeout ?? 0, 0, 2 ** 31 - 1)
  inRange('session.lastXid', session.lastXid ?? 0, 0, 2 ** 31 - 1)
}

/** What the option of this name has made. Later, in a timer, an error would reach no caller. */
export function checkHostProvider(made: HostProvider): HostProvider {
  const missing = (['next', 'connected', 'update'] as const).filter((name) => typeof made?.[name] !== 'function')
  if (missing.length > 0) throw new TypeError(`hostProvider made no HostProvider: it has no ${missing.join(', ')}`)
  if (Number.isInteger(made.size) && made.size >= 1) return made
  throw new RangeError(`hostProvider: size must be an integer, at least 1, not ${String(made.size)}`)
}

export function checkAuth(scheme: unknown, auth: unknown): void {
  if (typeof scheme !== 'string' || scheme === '') throw new TypeError("auth: scheme must be a name such as 'digest'")
  // What it holds is a secret and stays out of the message.
  if (typeof auth !== 'string' && !(auth instanceof Uint8Array))
    throw new TypeError('auth must be a string or a Uint8Array')
}

/** The options of every call. */
const everyCall = ['signal', 'timeout', 'repeatThrottled', 'session'] as const satisfies (keyof CallOptions)[]

/** The names of the options of a call that has these besides. */
export const optionNames = (...besides: readonly string[]): ReadonlySet<string> => new Set([...besides, ...everyCall])

const plainCall = optionNames()

/** The options of a call, by its name. Older clients take a version, a callback or a signal in their place. */
export function checkCallOptions(
  name: string,
  options: CallOptions,
  known = plainCall,
  example = '{ timeout: 5_000 }',
): void {
  if (typeof options === 'function') throw new TypeError(`${name} takes no callback: it returns a promise`)
  if (options instanceof AbortSignal) throw new TypeError(`${name}: a signal is given as { signal }`)
  checkKeys(name, options, known, example)
  const { timeout, repeatThrottled, signal } = options
  checkTimeout(timeout)
  if (repeatThrottled !== undefined && typeof repeatThrottled !== 'boolean') {
    throw new TypeError('repeatThrottled must be true or false')
  }
  if (signal !== undefined && typeof signal?.addEventListener !== 'function') {
    throw new TypeError('signal must be an AbortSignal')
  }
}

function checkTimeout(timeout: number | undefined): void {
  if (timeout === undefined || (typeof timeout === 'number' && timeout >= 0)) return
  throw new RangeError(`timeout must be a number of ms, 0 or more, not ${String(timeout)}`)
}

function inRange(name: string, value: number, min: number, max: number): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new RangeError(`${name} must be an integer from ${min} to ${max}, not ${String(value)}`)
}
