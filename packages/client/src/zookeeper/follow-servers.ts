// Keeps a client's list of servers equal to the ensemble's own configuration.
import type { ServerAddress } from '@zk/wire'
import { onAbort } from '../base/aborts.ts'
import { pause } from '../runtime/pause.ts'
import type { ClientAddress, EnsembleConfig, ServerConfig } from '../operations/ensemble-config.ts'
import { atCaller, KeeperError } from '../base/errors.ts'
import { type CallOptions, checkCallOptions } from '../operations/call-options.ts'
import type { SessionChain } from './session-chain.ts'
import { CONFIG_NODE, type NodeConfig } from '../operations/config.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Session } from '../operations/session.ts'
import type { Watched } from './call-watcher.ts'

/** The pause before a failed read of the configuration is repeated, in ms. */
const RETRY_PAUSE = 1_000

const followOptions = ['signal']

/** The part of the client that is used here. */
interface ConfiguredClient {
  readonly session: Session
  readonly runtime: Runtime
  getConfigAndWatch(options?: CallOptions): Promise<NodeConfig & Watched>
}

interface Follower {
  /** Whether the client uses TLS. */
  readonly isSecure: boolean
  update(servers: readonly ServerAddress[]): void
  /** Called with the reason if servers are left out, or if a later configuration has no usable server. */
  ignored(why: string): void
  /** Called with the error if the list is no longer kept up to date. */
  gaveUp(why: unknown): void
}

/** What `ZooKeeper.followServers` does. */
export async function followServers(
  client: ConfiguredClient,
  sessions: SessionChain,
  options: Pick<CallOptions, 'signal'>,
): Promise<void> {
  checkCallOptions('followServers', options, followOptions, '{ signal }')
  const { signal } = options
  const follower: Follower = {
    isSecure: sessions.isSecure,
    update: (servers) => sessions.updateServers(servers, 'ensemble'),
    ignored: (why) => sessions.report({ type: 'serversIgnored', why }),
    gaveUp: (why) => {
      sessions.report({ type: 'anomaly', what: `the client no longer follows /zookeeper/config: ${String(why)}` })
    },
  }
  try {
    await follow(client, follower, signal)
  } catch (error) {
    throw atCaller(error, signal)
  }
}

/**
 * Sets the list now and at each change, until the signal aborts or the client ends. Resolves after the first time. Rejects if
 * the first read fails, or if no server has an address that the client can use. A later configuration without such addresses
 * is ignored.
 */
async function follow(client: ConfiguredClient, follower: Follower, signal: AbortSignal | undefined): Promise<void> {
  const first = await client.getConfigAndWatch({ signal })
  const unusable = take(first.config, client, follower)
  if (unusable !== undefined) {
    void first.unwatch().catch(() => {})
    throw new KeeperError('NoUsableServer', { op: 'followServers', path: CONFIG_NODE, needs: unusable })
  }
  void keepFollowing(client, follower, signal, first)
}

/** Sets the list. Returns the reason if the configuration has no usable server. */
function take(config: EnsembleConfig, { session }: ConfiguredClient, follower: Follower): string | undefined {
  const port = Number(session.connection?.server.split(':').at(-1))
  const servers = clientAddresses(config, { isSecure: follower.isSecure, port })
  if (servers.length === 0) return whyUnusable(config, follower.isSecure)
  const { length } = config.servers
  if (servers.length < length) {
    follower.ignored(`${length - servers.length} of ${length} servers have no address that this client can use`)
  }
  follower.update(servers)
  return undefined
}

async function keepFollowing(
  client: ConfiguredClient,
  follower: Follower,
  signal: AbortSignal | undefined,
  first: Watched,
): Promise<void> {
  for (let watched = first; ;) {
    const { changed, unwatch } = watched
    const unlisten = signal === undefined ? () => {} : onAbort(signal, () => void unwatch().catch(() => {}))
    await changed
    unlisten()
    const next = await readAgain(client, follower, signal)
    if (next === undefined) return
    const unusable = take(next.config, client, follower)
    if (unusable !== undefined) follower.ignored(`the list stays as it is: ${unusable}`)
    watched = next
  }
}

/**
 * Reads the configuration, and repeats this after a transient failure. Returns undefined if it gives up, if the signal has
 * aborted, or if the session has ended.
 */
async function readAgain(
  client: ConfiguredClient,
  follower: Follower,
  signal: AbortSignal | undefined,
): Promise<(NodeConfig & Watched) | undefined> {
  for (;;) {
    if (signal?.aborted) return undefined
    try {
      return await client.getConfigAndWatch({ signal })
    } catch (error) {
      if (signal?.aborted || client.session.signal.aborted) return undefined
      if (KeeperError.is(error, 'RequestTimeout', 'SessionExpired', 'ConnectionLoss', 'QueueFull', 'ThrottledOp')) {
        // Ends early if the client ends or the signal aborts.
        await pause(client.runtime, RETRY_PAUSE, client.session.signal, signal)
        continue
      }
      // No call waits for this error, so it is reported. The list stays as it is.
      follower.gaveUp(error)
      return undefined
    }
  }
}

/** The facts by which addresses are chosen. */
interface Connecting {
  /** Whether the client uses TLS. */
  readonly isSecure: boolean
  /** The port to which the client is connected; NaN if it is not. */
  readonly port: number
}

/**
 * The addresses at which servers accept this client. If a server listens on all its addresses, this is the host of its address
 * for other servers. A server without such an address is left out.
 */
export function clientAddresses({ servers }: EnsembleConfig, { isSecure, port }: Connecting): ServerAddress[] {
  // A port may accept both (client.portUnification). The configuration does not show that, but the client uses TLS there.
  const isUnified = servers.some(({ client }) => client?.port === port)
  const addressOf = ({ client, secureClient }: ServerConfig): ClientAddress | undefined => {
    if (!isSecure) return client
    return secureClient ?? (isUnified ? client : undefined)
  }
  return servers.flatMap((server) => {
    const address = addressOf(server)
    if (address === undefined) return []
    const host = isAnyAddress(address.host) ? server.addresses[0]?.host : address.host
    return host === undefined ? [] : [{ host, port: address.port }]
  })
}

const KEEP_YOURSELF = 'or keep the list yourself, with updateServers'

function whyUnusable({ servers }: EnsembleConfig, isSecure: boolean): string {
  if (servers.length === 0) return `it lists no server; this is a standalone server, ${KEEP_YOURSELF}`
  if (isSecure && servers.some(({ client }) => client !== undefined)) {
    return (
      'it lists only addresses for plain connections, and this client uses TLS. Up to ZooKeeper 3.9 it has no others: list ' +
      `the TLS addresses in the server lines (server.1=zk1:2888:3888;2181;2281, from 3.10 on), ${KEEP_YOURSELF}`
    )
  }
  if (servers.some(({ secureClient }) => secureClient !== undefined)) {
    return `it lists only addresses for TLS: connect with the option tls, ${KEEP_YOURSELF}`
  }
  return (
    'it lists no address for clients, because clientPort is in the static file of the servers: move the port into the ' +
    `server lines (server.1=zk1:2888:3888;2181), ${KEEP_YOURSELF}`
  )
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]*$/.test(host)
}
