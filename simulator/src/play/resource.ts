import { isShared, type HoldKind } from '../scenario/hold-kind.ts'

/**
 * A resource outside ZooKeeper that checks fences. It refuses a writer after it has served anything newer. It refuses a
 * reader after it has served a newer write: others may read at the same time.
 */
export class FencedResource {
  #highest = 0n
  #highestWrite = 0n

  /** Whether the request is served. */
  serve(kind: HoldKind, fence: bigint): boolean {
    if (fence < (isShared(kind) ? this.#highestWrite : this.#highest)) return false
    if (fence > this.#highest) this.#highest = fence
    if (!isShared(kind) && fence > this.#highestWrite) this.#highestWrite = fence
    return true
  }
}
