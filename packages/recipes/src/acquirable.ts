import type { Held } from './held.ts'
import type { HoldListeners } from './hold-options.ts'
import type { QueuePlace } from './queue/wait.ts'

/** How long to wait, and what is called meanwhile. */
export interface AcquireOptions extends HoldListeners {
  /** Longest wait in ms, 0 or more; then `acquire` rejects with a `LockTimeoutError`. @default for ever */
  timeout?: number | undefined
  /** Ends the wait; `acquire` then rejects with its reason. It does not release what is held already. */
  signal?: AbortSignal | undefined
  /** Called whenever a contender is ahead, and again after queueing anew: in a new session, or when our node was deleted. */
  onQueued?: ((place: QueuePlace) => void) | undefined
}

/** How long `run` waits, and what becomes of it when the lock is lost. */
export interface RunOptions extends AcquireOptions {
  /**
   * What `run` does when the lock was lost before `body` settled: `reject` with a `LockLostError`, whose `result` is what the
   * body resolved with; or `ignore` the loss and resolve with that, where what is written to checks the fencing token.
   * @default 'reject'
   */
  onLost?: 'reject' | 'ignore' | undefined
}

/** The options of a call that waits for servers only, and for no other contender. */
export interface TryAcquireOptions extends HoldListeners {
  /** Longest wait for the servers in ms, 0 or more; then it rejects with `RequestTimeout`. @default the session timeout */
  timeout?: number | undefined
  /** Ends the wait; the call then rejects with its reason. It does not release what is held already. */
  signal?: AbortSignal | undefined
}

/** Whatever can be held: by one at a time, or shared. */
export interface Acquirable<H extends Held> {
  /**
   * Waits in line. However it ends without a grant, the place in line is given up. It rejects with a `LockTimeoutError`, with the
   * reason of the signal, or with a `KeeperError` for what waiting does not mend (`NoAuth`, `Closed` …); a lost connection and an
   * expired session it outlasts.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /**
   * As `acquire`, without waiting in line. Resolves with undefined when another contender is in the way, a waiting one too, and
   * when answers take so long (a good part of T) that no lease is left. Without an answer it rejects with `RequestTimeout`. It
   * leaves nothing behind.
   *
   * The server of this client may be behind the leader. For that long a contender that has left may still be in the way, but not
   * one of this client whose `release` has resolved. `sync` of the path right before shows all that was committed when it was
   * called. When several clients try at once, at most one is granted an exclusive lock, and maybe none where a holder leaves meanwhile.
   */
  tryAcquire(options?: TryAcquireOptions): Promise<H | undefined>
  /**
   * Acquires, calls `body`, releases. Rejects with the error of `body`; else with a `LockLostError` when the lock was lost before
   * the body settled (see `onLost`); else with an error of the release. A body that releases or downgrades what it holds has not
   * lost it; what it downgraded to stays held until that is released.
   */
  run<T>(body: (held: H) => T | Promise<T>, options?: RunOptions): Promise<T>
}
