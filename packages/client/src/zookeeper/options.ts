import { JUTE_MAXBUFFER, type ServerAddress } from '@zk/wire'
import { checkBoolean, checkKeys, checkSignal, isBytes, shown } from '../base/arguments.ts'
import { checkLogger, type Logger } from '../telemetry/logger.ts'
import type { Runtime } from '../runtime/runtime.ts'
import { systemRuntime } from '../runtime/system-runtime.ts'
import { checkMechanism, type SaslMechanism } from '../sasl/mechanism.ts'
import type { SessionCredentials } from '../session/protocol/detached-session.ts'
import type { HostProvider } from '../session/servers/static-host-provider.ts'
import { checkTlsSource, type TlsSource } from '../runtime/tls.ts'

/** A credential for every connection: `{ scheme: 'digest', auth: 'user:password' }`. */
export interface AuthInfo {
  /** The scheme, such as `digest`. If a server does not know it, the client ends with `AuthFailed`. */
  readonly scheme: string
  /** The credential of the scheme. Text is encoded as UTF-8. It is a secret: no error and no diagnostics channel shows it. */
  readonly auth: Uint8Array | string
}

/**
 * The options of `connect`, which rejects with a `TypeError` or `RangeError` for an unknown option or an invalid value. An
 * option that is undefined has its default.
 */
export interface ConnectOptions {
  /**
   * The session timeout T to request, in ms, at least 1. A server grants 2 to 20 of its ticks by default. If T is below about
   * 8_000, held locks are lost whenever the leader of the ensemble changes.
   * @default 12_000
   */
  sessionTimeout?: number | undefined
  /** How long `connect` tries to reach a server, in ms, at least 1. @default 10_000 */
  connectTimeout?: number | undefined
  /** Credentials that are sent first on every connection. @default none */
  auth?: readonly AuthInfo[] | undefined
  /**
   * TLS with the servers: `true`, the options of `node:tls` (`ca`, `cert`, `key` …), or a function, sync or async, that
   * returns one of these for each connection. The certificate of a server must be valid for its host name or address. An object
   * is read again for each connection, so it must stay as it is.
   * @default plain TCP
   */
  tls?: TlsSource | undefined
  /**
   * The SASL mechanism that proves the client's identity on every connection, before anything else:
   * `digestMd5({ username, password })`, or a mechanism of your own. If a server refuses, the client ends with `AuthFailed`.
   * @default none
   */
  sasl?: SaslMechanism | undefined
  /** Whether the client opens a new session if one has expired. @default true */
  renewSession?: boolean | undefined
  /**
   * Whether the client may use a server without a quorum, which serves reads only, until it finds one that accepts writes.
   * Meanwhile `zk.session.connection.readOnly` is true. @default false
   */
  readOnly?: boolean | undefined
  /** A session to resume: the result of `zk.detach()`. @default none, a new session */
  session?: SessionCredentials | undefined
  /**
   * Receives lines about sessions and connections, at four levels: `console`, a logger of pino or winston, or a function.
   * @default silent
   */
  logger?: Logger | undefined
  /** If it aborts before `connect` has resolved, `connect` rejects with the reason of the signal. */
  signal?: AbortSignal | undefined
  /** Clock, timers, random numbers and sockets. @default systemRuntime */
  runtime?: Runtime | undefined
  /** Limits of size and number, the choice of the next server, traces of frames. */
  advanced?: AdvancedOptions | undefined
}

