// How fast the mirrors of a session compare their nodes. After an outage many mirrors in many processes do that at once, even for
// one change. If each mirror had a large window of reads, servers would have to look at all nodes of all mirrors, and other calls
// would wait for seconds. So the mirrors of one session share a small window. It doubles while answers come as fast as ever, and
// shrinks when they get slower: then reads wait in the process, not in the servers.
import type { Session } from '@zk/client'
import { WINDOW } from '../kernel/call-each.ts'
import { memoized } from '../kernel/memoized.ts'

/** The initial and the minimum number of nodes that are compared at once. */
const LEAST = 16
/** An answer that takes this many times as long as the fastest answer has waited for others. */
const SLOWER = 2
/** In ms: smaller differences come from timers and turns. */
const NEGLIGIBLE = 2

const ofSessions = new WeakMap<Session, Pace>()

export class Pace {
  #size = LEAST
  #underWay = 0
  /** The shortest time that a comparison has taken, in ms. */
  #fastest = Infinity
  /** The comparisons since the size was last changed: how many, and how long they took together, in ms. */
  #count = 0
  #sum = 0
  /** Called when there is room again. */
  readonly #waiting = new Set<() => void>()

  static of(session: Session): Pace {
    return memoized(ofSessions, session, () => new Pace())
  }

  /** How many nodes may be compared at once. */
  get size(): number {
    return this.#size
  }

  /** A comparison begins. If there is no room for it, the result is false, and `whenRoom` is called later, once. */
  begin(whenRoom: () => void): boolean {
    if (this.#underWay >= this.#size) {
      this.#waiting.add(whenRoom)
      return false
    }
    this.#underWay++
    return true
  }

  /** A comparison that has begun is dropped. */
  cancel(): void {
    this.#underWay--
    this.#tell()
  }

  /** A comparison has ended, after `took` ms. */
  end(took: number): void {
    this.#underWay--
    this.#fastest = Math.min(this.#fastest, took)
    this.#count++
    this.#sum += took
    if (this.#count >= this.#size) {
      const isSlow = this.#sum / this.#count > SLOWER * this.#fastest + NEGLIGIBLE
      this.#size = isSlow ? Math.max(LEAST, this.#size / 2) : Math.min(WINDOW, this.#size * 2)
      this.#count = 0
      this.#sum = 0
    }
    this.#tell()
  }

  #tell(): void {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const whenRoom of waiting) whenRoom()
  }

  /** The caller no longer waits for room. */
  leave(whenRoom: () => void): void {
    this.#waiting.delete(whenRoom)
  }
}
