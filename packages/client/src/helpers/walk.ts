import { ProtocolError, validatePath } from '@zk/wire'
import { wasAborted } from '../base/aborts.ts'
import { KeeperError } from '../base/errors.ts'
import type { Children } from '../operations/children.ts'
import { type CallOptions, checkCallOptions, expecting, optionNames } from '../operations/call-options.ts'
import type { ZooKeeper } from '../zookeeper/zookeeper.ts'

/** The options of `walk`. `timeout` is for each read, not for the whole walk. */
export interface WalkOptions extends CallOptions {
  /** How many reads may be under way at once, ahead of the loop. @default 16 */
  concurrency?: number | undefined
  /**
   * How many levels below the node are walked. The children of nodes at this depth are not read: `children` is empty there, and
   * `stat.numChildren` says how many there are. @default Infinity
   */
  depth?: number | undefined
  /**
   * Called with the `NoAuth` of each node that may not be read, as soon as it is known. The walk then leaves out the node and all
   * nodes below it. @default the walk rejects
   */
  onUnreadable?: ((error: KeeperError) => void) | undefined
}

/** A node of a walk, with the sorted names of its children. */
export interface WalkedNode extends Children {
  /** The path, without the client's chroot. */
  readonly path: string
}

interface Entry {
  readonly path: string
  /** How many levels may be read below it. */
  readonly depth: number
  /**
   * The read of the node, once it has begun. It resolves with undefined if the node is gone. Its rejection is always handled.
   */
  reading?: Promise<Children | undefined>
  /** Whether the read has settled. */
  isRead?: boolean
}

/** Children without an entry. A node may have a hundred thousand children, of which only the next few are being read. */
interface Siblings {
  readonly parent: string
  /** Their names, the next one last. */
  readonly names: string[]
  readonly depth: number
}

/**
 * Yields a node and all nodes below it: each node before its children, and children in the order of their names. A node that
 * is created or deleted during the walk may be yielded or left out. `/zookeeper` is left out, unless the walk begins there.
 * Each read may take the whole `timeout`.
 *
 *     for await (const { path, stat } of walk(zk, '/orders')) …
 */
export function walk(zk: ZooKeeper, path = '/', options: WalkOptions = {}): AsyncIterableIterator<WalkedNode> {
  validatePath(path)
  checkCallOptions('walk', options, walkOptions, '{ concurrency: 4 }')
  return new Walk(zk, path, options)
}

const walkOptions = optionNames('concurrency', 'depth', 'onUnreadable')

class Walk implements AsyncIterableIterator<WalkedNode> {
  readonly #zk: ZooKeeper
  readonly #options: CallOptions
  readonly #concurrency: number
  readonly #onUnreadable: WalkOptions['onUnreadable']
  /** The nodes that were not yielded yet. The next one is last. */
  #stack: (Entry | Siblings)[]
  #inFlight = 0
  #isOver = false
  /** Settles with the last call of `next`: each call waits for the previous one. */
  #turn: Promise<unknown> = Promise.resolve()

  constructor(zk: ZooKeeper, path: string, options: WalkOptions) {
    const { concurrency = 16, depth = Infinity, onUnreadable, ...call } = options
    if (onUnreadable !== undefined && typeof onUnreadable !== 'function') {
      throw new TypeError('onUnreadable must be a function')
    }
    this.#zk = zk
    this.#options = onUnreadable === undefined ? expecting(call, 'NoNode') : expecting(call, 'NoNode', 'NoAuth')
    this.#concurrency = checkConcurrency(concurrency)
    this.#onUnreadable = onUnreadable
    this.#stack = [{ path, depth: checkDepth(depth) }]
  }

