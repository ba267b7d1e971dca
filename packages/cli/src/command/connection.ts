// The client that the options of a command describe.
import { type AuthInfo, connect, type ConnectOptions, type DialTarget, digestMd5, type ZooKeeper } from '@zk/client'
import { parseConnectString } from '@zk/wire'
import { credentialsIn, tlsOf } from './credentials.ts'
import { type Arguments, durationOf, UsageError } from './options.ts'
import { type Environment, type Setting, type Settings, settingsOf } from './settings.ts'

const SERVERS_WANTED = "name the servers with -c, such as '-c zk1:2181,zk2:2181', in ZK_CONNECT, or by a profile"

/** How each option of `connect` comes from the settings. */
const FROM_SETTINGS: { readonly [Name in keyof ConnectOptions]: (settings: Settings) => ConnectOptions[Name] } = {
  connectTimeout: (settings) => timeIn(settings, 'timeout') ?? 5_000,
  sessionTimeout: (settings) => timeIn(settings, 'session-timeout'),
  auth: (settings) => settings.get('auth-file') && digests(settings.get('auth-file')!),
  sasl: (settings) => settings.get('sasl-file') && digestMd5(userIn(settings.get('sasl-file')!)),
  tls: tlsOf,
}

/** In bytes: the names of three million children. No server limits its replies. */
const LONGEST_REPLY = 128 * 1024 * 1024

/** Gives the client of a shell; rejects when the signal aborts. */
export type Lender = (signal: AbortSignal | undefined) => Promise<ZooKeeper>

/** By the arguments of a command that runs in the shell. */
const lenders = new WeakMap<Arguments, Lender>()

/** From now on `connectWith` gives a view of this client for these arguments: closing a view does nothing. */
export function lend(lender: Lender, args: Arguments): void {
  lenders.set(args, lender)
}

/** What a command asks for besides the options of the user. It then has a session of its own, also in a shell. */
export interface ClientOptions {
  /** A connect string, in place of that of the user. */
  readonly servers?: string
  readonly readOnly?: boolean
}

/** The servers of the user, as they are reached, and the chroot. Throws a UsageError. */
export function serversOf(
  args: Arguments,
  environment: Environment,
): { readonly servers: readonly DialTarget[]; readonly chroot: string } {
  try {
    const settings = settingsOf(args, environment)
    const { servers, chroot } = parseConnectString(connectStringIn(settings))
    const tls = tlsOf(settings)?.()
    return { servers: servers.map((server) => ({ ...server, tls })), chroot }
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

/** How long to wait for a server, in ms; undefined if the user does not say. Throws a UsageError. */
export function timeoutOf(args: Arguments, environment: Environment): number | undefined {
  return timeIn(settingsOf(args, environment), 'timeout')
}

/** Rejects with a UsageError, or as `connect` does. */
export async function connectWith(
  args: Arguments,
  environment: Environment,
  signal: AbortSignal | undefined,
  own?: ClientOptions,
): Promise<ZooKeeper> {
  const lender = own === undefined ? lenders.get(args) : undefined
  if (lender !== undefined) return (await lender(signal)).withChroot('/')
  const settings = settingsOf(args, environment)
  const { servers = connectStringIn(settings), readOnly } = own ?? {}
  const options = Object.entries(FROM_SETTINGS).map(([name, from]) => [name, from(settings)])
  try {
    const advanced = { maxResponseSize: LONGEST_REPLY }
    return await connect(servers, { ...Object.fromEntries(options), advanced, readOnly, signal })
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new UsageError(error.message)
    throw error
  }
}

/** Calls `body` with a client, which is closed however it ends. */
export async function withClient(
  args: Arguments,
  body: (zk: ZooKeeper) => Promise<number>,
  signal?: AbortSignal,
): Promise<number> {
  const zk = await connectWith(args, process.env, signal)
  try {
    return await body(zk)
  } finally {
    await zk.close()
  }
}

function connectStringIn(settings: Settings): string {
  const [servers] = settings.get('connect')?.values ?? []
  if (servers === undefined) throw new UsageError(SERVERS_WANTED)
  return servers
}

function timeIn(settings: Settings, name: string): number | undefined {
  const setting = settings.get(name)
  if (setting === undefined) return undefined
  const time = durationOf(setting.source, setting.values[0]!)
  if (time < 1) throw new UsageError(`${setting.source} must be at least 1ms`)
  return time
}

function digests(setting: Setting): AuthInfo[] {
  return setting.values.map((value) => ({ scheme: 'digest', auth: credentialsIn(setting, value).join(':') }))
}

function userIn(setting: Setting): { username: string; password: string } {
  const [username, password] = credentialsIn(setting, setting.values[0]!)
  return { username, password }
}
