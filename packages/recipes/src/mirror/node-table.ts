// The numbers of the nodes of a mirror, in columns. An object with a Stat for each node would take far more memory.

const LONGS = { czxid: 0, mzxid: 1, pzxid: 2, ctime: 3, mtime: 4, ephemeralOwner: 5 } as const
const INTS = { version: 0, parent: 1, chunk: 2, offset: 3, length: 4 } as const
const LONG_COUNT = Object.keys(LONGS).length
const INT_COUNT = Object.keys(INTS).length

/** The rows of a page. A page is allocated when it is needed: a small mirror has one. */
const PAGE = 256

/** Rows of numbers. A row has a number, its id, from 0. The id of a removed row is given again. */
export class NodeTable {
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
