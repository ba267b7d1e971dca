// Keeps a client's list of servers equal to the ensemble's own configuration.
import type { ServerAddress } from '@zk/wire'
import { onAbort, pause } from '../aborts.ts'
import type { EnsembleConfig } from './ensemble-config.ts'
import { KeeperError } from '../errors.ts'
import type { CallOptions } from '../call-options.ts'
import type { NodeConfig } from '../operations/config.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Session } from '../session.ts'
import type { Watched } from '../caller-watches/call-watcher.ts'

/** The pause before a failed read of the configuration is repeated, in ms. */
const RETRY_PAUSE = 1_000

/** The part of the client that is used here. */
interface ConfiguredClient {
  readonly session: Session
  readonly runtime: Runtime
  getConfigAndWatch(options?: CallOptions): Promise<NodeConfig & Watched>
}

interface Follower {
  update(servers: readonly ServerAddress[]): void
  /** Called with the error if the list is no longer kept up to date. */
  gaveUp(why: unknown): void
}

/**
 * Sets the list now and at each change, until the signal aborts or the client ends. Resolves after the first time. Rejects if
 * the first read fails, or if it has no address for clients. A later configuration without such addresses is ignored.
 */
export async function followServers(
  client: ConfiguredClient,
  follower: Follower,
  signal: AbortSignal | undefined,
): Promise<void> {
  const first = await client.getConfigAndWatch({ signal })
  const servers = clientAddresses(first.config)
  if (servers.length === 0) {
    void first.unwatch().catch(() => {})
    throw new Error('/zookeeper/config has no server with an address for clients')
  }
  follower.update(servers)
  void keepFollowing(client, follower, signal, first)
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
    const servers = clientAddresses(next.config)
    if (servers.length > 0) follower.update(servers)
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

/**
 * The addresses at which servers accept clients. If a server listens at all its addresses, the host of its address for other
 * servers is taken. A server without an address for clients is left out.
 */
export function clientAddresses({ servers }: EnsembleConfig): ServerAddress[] {
  return servers.flatMap(({ addresses: [first], client }) => {
    if (client === undefined) return []
    const host = isAnyAddress(client.host) ? first?.host : client.host
    return host === undefined ? [] : [{ host, port: client.port }]
  })
}

function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]*$/.test(host)
}
