// Code of the README of @zk/client.
import type { ZooKeeper } from '@zk/recipes'

export { logStates }

// #region follow
/** Returns when the client is closed. */
async function logStates(zk: ZooKeeper): Promise<void> {
  for await (const state of zk.watchState()) {
    if (state.name === 'disconnected') console.warn(`no server: ${state.error.message}`)
    else console.info(state.name)
  }
}
// #endregion
