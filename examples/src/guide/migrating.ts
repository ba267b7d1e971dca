// Code of docs/guide/migrating.md.
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { connect, ConnectError, isTransient, KeeperError, type ZooKeeper } from '@zk/recipes'

export { connectAtLast, followConfig, register }

// #region connect
/** Looks for a server until there is one. */
async function connectAtLast(servers: string, signal: AbortSignal): Promise<ZooKeeper> {
  for (;;) {
    try {
      return await connect(servers, { signal })
    } catch (error) {
      if (!ConnectError.is(error)) throw error
      console.warn(error.message)
    }
  }
}
// #endregion

// #region config-watcher
/**
 * Calls `apply` now and after every change, perhaps twice with the same config. It returns when the signal aborts or the
 * client is closed. Servers since 3.6 have the watch.
 */
async function followConfig(zk: ZooKeeper, apply: (config: string | undefined) => void, signal: AbortSignal) {
  for (;;) {
    const events = zk.watch('/config', { signal })
    try {
      await events // Nothing is missed from here on.
      for (;;) {
        apply(await readConfig(zk))
        // A `Gap` is an event, too: what happened while the connection was lost is read.
        const { done, value: event } = await events.next()
        if (done || event.type === 'SessionEnded') return
      }
    } catch (error) {
      if (signal.aborted || KeeperError.is(error, 'Closed')) return
      if (!isTransient(error)) throw error
      // The session expired during the read, or no server answered: watch and read again.
      await pause(500, undefined, { signal }).catch(() => {})
    } finally {
      await events.return()
    }
  }
}

async function readConfig(zk: ZooKeeper): Promise<string | undefined> {
  try {
    const { data } = await zk.getData('/config')
    return new TextDecoder().decode(data)
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return undefined
    throw error
  }
}
// #endregion

// #region register
/**
 * Keeps an ephemeral node in every session, until the signal aborts or the client is closed. `path` is of this process alone.
 * It does not notice when another client deletes the node.
 */
async function register(zk: ZooKeeper, path: string, data: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const { session } = zk
    try {
      await zk.create(path, data, { mode: 'EPHEMERAL', parents: true, session, signal })
    } catch (error) {
      if (signal.aborted || KeeperError.is(error, 'Closed')) return
      if (!KeeperError.is(error, 'NodeExists') && !isTransient(error)) throw error
      // An attempt whose answer was lost may have made it. A node of the session before is gone soon.
      const found = await zk.exists(path, { session, signal }).catch(() => undefined)
      if (found?.ephemeralOwner !== session.id) {
        await pause(500, undefined, { signal }).catch(() => {})
        continue
      }
    }
    if (!session.signal.aborted) await once(session.signal, 'abort', { signal }).catch(() => {})
  }
}
// #endregion
