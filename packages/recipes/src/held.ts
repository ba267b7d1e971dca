import { KeeperError, type MultiResults, type Op, op, type Watched, type ZooKeeper } from '@zk/client'
import type { Contender, OwnNode } from './contender.ts'
import { LockLostError, type LossReason } from './errors.ts'
import { Holdings } from './holdings.ts'

/** A hold shorter than this, in ms, does without a watch on its own node. */
const OWN_WATCH_AFTER = 50

/**
 * What was acquired. It is held until it is released or lost; once it is not held it never is again.
 *
 * A signal is always late for code that blocks the event loop, and code that does not ask is not stopped: only the
 * fencing token, checked by whatever is written to, protects against that.
 */
export class Held implements AsyncDisposable {
  /** Of the contender's znode. */
  readonly path: string
  /** The czxid of that znode: greater than that of every holder before. See `fencingText`. */
  readonly fencingToken: bigint
  /** Fails a transaction of one's own unless this is still held: `zk.multi([held.checkOp, …])`. */
  readonly checkOp: Op<void>
  readonly #zk: ZooKeeper
  readonly #contender: Contender
  readonly #lost = new AbortController()
  #stopWatching: () => void = () => {}

  /** @internal */
  constructor(zk: ZooKeeper, contender: Contender, node: OwnNode) {
    this.path = node.path
    this.fencingToken = node.czxid
    this.checkOp = op.check(node.path)
    this.#zk = zk
    this.#contender = contender
    this.#watchOwnNode()
    Holdings.of(contender.session).add(this)
  }

  /** Aborts when it is no longer held; its reason is a `LockLostError`. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** Whether it is held, as far as can be known here and now. Ask after every await, before acting. */
  isHeld(): boolean {
    return !this.signal.aborted
  }

  /** Throws the `LockLostError` when it is no longer held. */
  throwIfLost(): void {
    if (!this.isHeld()) throw this.signal.reason
  }

  /** The operations, all or none, and only while this is held: the servers check. */
  async multi<const Ops extends readonly Op<unknown>[]>(ops: Ops): Promise<MultiResults<Ops>> {
    this.throwIfLost()
    try {
      const [, ...results] = await this.#zk.multi([this.checkOp, ...ops], { session: this.#contender.session })
      return results
    } catch (error) {
      throw this.#ofCaller(error)
    }
  }

  /**
   * Gives it up. Not held from the call on; resolves when the node is gone or the session over. When that takes longer
   * than the session timeout it rejects with `RequestTimeout`, and goes on in the background.
   */
  async release(): Promise<void> {
    this.lose('Released')
    const { runtime } = this.#zk
    const { timeout } = this.#contender.session
    let stop = () => {}
    const overdue = new Promise<never>((_, reject) => {
      const late = () => reject(new KeeperError('RequestTimeout', { op: 'release', path: this.path }))
      stop = runtime.setTimer(timeout, late)
    })
    try {
      await Promise.race([this.#contender.leave(), overdue])
    } finally {
      stop()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release()
  }

  /** @internal */
  lose(reason: LossReason, cause?: unknown): void {
    if (this.signal.aborted) return
    this.#stopWatching()
    Holdings.of(this.#contender.session).remove(this)
    this.#lost.abort(new LockLostError(reason, this.path, cause === undefined ? undefined : { cause }))
    // Released or not, it is never held again under this grant: the node must go.
    this.#contender.leave().catch(() => {})
  }

  #watchOwnNode(): void {
    this.#stopWatching = this.#zk.runtime.setTimer(OWN_WATCH_AFTER, () => {
      // What ends the session or the connection is told by them.
      this.#untilGone().catch(() => {})
    })
  }

  async #untilGone(): Promise<void> {
    const { session } = this.#contender
    while (this.isHeld()) {
      const watch = await this.#zk.getDataAndWatch(this.path, { session }).catch(undefinedIfGone)
      if (watch === undefined) return this.lose('NodeGone')
      this.#stopWatching = () => void watch.unwatch().catch(() => {})
      if (!this.isHeld()) return this.#stopWatching()
      const { type } = await watch.changed
      if (type === 'NodeDeleted') this.lose('NodeGone')
      if (type !== 'NodeDataChanged') return
    }
  }

  /** An error of a guarded multi, as its caller sees the operations. */
  #ofCaller(error: unknown): unknown {
    if (!KeeperError.is(error) || error.index === undefined) return error
    if (error.index === 0) {
      this.lose('NodeGone', error)
      return this.signal.reason
    }
    const { code, op: name, path, number, server, sessionId, index, results } = error
    return new KeeperError(code, {
      op: name,
      path,
      number,
      server,
      sessionId,
      index: index - 1,
      results: results?.slice(1),
    })
  }
}

/** The token as text of a fixed width, which sorts as the tokens do. */
export function fencingText(token: bigint): string {
  return token.toString(16).padStart(16, '0')
}

function undefinedIfGone(error: unknown): Watched | undefined {
  if (KeeperError.is(error, 'NoNode')) return undefined
  throw error
}
