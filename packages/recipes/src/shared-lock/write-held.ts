// The hold of a writer of a shared lock. The writer can become a reader, which keeps the writer's place.
import { KeeperError, op, type Session, type WaitOptions, type ZooKeeper } from '@zk/client'
import { logWith, onAbort, throwIfAborted } from '@zk/client/internal'
import type { Grant } from '../queue/grant-proof.ts'
import { ContenderNode, type ContenderNodes } from '../queue/contender-node.ts'
import { ownerLeaves, replaceOwner } from '../queue/owners.ts'
import type { NodeOptions } from '../queue/protected-nodes.ts'
import { checkCall } from '../held/checks.ts'
import { lostHold } from '../held/lost-hold.ts'
import { firstLease } from '../lease/lease-renewal.ts'
import { SlowAnswers } from '../lease/slow-answers.ts'
import { Held } from '../held/held.ts'
import type { Owner } from '../queue/owners.ts'
import { endReason } from '../lease/lease-keeper.ts'
import { ifMissing } from '../kernel/if-missing.ts'
import type { Lease } from '../lease/lease.ts'
import { successorName } from '../queue/names.ts'
import { NodeVanished } from '../kernel/sessions.ts'
import { serverTimeout, withLimit } from '../kernel/limit.ts'
import type { Queue } from '../queue/queue.ts'
import type { HoldTerms } from '../lease/hold-options.ts'
import { knownTouch } from '../lease/relay.ts'
import { throwUnlessTransient, retry } from '../kernel/retry.ts'
import { unawaited } from '../kernel/promises.ts'

/** The hold of a writer of a `SharedLock`. It can be downgraded to the hold of a reader. */
export class WriteHeld extends Held {
  readonly #queue: Queue
  readonly #owner: Owner
  readonly #node: ContenderNode
  readonly #options: NodeOptions & HoldTerms

  /** @internal */
  constructor(queue: Queue, owner: Owner, nodes: ContenderNodes, lease: Lease, options: NodeOptions & HoldTerms) {
    super(queue.zk, owner, nodes, lease, options)
    this.#queue = queue
    this.#owner = owner
    this.#node = nodes[0]
    this.#options = options
  }

  /**
   * Resolves with the hold of a reader, which has the writer's place and fencing token. No other writer is granted in between.
   * The hold of the writer ends at the call (`Downgraded`), because other readers may be granted before the answer arrives. If
   * it rejects, nothing is held: with a `LostError` if the session ends or the node is deleted, with `RequestTimeout` if no
   * server answers within `timeout`, the session timeout by default, or with the reason of the signal.
   * If the signal is aborted before the call, nothing happens: the writer still holds.
   */
  async downgrade(options: WaitOptions = {}): Promise<Held> {
    checkCall('downgrade', options, ['timeout', 'signal'])
    throwIfAborted(options.signal)
    this.throwIfLost()
    this.lose('Downgraded')
    const { session } = this.#owner
    const { timeout = session.timeout, signal } = options
    const { runtime } = this.#queue.zk
    const since = runtime.now()
    const reading = new Downgrade(this.#queue, session, this.#node, this.#options)
    replaceOwner(this.#owner, reading)
    const limits = { signals: [signal, session.signal], timeout: serverTimeout('downgrade', this.path, timeout) }
    const leave = () => unawaited(reading.leave())
    const unlisten = onAbort(session.detaching, leave)
    try {
      const held = await withLimit(runtime, limits, async (limit) => {
        const grant = await limit.during(reading.make())
        const lease = await firstLease(this.#queue.zk, session, grant, this.#options, { limit })
        return new Held(this.#queue.zk, reading, grant.nodes, lease, this.#options)
      })
      held.throwIfLost()
      held.acquired(runtime.now() - since)
      return held
    } catch (error) {
      leave()
      // The loss was reported as a downgrade.
      logWith(this.#queue.zk, 'error', 'a lock was not downgraded: it is lost', () => ({ node: this.path, err: error }))
      if (session.signal.aborted || session.detaching.aborted)
        throw lostHold(endReason(session), this.path, { cause: error })
      if (error instanceof SlowAnswers) throw lostHold('LeaseLost', this.path, { cause: error })
      throw error instanceof NodeVanished ? lostHold('NodeGone', this.path, { cause: error }) : error
    } finally {
      unlisten()
    }
  }
}

/** Replaces the writer's node with the reader's node, in one transaction. */
class Downgrade implements Owner {
  readonly session: Session
  readonly #zk: ZooKeeper
  readonly #writer: ContenderNode
  /** The reader's node. Its token is the writer's: the czxid of the reader's node is greater than the tokens of contenders behind it. */
  readonly #node: ContenderNode
  readonly #options: NodeOptions & HoldTerms
  #leaving: Promise<void> | undefined

  constructor(queue: Queue, session: Session, writer: ContenderNode, options: NodeOptions & HoldTerms) {
    this.#zk = queue.zk
    this.session = session
    this.#writer = writer
    this.#node = new ContenderNode(queue, session, successorName(writer.name), writer.czxid)
    this.#options = options
  }

  async make(): Promise<Grant> {
    for (;;) {
      if (this.#leaving !== undefined) throw new NodeVanished()
      // Usually a touch from the writer's time is recent enough. If not, `firstLease` proves a lease after the transaction.
      const touch = knownTouch(this.#zk, this.session, this.#options)
      if (await this.#isCommitted()) {
        const isOnThisConnection = touch?.connection === this.session.connection
        return { nodes: [this.#node], touch: isOnThisConnection ? touch : undefined }
      }
    }
  }

  /** Deletes both nodes, or the one that exists. Continues in the background until that is confirmed. */
  leave(): Promise<void> {
    if (this.#leaving === undefined) {
      this.#leaving = this.#remove()
      ownerLeaves(this, this.#leaving)
    }
    return this.#leaving
  }

  /** Deletes the writer's node first. After that, a transaction that is still under way fails. */
  async #remove(): Promise<void> {
    try {
      await this.#writer.delete()
    } finally {
      await this.#node.delete()
    }
  }

  /** Sends the transaction. Returns whether it was committed; false means that it must be tried again. */
  async #isCommitted(): Promise<boolean> {
    const { data, acl } = this.#options
    const { session } = this
    const { path } = this.#node
    try {
      const replacing = [op.create(path, data, { mode: 'EPHEMERAL', acl }), op.delete(this.#writer.path)]
      await this.#zk.multi(replacing, { session })
      return true
    } catch (error) {
      // Usually an earlier transaction, whose answer was lost, has created the node.
      if (KeeperError.is(error, 'NodeExists')) return (await this.#node.find()) !== undefined
      if (KeeperError.is(error, 'NoNode')) throw new NodeVanished()
      if (KeeperError.is(error) && error.outcomeUnknown) {
        await ifMissing((options) => retry(this.#zk, () => this.#zk.sync(path, options)), { session }, undefined)
        if ((await this.#node.find()) !== undefined) return true
      }
      await throwUnlessTransient(this.#zk, error)
      return false
    }
  }
}
