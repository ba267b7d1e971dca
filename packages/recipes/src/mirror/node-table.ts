// The numbers of the nodes of a mirror, in columns. An object with a Stat for each node would take far more memory.

const LONGS = { czxid: 0, ctime: 1 } as const
const INTS = { parent: 0, chunk: 1, offset: 2, length: 3, isListed: 4 } as const
const LONG_COUNT = Object.keys(LONGS).length
const INT_COUNT = Object.keys(INTS).length

/** The rows of a page. Pages are allocated when they are needed: a small mirror has one. */
const PAGE = 256

/** Rows of numbers. Each row has a number, its id, from 0. The id of a removed row is used again. */
export class NodeTable {
  // Nodes that were never written after their creation, and have no children and no owner, take no memory for these.
  readonly mzxid = new SparseColumn((id) => this.long(id, 'czxid'))
  readonly pzxid = new SparseColumn((id) => this.long(id, 'czxid'))
  readonly mtime = new SparseColumn((id) => this.long(id, 'ctime'))
  readonly version = new SparseColumn(() => 0n)
  readonly ephemeralOwner = new SparseColumn(() => 0n)
  readonly #longs: BigInt64Array[] = []
  readonly #ints: Int32Array[] = []
  readonly #free: number[] = []
  #end = 0

  /** The ids are below this number. */
  get end(): number {
    return this.#end
  }

  add(): number {
    const free = this.#free.pop()
    if (free !== undefined) return free
    if (this.#end % PAGE === 0) {
      this.#longs.push(new BigInt64Array(PAGE * LONG_COUNT))
      this.#ints.push(new Int32Array(PAGE * INT_COUNT))
    }
    return this.#end++
  }

  remove(id: number): void {
    this.#free.push(id)
  }

  long(id: number, column: keyof typeof LONGS): bigint {
    return this.#longs[Math.floor(id / PAGE)]![(id % PAGE) * LONG_COUNT + LONGS[column]]!
  }

  setLong(id: number, column: keyof typeof LONGS, value: bigint): void {
    this.#longs[Math.floor(id / PAGE)]![(id % PAGE) * LONG_COUNT + LONGS[column]] = value
  }

  int(id: number, column: keyof typeof INTS): number {
    return this.#ints[Math.floor(id / PAGE)]![(id % PAGE) * INT_COUNT + INTS[column]]!
  }

  setInt(id: number, column: keyof typeof INTS, value: number): void {
    this.#ints[Math.floor(id / PAGE)]![(id % PAGE) * INT_COUNT + INTS[column]] = value
  }
}

/**
 * A column in which most rows have the usual value. A page of it is allocated when a row of the page has another value. The usual
 * value of a row may depend on other columns: set those first.
 */
class SparseColumn {
  readonly #usual: (id: number) => bigint
  readonly #pages: (BigInt64Array | undefined)[] = []

  constructor(usual: (id: number) => bigint) {
    this.#usual = usual
  }

  get(id: number): bigint {
    return this.#pages[Math.floor(id / PAGE)]?.[id % PAGE] ?? this.#usual(id)
  }

  set(id: number, value: bigint): void {
    const page = this.#pages[Math.floor(id / PAGE)]
    if (page !== undefined) page[id % PAGE] = value
    else if (value !== this.#usual(id)) this.#allocate(Math.floor(id / PAGE))[id % PAGE] = value
  }

  #allocate(number: number): BigInt64Array {
    const page = BigInt64Array.from({ length: PAGE }, (_, row) => this.#usual(number * PAGE + row))
    this.#pages[number] = page
    return page
  }
}
