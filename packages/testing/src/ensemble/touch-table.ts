/** A follower knows no ends of sessions: only which were touched since it last told the leader (LearnerSessionTracker). */
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
   * A fault: the next touch goes into the table that was sent a moment ago, which is not read again. On a real server the
   * two steps of a touch, to look up the table and to write to it, may have the sending between them.
   */
  loseNext(): void {
    this.#losesNext = true
  }

  remove(sessionId: bigint): void {
    this.#touched.delete(sessionId)
  }

  /** By session the timeout of its connection, in ms. */
  snapshot(): ReadonlyMap<bigint, number> {
    const touched = this.#touched
    if (touched.size > 0) this.#touched = new Map()
    return touched.size > 0 ? touched : NOBODY
  }
}

const NOBODY: ReadonlyMap<bigint, number> = new Map()