/** The options of `connect` that few programs need. */
export interface AdvancedOptions {
  /**
   * The session counts as expired after this time without a byte from a server, in ms. A time below the negotiated session
   * timeout counts as that timeout.
   * @default 4/3 of the negotiated session timeout
   */
  localExpiry?: number | undefined
  /**
   * Makes the provider that chooses the next server. Called once, with the servers of the connect string. `random` is the runtime's: if a
   * provider uses no other random numbers, a seed determines its choices.
   * @default all servers in turn, in a random order
   */
  hostProvider?: ((servers: readonly ServerAddress[], random: () => number) => HostProvider) | undefined
  /**
   * The longest request, in bytes. If a request is longer than its jute.maxbuffer, a server closes the connection.
   * @default 1_048_575
   */
  maxRequestSize?: number | undefined
  /** The longest reply, in bytes. @default 4 MiB */
  maxResponseSize?: number | undefined
  /**
   * How many calls may wait to be sent, at least 1. Calls wait while there is no connection, or while too many are in flight.
   * A further call rejects at once with `QueueFull`.
   * @default 65_536
   */
  maxWaiting?: number | undefined
  /** How many bytes all waiting calls may have, at least 1,024. A call that waits alone may have more. @default 64 MiB */
  maxWaitingBytes?: number | undefined
  /**
   * How many calls may be sent and not yet answered, at least 1. Further calls wait. A server accepts 1,000 such requests of
   * all its clients before it stops reading (zookeeper.globalOutstandingLimit).
   * @default 1_000
   */
  maxInFlight?: number | undefined
  /**
   * How many bytes all calls in flight may have, at least 1,024. A call that is alone in flight may have more. @default 16 MiB
   */
  maxInFlightBytes?: number | undefined
  /**
   * The name of the client on its diagnostics channels, and in metrics and traces that are made from them. Give the clients of a
   * process different names, and no more names than a metric may have series.
   * @default the connect string
   */
  name?: string | undefined
  /** Whether each frame of a connection is published on the diagnostics channel `zk:frame`. @default false */
  traceFrames?: boolean | undefined
}

type AllOptions = Omit<ConnectOptions, 'advanced'> & AdvancedOptions

/** The options that are not undefined. */
type Given = { readonly [Name in keyof AllOptions]?: Exclude<AllOptions[Name], undefined> }

/** All options in one object, with their defaults. */
export type ClientOptions = Required<Omit<Given, 'signal' | WithoutDefault>> &
  Readonly<Pick<AllOptions, WithoutDefault>>

const defaults = {
  /**
   * The locks of a crashed process are free again after this time. A holder keeps its lock through an outage of a fifth of it: an
   * election of the ensemble takes less.
   */
  sessionTimeout: 12_000,
  /** A wrong address is reported soon. A server that starts at the same time as this program may need longer. */
  connectTimeout: 10_000,
  auth: [],
  renewSession: true,
  readOnly: false,
  runtime: systemRuntime,
} satisfies ConnectOptions

const advancedDefaults = {
  maxRequestSize: JUTE_MAXBUFFER,
  maxResponseSize: 4 * 1024 * 1024,
  maxWaiting: 65_536,
  maxWaitingBytes: 64 * 1024 * 1024,
  maxInFlight: 1_000,
  maxInFlightBytes: 16 * 1024 * 1024,
  traceFrames: false,
} satisfies AdvancedOptions

const withoutDefault = ['tls', 'sasl', 'session', 'logger'] as const
const advancedWithoutDefault = ['hostProvider', 'localExpiry', 'name'] as const
type WithoutDefault = (typeof withoutDefault)[number] | (typeof advancedWithoutDefault)[number]

const known = ['signal', 'advanced', ...withoutDefault, ...Object.keys(defaults)]
const knownAdvanced = [...advancedWithoutDefault, ...Object.keys(advancedDefaults)]
const counts = ['sessionTimeout', 'connectTimeout', 'maxWaiting', 'maxInFlight'] as const
const sizes = ['maxRequestSize', 'maxResponseSize', 'maxWaitingBytes', 'maxInFlightBytes'] as const

