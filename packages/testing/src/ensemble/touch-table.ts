/** The sessions that a follower has touched since it last sent this table to the leader (LearnerSessionTracker). */
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
   * A fault: the next touch is lost. In a real server it can go into a table that was just sent and is not read again,
   * because a touch first looks up the table and then writes to it.
   */
  loseNext(): void {
    this.#losesNext = true
  }

  remove(sessionId: bigint): void {
    this.#touched.delete(sessionId)
  }

  /** Returns the table, and begins a new one. Its values are the timeouts of the connections, in ms. */
  snapshot(): ReadonlyMap<bigint, number> {
    const touched = this.#touched
    if (touched.size > 0) this.#touched = new Map()
    return touched.size > 0 ? touched : NO_TOUCHES
  }
}

const NO_TOUCHES: ReadonlyMap<bigint, number> = new Map()
