// The nodes of a mirror, in little memory: numbers in columns, data in chunks, and one map of names for each node that has
// children.
import type { Stat } from '@zk/client'
import { DataStore } from './data-store.ts'
import { MirroredNode } from './mirrored-node.ts'
import { NodeTable } from './node-table.ts'

/** The parent of the root, and the pzxid of a node whose children were not read yet. */
const NONE = -1
/** What a request for a node and its answer take, besides the data and the names, in bytes. */
const READ = 256

/** What is kept of a Stat besides the pzxid. */
export type WrittenStat = Pick<
  Stat,
  'czxid' | 'mzxid' | 'ctime' | 'mtime' | 'version' | 'ephemeralOwner' | 'dataLength'
>

export class Tree {
  /** The path of the root. The root is in the tree only if it exists. */
  readonly root: string
  readonly #table = new NodeTable()
  #data = new DataStore()
  /** The names by id; undefined for a free id. */
  readonly #names: (string | undefined)[] = []
  readonly #children = new Map<number, Map<string, number>>()
  #rootId: number | undefined
  #size = 0
  #bytes = 0

  constructor(root: string) {
    this.root = root
  }

  /** The number of nodes. */
  get size(): number {
    return this.#size
  }

  /** The bytes of all data, and the characters of all names. */
  get bytes(): number {
    return this.#bytes
  }

