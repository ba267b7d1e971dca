// Code of docs/guide/errors.md.
import { KeeperError, type ZooKeeper } from '@zk/recipes'

export { createOnce, readOrDefault }

// #region read-or-default
async function readOrDefault(zk: ZooKeeper, path: string): Promise<string> {
  try {
    const { data } = await zk.getData(path)
    return new TextDecoder().decode(data)
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return 'the default'
    throw error
  }
}
// #endregion

// #region create-once
/** Creates the node, or finds that an earlier attempt has made it. `data` is of this program alone, such as a uuid. */
async function createOnce(zk: ZooKeeper, path: string, data: string): Promise<void> {
  let mayBeOurs = false
  for (;;) {
    try {
      await zk.create(path, data)
      return
    } catch (error) {
      if (!KeeperError.is(error)) throw error
      if (error.code === 'NodeExists' && mayBeOurs) {
        const found = await zk.getData(path)
        if (new TextDecoder().decode(found.data) === data) return
      }
      const canRepeat = error.outcomeUnknown || error.code === 'ConnectionLoss'
      if (!canRepeat) throw error
      mayBeOurs ||= error.outcomeUnknown
    }
  }
}
// #endregion
