// The client that the options of a command describe.
import { readFileSync } from 'node:fs'
import { connect, type ZooKeeper } from '@zk/client'
import { type ConnectString, parseConnectString } from '@zk/wire'
import { type Arguments, UsageError } from './options.ts'

const SERVERS_WANTED = "name the servers with -c, such as '-c zk1:2181,zk2:2181', or in ZK_CONNECT"

export type Environment = Readonly<Record<string, string | undefined>>

/** What a command asks for besides the options of the user. */
export interface ClientOptions {
  /** A connect string, in place of that of the user. */
  readonly servers?: string
  readonly readOnly?: boolean
}

/** The servers and the chroot of the user. Throws a UsageError. */
export function serversOf(args: Arguments, environment: Environment): ConnectString {
  try {
    return parseConnectString(connectStringOf(args, environment))
  } catch (error) {
    throw error instanceof TypeError ? new UsageError(error.message) : error
  }
}

function connectStringOf(args: Arguments, environment: Environment): string {
  const servers = args.text('connect') ?? environment['ZK_CONNECT'] ?? ''
  if (servers === '') throw new UsageError(SERVERS_WANTED)
  return servers
}

/** Rejects with a UsageError, or as `connect` does. */
export async function connectWith(
  args: Arguments,
  environment: Environment,
  signal: AbortSignal | undefined,
  { servers = connectStringOf(args, environment), readOnly = false }: ClientOptions = {},
): Promise<ZooKeeper> {
  const credentials = credentialsOf(args, environment)
  const sessionTimeout = args.duration('session-timeout')
  try {
    return await connect(servers, {
      connectTimeout: args.duration('timeout') ?? 5_000,
      ...(readOnly ? { readOnly } : {}),
      ...(sessionTimeout === undefined ? {} : { sessionTimeout }),
      ...(credentials === undefined ? {} : { auth: [{ scheme: 'digest', auth: credentials }] }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) throw new UsageError(error.message)
    throw error
  }
}

/** Passwords are never on a command line: every user of the machine sees it. */
function credentialsOf(args: Arguments, environment: Environment): string | undefined {
  const file = args.text('auth-file') ?? environment['ZK_AUTH_FILE']
  const text = file === undefined ? environment['ZK_AUTH'] : contentOf(file)
  const credentials = text?.replace(/\r?\n$/, '')
  if (credentials === undefined || credentials === '') return undefined
  if (!/^[^:]+:./.test(credentials)) {
    throw new UsageError(`${file ?? 'ZK_AUTH'} must be USER:PASSWORD, the credentials of the scheme digest`)
  }
  return credentials
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/** Calls `body` with a client, which is closed however it ends. */
export async function withClient(args: Arguments, body: (zk: ZooKeeper) => Promise<number>): Promise<number> {
  const zk = await connectWith(args, process.env, undefined)
  try {
    return await body(zk)
  } finally {
    await zk.close()
  }
}
