// The data of the nodes of a mirror, in large chunks. A Uint8Array for each node would take 200 bytes more than its data.

/** In bytes. */
const CHUNK = 64 * 1024
/** Longer data has a chunk of its own. */
const LONGEST_SHARED = CHUNK / 4

/** Where data is stored. */
export interface Place {
  readonly chunk: number
  readonly offset: number
}

interface Chunk {
  readonly bytes: Uint8Array
  /** How many bytes were allocated, from the start. */
  used: number
  /** How many of them hold data. */
  live: number
}

const NOWHERE: Place = { chunk: -1, offset: 0 }

export class DataStore {
  readonly #chunks: (Chunk | undefined)[] = []
  readonly #free: number[] = []
  /** The chunk that is being filled. */
  #current = -1
  #live = 0
  #allocated = 0

  /** Whether more than half of the memory is empty, so that the data should be moved into a new store. */
  get isWasteful(): boolean {
    return this.#allocated > 2 * this.#live + 4 * CHUNK
  }

  /** Keeps a copy. */
  add(data: Uint8Array): Place {
    const { length } = data
    if (length === 0) return NOWHERE
    if (length > LONGEST_SHARED) return this.#put(this.#allocate(length), data)
    const current = this.#chunks[this.#current]
    if (current === undefined || current.used + length > CHUNK) this.#current = this.#allocate(CHUNK)
    return this.#put(this.#current, data)
  }

  /** A copy. */
  read({ chunk, offset }: Place, length: number): Uint8Array {
    return length === 0 ? new Uint8Array(0) : this.#chunks[chunk]!.bytes.slice(offset, offset + length)
  }

  remove({ chunk }: Place, length: number): void {
    if (length === 0) return
    const from = this.#chunks[chunk]!
    from.live -= length
    this.#live -= length
    if (from.live > 0) return
    if (chunk === this.#current) {
      from.used = 0
      return
    }
    this.#chunks[chunk] = undefined
    this.#free.push(chunk)
    this.#allocated -= from.bytes.length
  }

  #put(index: number, data: Uint8Array): Place {
    const chunk = this.#chunks[index]!
    const offset = chunk.used
    chunk.bytes.set(data, offset)
    chunk.used += data.length
    chunk.live += data.length
    this.#live += data.length
    return { chunk: index, offset }
  }

  #allocate(size: number): number {
    const index = this.#free.pop() ?? this.#chunks.length
    this.#chunks[index] = { bytes: new Uint8Array(size), used: 0, live: 0 }
    this.#allocated += size
    return index
  }
}
