import { isTransient, KeeperError, type Runtime, type Session, type ZooKeeper } from '@zk/client'
import { onAbort, wasAborted } from '@zk/client/internal'
import { SessionOptions } from './session-options.ts'

/** The pause before a call is repeated after an overloaded server, a full queue, or a server without a quorum, in ms. */
const RELIEF_PAUSE = 500

/**
 * Options for a call that runs in this session only, and rejects when a busy server has not executed it. This is for calls of
 * one segment, which rely on their order: the client would repeat one after the others. It is also for calls on which a lease
 * depends: while the client repeats a call, all others wait. A missing node is an answer, and is traced without an error.
 */
export function pinnedTo(session: Session): { readonly session: Session; readonly repeatThrottled: false } {
  return SessionOptions.of(session).pinned
}

/**
 * Repeats a call until it succeeds, or fails for a lasting reason. The call must be repeatable. `signal` is that of the call,
 * if it has one.
 */
export async function retry<T>(zk: ZooKeeper, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      if (wasAborted(error, signal)) throw error
      await throwUnlessTransient(zk, error, RELIEF_PAUSE, signal)
    }
  }
}

/**
 * The failures after which a call is repeated only after a pause. A client that accepts a read-only server looks for one that
 * takes writes: an acquire waits for that, as for a connection.
 */
const paused = ['ThrottledOp', 'QueueFull', 'NotReadOnly'] as const

/** Whether the same call may succeed in the same session. */
function mayBeRepeated(error: unknown): boolean {
  return isTransient(error) && !KeeperError.is(error, 'SessionExpired')
}

/** Repeats also in the client's next session, for calls that are not bound to one. */
export async function retryAcrossSessions<T>(zk: ZooKeeper, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await retry(zk, call, signal)
    } catch (error) {
      const hasNextSession = KeeperError.is(error, 'SessionExpired') && !zk.session.signal.aborted
      if (!hasNextSession || wasAborted(error, signal)) throw error
    }
  }
}

/** Rethrows a lasting error. Otherwise it returns. Where a server cannot serve now it first waits one to two `reliefPause`, in ms. */
export async function throwUnlessTransient(
  zk: ZooKeeper,
  error: unknown,
  reliefPause = RELIEF_PAUSE,
  signal?: AbortSignal,
): Promise<void> {
  if (!mayBeRepeated(error)) throw error
  const { runtime, session } = zk
  if (KeeperError.is(error, ...paused))
    await pause(runtime, reliefPause * (1 + runtime.random()), session.signal, signal)
}

/** Waits so long, or until one of the signals aborts: then there is nothing to wait for. */
export function pause(runtime: Runtime, delay: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  return new Promise((resolve) => {
    const unlisten: (() => void)[] = []
    const end = () => {
      cancel()
      for (const each of unlisten) each()
      resolve()
    }
    const cancel = runtime.setTimer(delay, end)
    for (const signal of signals) if (signal !== undefined) unlisten.push(onAbort(signal, end))
  })
}