  async next(): Promise<IteratorResult<WalkedNode, undefined>> {
    const before = this.#turn
    const turn = before.then(() => this.#advance())
    this.#turn = turn.catch(() => {})
    return await turn
  }

  async return(): Promise<IteratorResult<WalkedNode, undefined>> {
    this.#end()
    return DONE
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #advance(): Promise<IteratorResult<WalkedNode, undefined>> {
    for (let entry = this.#next(); entry !== undefined; entry = this.#next()) {
      const { path, depth, reading = this.#read(entry), isRead } = entry
      // If the node was already read, its children are added first: otherwise its siblings would be read ahead of them.
      if (isRead !== true) this.#readAhead()
      const read = await this.#orEnd(reading)
      if (this.#isOver) return DONE
      if (read === undefined) continue
      const children = read.children.sort()
      const isSystem = isSystemNode(this.#zk, path)
      const names = children.filter((name) => isSystem || !isSystemNode(this.#zk, childPath(path, name))).reverse()
      this.#stack.push({ parent: path, names, depth: depth - 1 })
      this.#readAhead()
      return { done: false, value: { path, children, stat: read.stat } }
    }
    return DONE
  }

  #next(): Entry | undefined {
    for (let top = this.#stack.at(-1); top !== undefined; top = this.#stack.at(-1)) {
      const entry = 'names' in top ? nextOf(top) : top
      if (entry === undefined || entry === top) this.#stack.pop()
      if (entry !== undefined) return entry
    }
    return undefined
  }

  async #orEnd<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading
    } catch (error) {
      this.#end()
      throw error
    }
  }

  #end(): void {
    this.#isOver = true
    this.#stack = []
  }

  /** Reads the next nodes, but none behind the next `concurrency` ones: of these some may have been read before. */
  #readAhead(): void {
    let entries = 0
    for (
      let i = this.#stack.length - 1;
      i >= 0 && this.#inFlight < this.#concurrency && entries <= this.#concurrency;
    ) {
      const item = this.#stack[i]!
      const entry = 'names' in item ? nextOf(item) : item
      if (entry === undefined || entry === item) i--
      // Siblings stay below the entries that are made of them.
      else this.#stack.splice(i + 1, 0, entry)
      if (entry === undefined) continue
      if (entry.reading === undefined) void this.#read(entry)
      entries++
    }
  }

  #read(entry: Entry): Promise<Children | undefined> {
    this.#inFlight++
    const reading = this.#children(entry)
    reading.catch(() => {})
    entry.reading = reading
    return reading
  }

  async #children(entry: Entry): Promise<Children | undefined> {
    const { path, depth } = entry
    try {
      if (depth === 0) {
        const stat = await this.#zk.exists(path, this.#options)
        return stat && { children: [], stat }
      }
      const read = await this.#zk.getChildren(path, this.#options)
      for (const name of read.children) checkName(path, name)
      return read
    } catch (error) {
      if (!KeeperError.is(error) || wasAborted(error, this.#options.signal)) throw error
      const isUnreadable = error.code === 'NoAuth' && this.#onUnreadable !== undefined
      if (error.code !== 'NoNode' && !isUnreadable) throw error
      if (isUnreadable && !this.#isOver) this.#onUnreadable?.(error)
      return undefined
    } finally {
      this.#inFlight--
      entry.isRead = true
    }
  }
}

function nextOf({ parent, names, depth }: Siblings): Entry | undefined {
  const name = names.pop()
  return name === undefined ? undefined : { path: childPath(parent, name), depth }
}

function childPath(path: string, name: string): string {
  return `${path === '/' ? '' : path}/${name}`
}

/** Throws if the name of a child is invalid: only a broken server sends such a name. */
function checkName(path: string, name: string): void {
  try {
    // The path above was checked before, and may be long.
    if (name !== '' && !name.includes('/')) return void validatePath(`/${name}`)
  } catch {}
  const cause = new ProtocolError(`a child cannot be called ${JSON.stringify(name)}`)
  throw new KeeperError('InvalidResponse', { op: 'walk', path, cause })
}

const DONE = { done: true, value: undefined } as const

/** Whether this is `/zookeeper` or a node below it: the servers keep their configuration and quotas there. */
export function isSystemNode(zk: ZooKeeper, path: string): boolean {
  return `${zk.chroot === '/' ? '' : zk.chroot}${path}/`.startsWith('/zookeeper/')
}

function checkDepth(depth: number): number {
  if (depth === Infinity || (Number.isInteger(depth) && depth >= 0)) return depth
  throw new RangeError(`depth must be an integer, 0 or more, or Infinity, not ${String(depth)}`)
}

export function checkConcurrency(concurrency: number): number {
  if (Number.isInteger(concurrency) && concurrency >= 1) return concurrency
  throw new RangeError(`concurrency must be an integer, 1 or more, not ${String(concurrency)}`)
}
