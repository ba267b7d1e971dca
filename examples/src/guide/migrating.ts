// Code of docs/guide/migrating.md.
import type { ZooKeeper } from '@zk/recipes'

export { followConfig }

// #region config-watcher
/** Calls `apply` with what the node holds, now and after every change, until the signal aborts. */
async function followConfig(zk: ZooKeeper, apply: (config: string) => void, signal: AbortSignal): Promise<void> {
  const events = await zk.watch('/config', { signal })
  do {
    const { data } = await zk.getData('/config')
    apply(new TextDecoder().decode(data))
    // The next event. A `Gap` is one: what happened meanwhile is read.
  } while (!(await events.next()).done)
}
// #endregion
