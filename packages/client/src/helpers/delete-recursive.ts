import { validatePath } from '@zk/wire'
import { wasAborted } from '../aborts.ts'
import { KeeperError } from '../errors.ts'
import { op } from '../operations/ops.ts'
import { checkConcurrency, isSystemNode, walk } from './walk.ts'
import { type CallOptions, expecting } from '../call-options.ts'
import { checkCallOptions, optionNames } from '../options.ts'
import type { ZooKeeper } from '../zookeeper.ts'

/** The options of `deleteRecursive`. `timeout` is that of each request, not of the whole. */
export interface DeleteRecursiveOptions extends CallOptions {
  /** How many batches are under way at a time. Four times as many nodes are read ahead. @default 4 */
  concurrency?: number | undefined
  /** Whether the node itself stays. @default false */
  contentsOnly?: boolean | undefined
  /** Called after each batch with the number of nodes that this call has deleted. */
  onProgress?: ((progress: { readonly deleted: number }) => void) | undefined
}

/** The size of a batch, in nodes and in characters of paths: far below what a server accepts in one request. */
const BATCH = { nodes: 100, characters: 32_768 }
const READS_PER_BATCH = 4
const deleteOptions = optionNames('concurrency', 'contentsOnly', 'onProgress')

/**
 * Deletes a node and all below it, children first, in batches. Resolves with the number of deleted nodes. It is no
 * transaction: others see it half-way, and after an error the rest stays. Nodes that other clients delete meanwhile are no
 * error. Nodes that they create are deleted too, as long as each pass over the rest deletes something. Otherwise it rejects
 * with `NotEmpty`. It goes on after a lost connection, but not after an expired session. Each request has the whole
 * `timeout`.
 *
 * The client's root and `/zookeeper` cannot be deleted (`TypeError`). With `contentsOnly` everything below the root can,
 * except `/zookeeper`.
 */
export async function deleteRecursive(
  zk: ZooKeeper,
  path: string,
  given: DeleteRecursiveOptions = {},
): Promise<number> {
  checkCallOptions('deleteRecursive', given, deleteOptions, '{ contentsOnly: true }')
  const { concurrency = 4, contentsOnly = false, onProgress = () => {}, ...options } = given
  validatePath(path)
  checkConcurrency(concurrency)
  if (typeof onProgress !== 'function') throw new TypeError('onProgress must be a function')
  if (isSystemNode(zk, path)) throw new TypeError(`deleteRecursive ${path}: this is the servers' own`)
  if (path === '/' && !contentsOnly) {
    throw new TypeError('deleteRecursive /: the root is not deleted; contentsOnly: true deletes all that is below it')
  }
  let deleted = 0
  for (;;) {
    const pass = new Pass(zk, options, concurrency, (count) => {
      deleted += count
      onProgress({ deleted })
    })
    const before = deleted
    await pass.run(path, contentsOnly)
    if (pass.left === undefined) return deleted
    if (deleted === before && !KeeperError.is(pass.left, 'ConnectionLoss')) throw pass.left
  }
}

class Pass {
  /** Why some nodes had to stay. */
  left: unknown
  readonly #zk: ZooKeeper
  readonly #options: CallOptions
  readonly #concurrency: number
  readonly #done: (count: number) => void
  #batch: string[] = []
  #characters = 0
  /** The batches in the order in which they were sent, which is that of their execution. */
  #pending: Promise<void>[] = []

  constructor(zk: ZooKeeper, options: CallOptions, concurrency: number, done: (count: number) => void) {
    this.#zk = zk
    this.#options = options
    this.#concurrency = concurrency
    this.#done = done
  }

  async run(path: string, contentsOnly: boolean): Promise<void> {
    /** The nodes whose children are not all read yet. */
    const open: string[] = []
    try {
      const concurrency = this.#concurrency * READS_PER_BATCH
      for await (const node of walk(this.#zk, path, { ...this.#options, concurrency })) {
        while (open.length > 0 && !isBelow(node.path, open.at(-1)!)) await this.#add(open.pop()!)
        open.push(node.path)
      }
      // The rest is the path from the top of the walk down to its last node.
      const last = contentsOnly ? open.slice(1) : open
      for (const each of last.reverse()) await this.#add(each)
      this.#send()
      await Promise.all(this.#pending)
    } finally {
      // After any failure nothing goes on in the background.
      await Promise.allSettled(this.#pending)
    }
  }

  async #add(path: string): Promise<void> {
    this.#batch.push(path)
    this.#characters += path.length
    if (this.#batch.length < BATCH.nodes && this.#characters < BATCH.characters) return
    this.#send()
    while (this.#pending.length >= this.#concurrency) {
      await this.#pending[0]
      this.#pending = this.#pending.slice(1)
    }
  }

  #send(): void {
    const paths = this.#batch
    if (paths.length === 0) return
    this.#batch = []
    this.#characters = 0
    const done = this.#delete(paths)
    // Its error is handled in its turn.
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
      // One node that cannot be deleted makes the whole batch fail. Or the batch is over maxRequestSize.
      const isOfAll = error instanceof RangeError || (KeeperError.is(error) && error.index !== undefined)
      if (isOfAll) return await this.#deleteEach(paths)
      if (!KeeperError.is(error, 'ConnectionLoss')) throw error
      this.left = error
      return
    }
    this.#done(paths.length)
  }

  async #deleteEach(paths: readonly string[]): Promise<void> {
    const options = expecting(this.#options, 'NoNode')
    const results = await Promise.allSettled(paths.map((path) => this.#zk.delete(path, options)))
    let failure: unknown
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      const error: unknown = result.reason
      if (wasAborted(error, this.#options.signal)) failure ??= error
      else if (KeeperError.is(error, 'ConnectionLoss')) this.left = error
      // Nodes that a lost connection has left are in the way of those above.
      else if (KeeperError.is(error, 'NotEmpty')) this.left ??= error
      else if (!KeeperError.is(error, 'NoNode')) failure ??= error
    }
    this.#done(results.filter(({ status }) => status === 'fulfilled').length)
    if (failure !== undefined) throw failure
  }
}

function isBelow(path: string, above: string): boolean {
  return path.startsWith(above === '/' ? above : `${above}/`)
}
