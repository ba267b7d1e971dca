// Code of docs/guide/errors.md.
import { setTimeout as pause } from 'node:timers/promises'
import { isTransient, KeeperError, WaitTimeoutError, ZkError, type ZooKeeper } from '@zk/recipes'

export { createOnce, readOrDefault, untilAnswered, whyNot }

// #region why-not
/** What to tell the user whose call failed. */
function whyNot(error: unknown): string {
  if (WaitTimeoutError.is(error, 'LockHeld')) return `busy: ${error.ahead.length} ahead`
  if (WaitTimeoutError.is(error, 'NameTaken')) return `in use since ${new Date(error.owner.since).toISOString()}`
  if (ZkError.is(error)) return `failed: ${error.code}`
  throw error
}
// #endregion

// #region read-or-default
async function readOrDefault(zk: ZooKeeper, path: string): Promise<string> {
  try {
    const { text } = await zk.getData(path)
    return text
  } catch (error) {
    if (KeeperError.is(error, 'NoNode')) return 'the default'
    throw error
  }
}
// #endregion

// #region until-answered
/** Repeats a read until it has an answer. */
async function untilAnswered<R>(read: () => Promise<R>, signal: AbortSignal): Promise<R> {
  for (;;) {
    try {
      return await read()
    } catch (error) {
      if (!isTransient(error)) throw error
      await pause(500, undefined, { signal })
    }
  }
}
// #endregion

// #region create-once
/** Creates the node, or finds that an earlier attempt has made it. `data` is of this program alone, such as a uuid. */
async function createOnce(zk: ZooKeeper, path: string, data: string, signal: AbortSignal): Promise<void> {
  let mayBeOurs = false
  for (;;) {
    try {
      await zk.create(path, data, { signal })
      return
    } catch (error) {
      if (!KeeperError.is(error)) throw error
      if (error.code === 'NodeExists' && mayBeOurs) {
        const found = await untilAnswered(() => zk.getData(path, { signal }), signal)
        if (found.text === data) return
      }
      const canRepeat = error.outcomeUnknown || isTransient(error)
      if (!canRepeat) throw error
      mayBeOurs ||= error.outcomeUnknown
      await pause(500, undefined, { signal })
    }
  }
}
// #endregion
