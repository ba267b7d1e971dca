import { KeeperError, type Runtime, type ZooKeeper } from '@zk/client'

/** Pause before an overloaded server is asked again, in ms. */
const THROTTLE_PAUSE = 500

/** Calls again what failed for no lasting reason, until it succeeds or fails for one. Each call must be repeatable. */
export async function persist<T>(runtime: Runtime, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      await endure(runtime, error)
    }
  }
}

/** The same call may succeed next time, in the same session. */
function isTransient(error: unknown): boolean {
  return KeeperError.is(error, 'ConnectionLoss', 'RequestTimeout', 'OperationTimeout', 'ThrottledOp')
}

/** Goes on in the client's next session too: for calls that are not bound to one. */
export async function persistAcrossSessions<T>(zk: ZooKeeper, call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await persist(zk.runtime, call)
    } catch (error) {
      if (!KeeperError.is(error, 'SessionExpired') || zk.session.signal.aborted) throw error
    }
  }
}

/** Rethrows what will not pass; what will, it outlasts: an overloaded server is given a pause, in ms up to twice as long. */
export async function endure(runtime: Runtime, error: unknown, throttlePause = THROTTLE_PAUSE): Promise<void> {
  if (!isTransient(error)) throw error
  if (KeeperError.is(error, 'ThrottledOp')) await pause(runtime, throttlePause * (1 + runtime.random()))
}

export function pause(runtime: Runtime, delay: number): Promise<void> {
  return new Promise((resolve) => {
    runtime.setTimer(delay, resolve)
  })
}
