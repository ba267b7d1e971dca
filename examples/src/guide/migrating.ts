// Code of docs/guide/migrating.md.
import { connect, ConnectError, type ZooKeeper } from '@zk/recipes'

export { connectWithRetry }

// #region connect
/** Retries until a server answers. */
async function connectWithRetry(servers: string, signal: AbortSignal): Promise<ZooKeeper> {
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
