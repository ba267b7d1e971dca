import { KeeperError, type Runtime, type Session, type ZooKeeper } from '@zk/client'
import { expecting, wasAborted } from '@zk/client/internal'

/** Pause before an overloaded server, a client with too many calls waiting, or a server without a quorum is asked again, in ms. */
const RELIEF_PAUSE = 500

/**
 * Runs in this session only, and rejects when a busy server has not executed it: for calls of one segment, which rely on
 * their order (the client would repeat one behind the others), and where a lease must not wait: while the client repeats a call
 * it holds back all others. A missing node is an answer to each of them: it is traced without an error.
 */
export function pinnedTo(session: Session): { readonly session: Session; readonly repeatThrottled: false } {
  return expecting({ session, repeatThrottled: false }, 'NoNode')
}

/**
 * Calls again what failed for no lasting reason, until it succeeds or fails for one. Each call must be repeatable. `signal` is
 * that of the calls, where they have one.
 */
export async function retry<T>(runtime: Runtime, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (wasAborted(error, signal)) throw error
      await throwUnlessTransient(runtime, error)
    }
  }
}

/**
 * What is asked again after a pause only. A client that agreed to a read-only server looks for one that takes writes:
 * an acquire waits for that, as for a connection.
 */
const paused = ['ThrottledOp', 'QueueFull', 'NotReadOnly'] as const

/** The same call may succeed next time, in the same session. */
function isTransient(error: unknown): boolean {
  return KeeperError.is(error, 'ConnectionLoss', 'RequestTimeout', 'OperationTimeout', ...paused)
}

/** Goes on in the client's next session too: for calls that are not bound to one. */
export async function retryAcrossSessions<T>(zk: ZooKeeper, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await retry(zk.runtime, call, signal)
    } catch (error) {
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && !zk.session.signal.aborted
      if (!hasNextSession || wasAborted(error, signal)) throw error
    }
  }
}

/** Rethrows what will not pass. What will pass it outlasts: a server that cannot serve now gets a pause, in ms up to twice as long. */
export async function throwUnlessTransient(
  runtime: Runtime,
  error: unknown,
  reliefPause = RELIEF_PAUSE,
): Promise<void> {
  if (!isTransient(error)) throw error
  if (KeeperError.is(error, ...paused)) await pause(runtime, reliefPause * (1 + runtime.random()))
}

export function pause(runtime: Runtime, delay: number): Promise<void> {
  return new Promise((resolve) => {
    runtime.setTimer(delay, resolve)
  })
}
