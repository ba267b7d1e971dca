/** The sessions that a follower has touched since its last message about them to the leader (LearnerSessionTracker). */
export class TouchTable {
  #touched = new Map<bigint, number>()
  #losesNext = false

  touch(sessionId: bigint, timeOut: number): void {
    if (this.#losesNext) {
      this.#losesNext = false
      return
    }
    this.#touched.set(sessionId, timeOut)
  }

  /**
   * A fault: the next touch goes into the table that was just sent, and which is not read again. A real server can send the
   * table between the two steps of a touch: it looks the table up, then writes to it.
   */
  loseNext(): void {
    this.#losesNext = true
  }

  remove(sessionId: bigint): void {
    this.#touched.delete(sessionId)
  }

  /** The timeout of each session's connection, in ms. */
  snapshot(): ReadonlyMap<bigint, number> {
    const touched = this.#touched
    if (touched.size > 0) this.#touched = new Map()
    return touched.size > 0 ? touched : NOBODY
  }
}

const NOBODY: ReadonlyMap<bigint, number> = new Map()
