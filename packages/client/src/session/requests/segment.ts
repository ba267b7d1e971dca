// Collects the frames that leave together.
import { concat } from '@zk/wire'

export class Segment {
  readonly #pieces: Uint8Array[] = []
  /** The last piece, which may grow. */
  #memory: Uint8Array | undefined
  #start = 0
  #end = 0
  #size = 0
  #frames = 0

  /** The number of bytes. */
  get size(): number {
    return this.#size
  }

  get frames(): number {
    return this.#frames
  }

  /**
   * Adds a frame. A frame right behind the last one in the same memory, as those of calls of one turn are, needs no copy: 64
   * requests are one piece. (With a buffer for each, and one to join them, a read cost a fifth more.)
   */
  add(memory: Uint8Array, start = 0, end = memory.byteLength): void {
    this.#frames++
    this.#size += end - start
    if (memory === this.#memory && start === this.#end) {
      this.#end = end
      return
    }
    this.#finishPiece()
    this.#memory = memory
    this.#start = start
    this.#end = end
  }

  /** All frames; undefined when there are none. */
  bytes(): Uint8Array | undefined {
    this.#finishPiece()
    return this.#pieces.length === 0 ? undefined : concat(this.#pieces)
  }

  #finishPiece(): void {
    if (this.#memory === undefined) return
    this.#pieces.push(this.#memory.subarray(this.#start, this.#end))
    this.#memory = undefined
  }
}
