import type { Held } from './held.ts'
import type { HoldListeners } from './hold-options.ts'
import type { QueuePlace } from './queue/wait.ts'

/** How long to wait, and what to call meanwhile. */
export interface AcquireOptions extends HoldListeners {
  /** The longest wait in ms, 0 or more. Then `acquire` rejects with a `LockTimeoutError`. @default for ever */
  timeout?: number | undefined
  /** Ends the wait: `acquire` rejects with its reason. It does not release what is already held. */
  signal?: AbortSignal | undefined
  /** Called whenever a contender is ahead, and again after queueing anew: in a new session, or when our node was deleted. */
  onQueued?: ((place: QueuePlace) => void) | undefined
}

/** How long `run` waits, and what it does when the lock is lost. */
export interface RunOptions extends AcquireOptions {
  /**
   * What `run` does when the lock was lost before `body` settled. `reject`: it rejects with a `LockLostError`, whose `result`
   * is what the body resolved with. `ignore`: it resolves with that. Use this only where the resource checks the fencing
   * token.
   * @default 'reject'
   */
  onLost?: 'reject' | 'ignore' | undefined
}

/** The options of a call that waits for servers only, and for no other contender. */
export interface TryAcquireOptions extends HoldListeners {
  /**
   * The longest wait for servers in ms, 0 or more. Then the call rejects with `RequestTimeout`.
   * @default the session timeout
   */
  timeout?: number | undefined
  /** Ends the wait: the call rejects with its reason. It does not release what is already held. */
  signal?: AbortSignal | undefined
}

/** Something that can be held: a lock, or one side of a shared lock. */
export interface Acquirable<H extends Held> {
  /**
   * Waits in line. However it ends without a grant, the place in line is given up. It rejects with a `LockTimeoutError`, with
   * the reason of the signal, or with a `KeeperError` that waiting cannot change (`NoAuth`, `Closed` …). It goes on after a
   * lost connection and after an expired session.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /**
   * As `acquire`, without waiting in line. Resolves with undefined when another contender is in the way, a waiting one
   * included, and when answers take so long (a good part of T) that no lease is left. Without an answer it rejects with
   * `RequestTimeout`. It leaves nothing behind.
   *
   * The server of this client may be behind the leader. Then it may still show a contender that has left, but none of this
   * client whose `release` has resolved. Call `sync` of the path first to see everything that was committed by then. When
   * several clients try at once, at most one is granted an exclusive lock, and possibly none where a holder leaves meanwhile.
   */
  tryAcquire(options?: TryAcquireOptions): Promise<H | undefined>
  /**
   * Acquires, calls `body`, releases. Rejects with the error of `body`. Without one it rejects with a `LockLostError` when
   * the lock was lost before the body settled (see `onLost`), or else with an error of the release. A body that releases or
   * downgrades its hold has not lost it. The hold of a downgrade stays until it is released.
   */
  run<T>(body: (held: H) => T | Promise<T>, options?: RunOptions): Promise<T>
}
