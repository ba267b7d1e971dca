import type { CallOptions } from '@zk/client'
import type { Held } from './held.ts'
import type { HoldListeners } from '../lease/hold-options.ts'
import type { ContenderInfo } from '../queue/queue.ts'
import type { QueuePlace } from '../queue/wait.ts'

/** How long `acquire` waits, and the callbacks during the wait and the hold. */
export interface AcquireOptions extends HoldListeners {
  /**
   * The longest wait in ms, counted from the call. Then `acquire` rejects with a `WaitTimeoutError`. With 0 it waits for no other
   * contender, but up to the session timeout for servers.
   * @default no limit
   */
  timeout?: number | undefined
  /** When it aborts, `acquire` rejects with its reason. What is already held stays held. */
  signal?: AbortSignal | undefined
  /** Called whenever contenders are ahead, even when the call queues again, in a new session or because its node was deleted. */
  onQueued?: ((place: QueuePlace) => void) | undefined
}

/** How long `run` waits, and what it does when the lock is lost. */
export interface RunOptions extends AcquireOptions {
  /**
   * What the call does if the lock was lost before `body` settled. `reject`: it rejects with a `LostError`, whose `result` is
   * the value with which the body resolved. `ignore`: it resolves with this value. Use `ignore` only if the resource checks
   * the fencing token.
   * @default 'reject'
   */
  onLost?: 'reject' | 'ignore' | undefined
}

/** The options of a call that waits for servers, but for no other contender. */
export interface TryAcquireOptions extends HoldListeners {
  /**
   * The longest wait for servers in ms, 0 or more. Then the call rejects with `RequestTimeout`.
   * @default the session timeout
   */
  timeout?: number | undefined
  /** When it aborts, the call rejects with its reason. What is already held stays held. */
  signal?: AbortSignal | undefined
}

/** How long `tryRun` waits for servers, and what it does when the lock is lost. */
export interface TryRunOptions extends TryAcquireOptions, Pick<RunOptions, 'onLost'> {}

/** The outcome of `tryRun`: whether the body ran, and its result. */
export type TryRunResult<T> = { readonly ran: true; readonly result: T } | { readonly ran: false }

/** Something that can be held: a lock, or one side of a shared lock. */
export interface Acquirable<H extends Held> {
  /**
   * Waits in the queue, and resolves when granted. It rejects with a `WaitTimeoutError`, with the reason of the signal, or with
   * a `KeeperError` that waiting cannot change (`NoAuth`, `Closed` …). Then the place in the queue is given up. A lost
   * connection or an expired session does not end the wait.
   */
  acquire(options?: AcquireOptions): Promise<H>
  /**
   * Acquires without waiting in the queue. Resolves with undefined if another contender blocks it, even if that contender waits
   * itself. Also resolves with undefined if answers take so long (a good part of T) that no lease is left. Rejects with
   * `RequestTimeout` if there is no answer in time. Without a grant it leaves nothing behind.
   *
   * The server of this client may lag behind the leader. Then it may still show a contender that has left. (It does not show a
   * contender of this client whose `release` has resolved.) Call `sync` of the path first to see everything that was committed by
   * then. When several clients try at once, at most one is granted an exclusive lock. If a holder leaves meanwhile, possibly none
   * is granted.
   */
  tryAcquire(options?: TryAcquireOptions): Promise<H | undefined>
  /**
   * Acquires, calls `body`, and releases. If `body` rejects, `run` rejects with the same error. Otherwise, if the lock was lost
   * before the body settled, it rejects with a `LostError` (see `onLost`). Otherwise, if the release failed, it rejects with
   * that error. If the body itself releases or downgrades its hold, this is not a loss. After a downgrade, the hold of the reader
   * stays until it is released.
   */
  run<T>(body: (held: H) => T | Promise<T>, options?: RunOptions): Promise<T>
  /**
   * Like `run`, but acquires as `tryAcquire` does: if another contender blocks it, `body` is not called, and the call resolves with
   * `{ ran: false }`. Otherwise it resolves with `{ ran: true, result }`, or rejects as `run` does.
   *
   * It says nothing about earlier runs: a process that comes after the body has ended runs it again. `once` remembers them.
   */
  tryRun<T>(body: (held: H) => T | Promise<T>, options?: TryRunOptions): Promise<TryRunResult<T>>
  /**
   * All contenders in its queue, oldest first: holders and waiters. `isGranted` tells them apart. It sees contenders of its own kind
   * only: for the path of another kind of recipe, or a wrong path, it resolves with an empty list.
   */
  contenders(options?: CallOptions): Promise<ContenderInfo[]>
}