/** Fills in defaults. Throws a `TypeError` or `RangeError` that names the option and what would be right. */
export function checkOptions(options: ConnectOptions): ClientOptions {
  const misplaced = knownAdvanced.find((name) => Object.hasOwn(Object(options), name))
  if (misplaced !== undefined) {
    throw new TypeError(`connect: the option ${misplaced} is one of advanced: { advanced: { ${misplaced}: … } }`)
  }
  checkKeys('connect', options, known, '{ sessionTimeout: 10_000 }')
  const { advanced = {}, ...top } = options
  checkKeys('connect: advanced', advanced, knownAdvanced, '{ maxWaiting: 1_000 }')
  const given: Given = Object.fromEntries(
    Object.entries({ ...top, ...advanced }).filter(([, value]) => value !== undefined),
  )
  const { signal, ...filled } = {
    ...defaults,
    ...advancedDefaults,
    ...given,
  }
  const { runtime } = filled
  for (const name of counts) checkInteger(name, filled[name], 1)
  for (const name of sizes) checkInteger(name, filled[name], 1_024)
  if (filled.localExpiry !== undefined) checkInteger('localExpiry', filled.localExpiry, 1)
  if (!Array.isArray(filled.auth)) throw new TypeError('auth must be a list of { scheme, auth }')
  for (const entry of filled.auth as readonly (AuthInfo | undefined)[]) checkAuth(entry?.scheme, entry?.auth)
  if (filled.name !== undefined && (typeof filled.name !== 'string' || filled.name === '')) {
    throw new TypeError(`name must be a text that is not empty, not ${shown(filled.name)}`)
  }
  checkTlsSource(filled.tls)
  checkMechanism(filled.sasl)
  for (const name of ['renewSession', 'readOnly', 'traceFrames'] as const) checkBoolean(name, filled[name])
  if (filled.logger !== undefined) checkLogger(filled.logger)
  if (filled.session !== undefined) checkSession(filled.session)
  if (filled.hostProvider !== undefined && typeof filled.hostProvider !== 'function') {
    throw new TypeError('hostProvider must be a function that makes a HostProvider')
  }
  checkSignal(signal)
  const needed = Object.keys(systemRuntime).filter((name) => name !== 'resolve')
  const missing = needed.filter((name) => typeof runtime?.[name as keyof Runtime] !== 'function')
  if (missing.length > 0) throw new TypeError(`runtime must be a Runtime; it has no ${missing.join(', ')}`)
  return filled
}

/** Its JSON, and copies of its fields, lack the password. */
const WHAT_DETACH_GAVE = 'the result of zk.detach(), or of parseDetachedSession'

function checkSession(session: Partial<SessionCredentials> | null): void {
  if (typeof session?.id !== 'bigint' || session.id === 0n) {
    throw new TypeError(`session.id must be a bigint, and not 0: ${WHAT_DETACH_GAVE}`)
  }
  if (BigInt.asIntN(64, session.id) !== session.id) {
    throw new RangeError(`session.id must be a signed number of 64 bits, not ${session.id}; see BigInt.asIntN`)
  }
  // The content is a secret, so the message does not show it.
  if (!isBytes(session.passwd)) throw new TypeError(`session.passwd must be a Uint8Array: ${WHAT_DETACH_GAVE}`)
  const { lastZxid = 0n } = session
  if (typeof lastZxid !== 'bigint') throw new TypeError(`session.lastZxid must be a bigint: ${WHAT_DETACH_GAVE}`)
  if (lastZxid < 0n || BigInt.asIntN(64, lastZxid) !== lastZxid) {
    throw new RangeError(`session.lastZxid must be a number of 63 bits, at least 0, not ${lastZxid}`)
  }
  checkInteger('session.shortestTimeout', session.shortestTimeout ?? 0, 0)
  checkInteger('session.lastXid', session.lastXid ?? 0, 0)
}

/**
 * Checks the result of the option `hostProvider`. It is checked now, because later an error in a timer would reach no caller.
 */
export function checkHostProvider(made: HostProvider): HostProvider {
  const missing = (['next', 'connected', 'update'] as const).filter((name) => typeof made?.[name] !== 'function')
  if (missing.length > 0) throw new TypeError(`hostProvider made no HostProvider: it has no ${missing.join(', ')}`)
  if (Number.isInteger(made.size) && made.size >= 1) return made
  throw new RangeError(`hostProvider: size must be an integer, at least 1, not ${String(made.size)}`)
}

export function checkAuth(scheme: unknown, auth: unknown): void {
  if (typeof scheme !== 'string' || scheme === '') throw new TypeError("auth: scheme must be a name such as 'digest'")
  // The content is a secret, so the message does not show it.
  if (typeof auth !== 'string' && !isBytes(auth)) throw new TypeError('auth must be a string or a Uint8Array')
}

const LARGEST_INT = 2 ** 31 - 1

function checkInteger(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least && value <= LARGEST_INT) return
  throw new RangeError(`${name} must be an integer from ${least} to ${LARGEST_INT}, not ${shown(value)}`)
}
