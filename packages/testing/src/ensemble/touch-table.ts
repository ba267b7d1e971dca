/** A follower knows nothing of the ends of sessions: only who was heard since it last told the leader (LearnerSessionTracker). */
export class TouchTable {
  #touched = new Map<bigint, number>()

  touch(sessionId: bigint, timeOut: number): void {
    this.#touched.set(sessionId, timeOut)
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
