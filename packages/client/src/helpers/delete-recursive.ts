import { failuresOf } from '../base/failures.ts'
import { validatePath } from '@zk/wire'
import { wasAborted } from '../base/aborts.ts'
import { KeeperError } from '../base/errors.ts'
import { MULTI_SIZE, sizeInMulti } from '../operations/batch.ts'
import { op } from '../operations/ops.ts'
import { checkConcurrency, isSystemNode, walk } from './walk.ts'
import { type CallOptions, checkCallOptions, expecting, optionNames } from '../operations/call-options.ts'
import type { ZooKeeper } from '../zookeeper/zookeeper.ts'

/** The options of `deleteRecursive`. `timeout` is for each request, not for the whole call. */
export interface DeleteRecursiveOptions extends CallOptions {
  /** How many batches may be under way at once. Four times as many reads may be under way. @default 4 */
  concurrency?: number | undefined
  /** Whether only the nodes below the node are deleted, and the node itself stays. @default false */
  contentsOnly?: boolean | undefined
  /** Called after each batch with the number of nodes that this call has deleted. */
  onProgress?: ((progress: { readonly deleted: number }) => void) | undefined
}

/** The limit of a batch, in nodes. */
const BATCH_NODES = 100
const READS_PER_BATCH = 4
const deleteOptions = optionNames('concurrency', 'contentsOnly', 'onProgress')

/**
 * Deletes a node and all nodes below it, children first, in batches. Resolves with the number of deleted nodes. This is not a
 * transaction: other clients see some of the nodes deleted, and after an error the rest stays. Nodes that other clients delete
 * meanwhile are not an error. If they create nodes, the rest is read and deleted again, as long as each such pass deletes
 * something. If a pass deletes nothing, the call rejects with `NotEmpty`. The call continues after a lost connection, but not
 * after an expired session. Each request may take the whole `timeout`.
 *
 * The root of the client and `/zookeeper` cannot be deleted (`TypeError`). With `contentsOnly` a call for the root deletes
 * everything below it, except `/zookeeper`.
 */
export async function deleteRecursive(
  zk: ZooKeeper,
  path: string,
  options: DeleteRecursiveOptions = {},
): Promise<number> {
  checkCallOptions('deleteRecursive', options, deleteOptions, '{ contentsOnly: true }')
  const { concurrency = 4, contentsOnly = false, onProgress = () => {}, ...call } = options
  validatePath(path)
  checkConcurrency(concurrency)
  if (typeof onProgress !== 'function') throw new TypeError('onProgress must be a function')
  if (isSystemNode(zk, path)) throw new TypeError(`deleteRecursive ${path}: this node belongs to the servers`)
  if (path === '/' && !contentsOnly) {
    throw new TypeError('deleteRecursive /: the root is not deleted; contentsOnly: true deletes everything below it')
  }
  let deleted = 0
  const limit = { bytes: MULTI_SIZE }
  for (;;) {
    const pass = new Pass(zk, call, { concurrency, limit }, (count) => {
      deleted += count
      onProgress({ deleted })
    })
    const before = deleted
    await pass.run(path, contentsOnly)
    if (pass.left === undefined) return deleted
    if (deleted === before && !KeeperError.is(pass.left, 'ConnectionLoss')) throw pass.left
  }
}

interface Batches {
  readonly concurrency: number
  /** The limit of a batch, in bytes. It is halved when the servers do not accept a batch of this size. */
  readonly limit: { bytes: number }
}

class Pass {
  /** The error with which some nodes could not be deleted, if another pass may delete them. */
  left: unknown
  readonly #zk: ZooKeeper
  readonly #options: CallOptions
  readonly #concurrency: number
  readonly #limit: Batches['limit']
  readonly #done: (count: number) => void
  #batch: string[] = []
  #bytes = 0
  /** The batches under way, in the order in which they were sent. Servers execute them in this order. */
  #pending: Promise<void>[] = []

  constructor(zk: ZooKeeper, options: CallOptions, { concurrency, limit }: Batches, done: (count: number) => void) {
    this.#zk = zk
    this.#options = options
    this.#concurrency = concurrency
    this.#limit = limit
    this.#done = done
  }

  async run(path: string, contentsOnly: boolean): Promise<void> {
    /** The nodes whose children may still follow in the walk, each below the one before it. */
    const open: string[] = []
    try {
      const concurrency = this.#concurrency * READS_PER_BATCH
      for await (const node of walk(this.#zk, path, { ...this.#options, concurrency })) {
        while (open.length > 0 && !isBelow(node.path, open.at(-1)!)) await this.#add(open.pop()!)
        open.push(node.path)
      }
      // `open` now has the last node of the walk and all nodes above it.
      const last = contentsOnly ? open.slice(1) : open
      for (const each of last.reverse()) await this.#add(each)
      this.#send()
      await Promise.all(this.#pending)
    } finally {
      // A call that fails waits for its own requests, so that none continues in the background.
      await Promise.allSettled(this.#pending)
    }
  }

  async #add(path: string): Promise<void> {
    const size = sizeInMulti(this.#zk, path)
    const isFull = this.#batch.length === BATCH_NODES || this.#bytes + size > this.#limit.bytes
    if (isFull) this.#send()
    this.#batch.push(path)
    this.#bytes += size
    if (!isFull) return
    while (this.#pending.length >= this.#concurrency) {
      await this.#pending[0]
      this.#pending = this.#pending.slice(1)
    }
  }

  #send(): void {
    const paths = this.#batch
    if (paths.length === 0) return
    this.#batch = []
    this.#bytes = 0
    const done = this.#delete(paths)
    // The error is handled when the promise is awaited.
    done.catch(() => {})
    this.#pending.push(done)
  }

  async #delete(paths: readonly string[]): Promise<void> {
    try {
      await this.#zk.multi(
        paths.map((path) => op.delete(path)),
        expecting(this.#options, 'NoNode', 'NotEmpty'),
      )
    } catch (error) {
      if (wasAborted(error, this.#options.signal)) throw error
      // The whole batch fails if one node cannot be deleted, or if the batch is too large.
      const isTooLarge = error instanceof RangeError || KeeperError.is(error, 'RequestTooLarge')
      if (isTooLarge) this.#limit.bytes /= 2
      if (isTooLarge || (KeeperError.is(error) && error.index !== undefined)) return await this.#deleteEach(paths)
      if (!KeeperError.is(error, 'ConnectionLoss')) throw error
      this.left = error
      return
    }
    this.#done(paths.length)
  }

  async #deleteEach(paths: readonly string[]): Promise<void> {
    const options = expecting(this.#options, 'NoNode')
    const failures = await failuresOf(paths.map((path) => this.#zk.delete(path, options)))
    let failure: unknown
    for (const failed of failures) {
      if (failed === undefined) continue
      const { error } = failed
      if (wasAborted(error, this.#options.signal)) failure ??= error
      else if (KeeperError.is(error, 'ConnectionLoss')) this.left = error
      // The node has a child that another client has created, or that a lost connection has left. Another pass deletes both.
      else if (KeeperError.is(error, 'NotEmpty')) this.left ??= error
      else if (!KeeperError.is(error, 'NoNode')) failure ??= error
    }
    this.#done(failures.filter((failed) => failed === undefined).length)
    if (failure !== undefined) throw failure
  }
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above === '/' ? above : `${above}/`)
}