  /** How many nodes are read with so many bytes, if they are like the nodes of this tree. */
  nodesIn(bytes: number): number {
    return Math.floor(bytes / (READ + this.#bytes / Math.max(1, this.#size)))
  }

  /** The ids are below this number. */
  get idEnd(): number {
    return this.#table.end
  }

  /** The id of the node with this path. When the node is removed, another node may get the id. */
  find(path: string): number | undefined {
    if (path === this.root) return this.#rootId
    const below = this.root === '/' ? '/' : `${this.root}/`
    if (!path.startsWith(below)) return undefined
    let id = this.#rootId
    for (let start = below.length; id !== undefined && start <= path.length;) {
      const slash = path.indexOf('/', start)
      const end = slash === -1 ? path.length : slash
      id = this.#children.get(id)?.get(path.slice(start, end))
      start = end + 1
    }
    return id
  }

  has(id: number): boolean {
    return this.#names[id] !== undefined
  }

  path(id: number): string {
    const names: string[] = []
    for (let at = id; ;) {
      const parent = this.#table.int(at, 'parent')
      if (parent === NONE) break
      names.push(this.#names[at]!)
      at = parent
    }
    return names.length === 0 ? this.root : childPath(this.root, names.reverse().join('/'))
  }

  node(id: number, path = this.path(id)): MirroredNode {
    const table = this.#table
    const length = table.int(id, 'length')
    return new MirroredNode(path, length < 0 ? undefined : this.#data.read(this.#place(id), length), {
      czxid: table.long(id, 'czxid'),
      mzxid: table.mzxid.get(id),
      ctime: Number(table.long(id, 'ctime')),
      mtime: Number(table.mtime.get(id)),
      version: Number(table.version.get(id)),
      ephemeralOwner: table.ephemeralOwner.get(id),
      dataLength: length < 0 ? -1 - length : length,
    })
  }

  czxid(id: number): bigint {
    return this.#table.long(id, 'czxid')
  }

  /** The last transaction that had changed the list of the children when it was read; -1n if it was not read. */
  pzxid(id: number): bigint {
    return this.#table.int(id, 'isListed') === 1 ? this.#table.pzxid.get(id) : BigInt(NONE)
  }

  setPzxid(id: number, pzxid: bigint): void {
    const isListed = pzxid !== BigInt(NONE)
    this.#table.setInt(id, 'isListed', isListed ? 1 : 0)
    if (isListed) this.#table.pzxid.set(id, pzxid)
  }

  isReadable(id: number): boolean {
    return this.#table.int(id, 'length') >= 0
  }

  /**
   * Whether it is the node that was read, and not a later node at the same path. After an ensemble is set up again, or restored
   * from a backup, zxids repeat, but not at the same times.
   */
  isSame(id: number, { czxid, ctime }: Pick<Stat, 'czxid' | 'ctime'>): boolean {
    return this.#table.long(id, 'czxid') === czxid && this.#table.long(id, 'ctime') === BigInt(ctime)
  }

  /** Whether the node is the same, and was not written since. */
  isAt(id: number, stat: Pick<Stat, 'czxid' | 'ctime' | 'mzxid' | 'mtime'>): boolean {
    const { mzxid, mtime } = this.#table
    return this.isSame(id, stat) && mzxid.get(id) === stat.mzxid && mtime.get(id) === BigInt(stat.mtime)
  }

  childCount(id: number): number {
    return this.#children.get(id)?.size ?? 0
  }

  childNames(id: number): string[] {
    return [...(this.#children.get(id)?.keys() ?? [])]
  }

  /** The ids of a node and of all nodes below it, parents first. */
  ids(from = this.#rootId): Uint32Array {
    if (from === undefined) return new Uint32Array(0)
    const ids: number[] = []
    const stack = [from]
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      ids.push(id)
      for (const child of this.#children.get(id)?.values() ?? []) stack.push(child)
    }
    return Uint32Array.from(ids)
  }

  /** Adds a new node below an existing one. `data` is undefined if the client has no right to read it. */
  add(path: string, stat: WrittenStat, data: Uint8Array | undefined): void {
    const id = this.#table.add()
    const name = path === this.root ? '' : nameOf(path)
    if (path === this.root) {
      this.#rootId = id
      this.#table.setInt(id, 'parent', NONE)
    } else {
      const parent = this.find(parentOf(path))!
      this.#table.setInt(id, 'parent', parent)
      const siblings = this.#children.get(parent)
      if (siblings === undefined) this.#children.set(parent, new Map([[name, id]]))
      else siblings.set(name, id)
    }
    this.#names[id] = name
    this.#size++
    this.#bytes += name.length
    this.#table.setInt(id, 'isListed', 0)
    this.#write(id, stat, data)
  }

  update(id: number, stat: WrittenStat, data: Uint8Array | undefined): void {
    if (!this.isSame(id, stat) || data === undefined) this.#table.setInt(id, 'isListed', 0)
    this.#free(id)
    this.#write(id, stat, data)
    this.#compact()
  }

  /** Removes a node that has no children. */
  remove(id: number): void {
    const parent = this.#table.int(id, 'parent')
    const name = this.#names[id]!
    this.#free(id)
    if (parent === NONE) this.#rootId = undefined
    else {
      const siblings = this.#children.get(parent)!
      siblings.delete(name)
      if (siblings.size === 0) this.#children.delete(parent)
    }
    this.#names[id] = undefined
    this.#table.remove(id)
    this.#size--
    this.#bytes -= name.length
    this.#compact()
  }

  #write(id: number, stat: WrittenStat, data: Uint8Array | undefined): void {
    const table = this.#table
    table.setLong(id, 'czxid', stat.czxid)
    table.setLong(id, 'ctime', BigInt(stat.ctime))
    table.mzxid.set(id, stat.mzxid)
    table.mtime.set(id, BigInt(stat.mtime))
    table.version.set(id, BigInt(stat.version))
    table.ephemeralOwner.set(id, stat.ephemeralOwner)
    table.setInt(id, 'length', data === undefined ? -1 - stat.dataLength : data.length)
    if (data !== undefined) this.#keep(id, data)
  }

  #keep(id: number, data: Uint8Array): void {
    const { chunk, offset } = this.#data.add(data)
    this.#table.setInt(id, 'chunk', chunk)
    this.#table.setInt(id, 'offset', offset)
    this.#bytes += data.length
  }

  #free(id: number): void {
    const length = this.#table.int(id, 'length')
    if (length < 0) return
    this.#data.remove(this.#place(id), length)
    this.#bytes -= length
  }

  #place(id: number): { chunk: number; offset: number } {
    return { chunk: this.#table.int(id, 'chunk'), offset: this.#table.int(id, 'offset') }
  }

  #compact(): void {
    if (!this.#data.isWasteful) return
    const old = this.#data
    this.#data = new DataStore()
    for (let id = 0; id < this.#table.end; id++) {
      const length = this.has(id) ? this.#table.int(id, 'length') : NONE
      if (length < 0) continue
      this.#bytes -= length
      this.#keep(id, old.read(this.#place(id), length))
    }
  }
}

export function childPath(path: string, name: string): string {
  return path === '/' ? `/${name}` : `${path}/${name}`
}

export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** Copies the name: in JS engines a substring keeps the whole string in memory. */
function nameOf(path: string): string {
  return decoder.decode(encoder.encode(path.slice(path.lastIndexOf('/') + 1)))
}
