import type { Kind } from '../scenario/scenario.ts'

/**
 * A resource outside ZooKeeper that checks fences. Writers are refused once anything newer was served; readers once a
 * newer write was, for others may read at the same time.
 */
export class FencedResource {
  #highest = 0n
  #highestWrite = 0n

  /** Whether it is served. */
  serve(kind: Kind, fence: bigint): boolean {
    if (fence < (kind === 'read' ? this.#highestWrite : this.#highest)) return false
    if (fence > this.#highest) this.#highest = fence
    if (kind !== 'read' && fence > this.#highestWrite) this.#highestWrite = fence
    return true
  }
}
