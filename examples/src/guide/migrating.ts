// Code of docs/guide/migrating.md.
import { connect, ConnectError, type ZooKeeper } from '@zk/recipes'

export { connectAtLast }

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
