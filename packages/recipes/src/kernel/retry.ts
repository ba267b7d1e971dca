import { isTransient, KeeperError, type Session, type ZooKeeper } from '@zk/client'
import { pause, wasAborted } from '@zk/client/internal'
import { awaitedLater, settled } from './promises.ts'
import { SessionOptions } from './session-options.ts'
import { inEachSession } from './sessions.ts'

/** How long to wait before a call is repeated that a server could not serve, in ms. */
const BUSY_PAUSE = 500

/**
 * Options for a call that runs in this session only, and that rejects if a busy server has not executed it. Such a call is not
 * repeated by the client. This is needed for calls that rely on their order in one segment, because a repeated call would come
 * after the others. It is also needed for calls of a lease, because all other calls wait while the client repeats one. NoNode
 * is traced without an error.
 */
export function pinnedTo(session: Session): { readonly session: Session; readonly repeatThrottled: false } {
  return SessionOptions.of(session).pinned
}

/**
 * Repeats a call until it succeeds, or until it fails with an error that waiting cannot change. It must be safe to make the
 * call twice. If the call has a signal, pass the signal here, too.
 */
export function retry<T>(zk: ZooKeeper, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  // Not async, since the first call usually succeeds: an async function would take 450 bytes for it.
  return call().catch((failure: unknown) => repeat(zk, call, failure, signal))
}

async function repeat<T>(zk: ZooKeeper, call: () => Promise<T>, failure: unknown, signal?: AbortSignal): Promise<T> {
  for (let error = failure; ;) {
    if (wasAborted(error, signal)) throw error
    await throwUnlessTransient(zk, error, BUSY_PAUSE, signal)
    try {
      return await call()
    } catch (next) {
      error = next
    }
  }
}

/**
 * The codes after which a call is repeated only after a pause. `NotReadOnly` is one of them because a client on a read-only
 * server looks for a server that takes writes: an acquire waits until it is found.
 */
const busyCodes = ['ThrottledOp', 'QueueFull', 'NotReadOnly'] as const

/** Whether the same call may succeed in the same session. */
function mayBeRepeated(error: unknown): boolean {
  return isTransient(error) && !KeeperError.is(error, 'SessionExpired')
}

/** Does the same as `retry`, but continues in the client's next session. The call must not be bound to a session. */
export function retryAcrossSessions<T>(zk: ZooKeeper, call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  return inEachSession(zk, () => retry(zk, call, signal), { signal })
}

/**
 * Throws the error unless the call may succeed when it is repeated. If a server cannot serve the call now (`busyCodes`), this waits
 * before it returns: between one and two times `busyPause`, in ms.
 */
export async function throwUnlessTransient(
  zk: ZooKeeper,
  error: unknown,
  busyPause = BUSY_PAUSE,
  signal?: AbortSignal,
): Promise<void> {
  if (!mayBeRepeated(error)) throw error
  const { runtime, session } = zk
  if (KeeperError.is(error, ...busyCodes))
    await pause(runtime, busyPause * (1 + runtime.random()), session.signal, signal)
}

/**
 * Makes a call in the same segment as the one before it. If our own queue has no room for both (`maxWaiting`), it is made when the
 * one before has settled.
 */
export function inOneSegment<T>(before: Promise<unknown>, call: () => Promise<T>): Promise<T> {
  const later = async (error: unknown) => {
    if (!KeeperError.is(error, 'QueueFull')) throw error
    await settled(before)
    return await call()
  }
  return awaitedLater(call().catch(later))
}
