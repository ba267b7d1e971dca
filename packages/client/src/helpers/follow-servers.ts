// Keeps a client's list of servers as the ensemble's own configuration has it.
import type { ServerAddress } from '@zk/wire'
import { onAbort } from '../aborts.ts'
import type { EnsembleConfig } from './ensemble-config.ts'
import { KeeperError } from '../errors.ts'
import type { CallOptions } from '../call-options.ts'
import type { NodeConfig } from '../operations/config.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { Session } from '../session.ts'
import type { Watched } from '../watches/watcher.ts'

/** Before the configuration is read again that could not be read, in ms. */
const RETRY_PAUSE = 1_000

/** What is needed of the client. */
interface ConfiguredClient {
  readonly session: Session
  readonly runtime: Runtime
  getConfigAndWatch(options?: CallOptions): Promise<NodeConfig & Watched>
}

interface Follower {
  update(servers: readonly ServerAddress[]): void
  /** Called with the reason when following ends because of an error. */
  gaveUp(why: unknown): void
}

/** Resolves when the list was taken over for the first time, and goes on until the signal aborts or the client ends. */
export async function followServers(
  client: ConfiguredClient,
  follower: Follower,
  signal: AbortSignal | undefined,
): Promise<void> {
  const first = await client.getConfigAndWatch({ signal })
  const servers = clientAddresses(first.config)
  if (servers.length === 0) {
    void first.unwatch().catch(() => {})
    throw new Error('/zookeeper/config does not say where any server takes clients')
  }
  follower.update(servers)
  void goOn(client, follower, signal, first)
}

async function goOn(
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

/** Undefined where it is over. */
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
        await pause(client, signal)
        continue
      }
      // No call waits for it: the list stays as it is.
      follower.gaveUp(error)
      return undefined
    }
  }
}

/** Ends early where it is over. */
function pause({ runtime, session }: ConfiguredClient, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const signals = signal === undefined ? [session.signal] : [session.signal, signal]
    if (signals.some(({ aborted }) => aborted)) return resolve()
    const unlisten = signals.map((each) => onAbort(each, done))
    const cancel = runtime.setTimer(RETRY_PAUSE, done)
    function done(): void {
      cancel()
      for (const stop of unlisten) stop()
      resolve()
    }
  })
}

/**
 * Where clients find the servers. One that takes them at all its addresses is known by that for its peers; one that does
 * not say where is left out.
 */
export function clientAddresses({ servers }: EnsembleConfig): ServerAddress[] {
  return servers.flatMap(({ addresses: [first], client }) => {
    if (client === undefined) return []
    const host = isAny(client.host) ? first?.host : client.host
    return host === undefined ? [] : [{ host, port: client.port }]
  })
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || /^[0:]*$/.test(host)
}
