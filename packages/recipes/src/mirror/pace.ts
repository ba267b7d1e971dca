// How fast the mirrors of a session compare their nodes. After an outage many mirrors of many processes do that at once, also for one
// change. If each had a window of reads under way, servers would have all nodes of all mirrors to look at, and other calls would wait
// for seconds. So the mirrors of one session share a small window. It doubles while the answers come as fast as they ever did, and
// falls when they get slower: the reads of a process then wait there, and not in the servers.
import type { Session } from '@zk/client'
import { WINDOW } from '../calls/call-each.ts'
import { memoized } from '../memoized.ts'

/** How many nodes are compared at once at first, and at least. */
const LEAST = 16
/** An answer that takes this much longer than the fastest one has waited for others. */
const SLOWER = 2
/** In ms: differences below it are those of timers and turns. */
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

  /** A comparison begins. If there is no room for it the result is false, and `whenRoom` is called later, once. */
  begin(whenRoom: () => void): boolean {
    if (this.#underWay >= this.#size) {
      this.#waiting.add(whenRoom)
      return false
    }
    this.#underWay++
    return true
  }

  /** A comparison that was begun is not made, or was given up. */
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

  /** It does not wait for room any more. */
  leave(whenRoom: () => void): void {
    this.#waiting.delete(whenRoom)
  }
}
