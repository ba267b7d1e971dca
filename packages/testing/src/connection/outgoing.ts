import { concat } from '@zk/wire'

/** What is due on a connection. `close` comes behind the bytes. */
export interface Due {
  readonly bytes: Uint8Array | undefined
  readonly close: 'end' | 'reset' | undefined
}

type Item =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** What follows waits so long. */
  | { readonly type: 'hold'; readonly ms: number }
  /** Waits so long at most, and leaves together with what comes next. */
  | { readonly type: 'merge'; readonly ms: number; readonly bytes: Uint8Array }
  | { readonly type: 'close'; readonly how: 'end' | 'reset' }
  /** What follows is lost. */
  | { readonly type: 'lose' }

type Cancel = () => void

interface Clock {
  after(ms: number, action: () => void): Cancel
}

/** In bytes. */
const MOST_WAITING = 1024 * 1024

/** The bytes to one client, in order: they leave at the end of the turn, unless something holds them. */
export class Outgoing {
  readonly #clock: Clock
  readonly #changed: () => void
  #due: Uint8Array[] = []
  #close: 'end' | 'reset' | undefined
  #waiting: Item[] = []
  /** All that waits does so until then. */
  #hold: Cancel | undefined
  /** What leaves together with what comes next, and its timer; none when it has waited long enough, but is frozen. */
  #merged: Uint8Array[] = []
  #longestWait: Cancel | undefined
  readonly #frozenBy = new Set<string>()
  #isLost = false
  #size = 0

  /** `changed` is called when there is something to take that was not there before. */
  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock
    this.#changed = changed
  }

  send(bytes: Uint8Array): void {
    this.#push({ type: 'bytes', bytes })
  }

  /** What is sent from now on comes so much later. */
  hold(ms: number): void {
    this.#push({ type: 'hold', ms })
  }

  /** Leaves together with what is sent next, or after this time. */
  merge(bytes: Uint8Array, ms: number): void {
    this.#push({ type: 'merge', bytes, ms })
  }

  /** Behind everything that was sent. */
  end(how: 'end' | 'reset' = 'end'): void {
    this.#push({ type: 'close', how })
  }

  /** What is sent from now on is lost. */
  loseRest(): void {
    this.#push({ type: 'lose' })
  }

  /** Ahead of what still waits, which is lost. */
  cut(how: 'end' | 'reset'): void {
    this.#forget()
    if (this.#isLost) return
    this.#close = how
    this.#changed()
  }

  /** Nothing leaves until all thaw it that froze it. */
  freeze(by: string): void {
    this.#frozenBy.add(by)
  }

  thaw(by: string): void {
    this.#frozenBy.delete(by)
    this.#drain()
  }

  /** At once everything is lost, also what waits. */
  lose(): void {
    this.#isLost = true
    this.#forget()
  }

  /** So much has not left yet that no more should be made. */
  get isFull(): boolean {
    return this.#size > MOST_WAITING
  }

  take(): Due {
    const due = { bytes: this.#due.length === 0 ? undefined : concat(this.#due), close: this.#close }
    this.#due = []
    this.#close = undefined
    this.#size -= due.bytes?.byteLength ?? 0
    return due
  }

  #push(item: Item): void {
    if (this.#isLost) return
    if ('bytes' in item) this.#size += item.bytes.byteLength
    this.#waiting.push(item)
    this.#drain()
  }

  #drain(): void {
    while (!this.#isFrozen && this.#hold === undefined) {
      const item = this.#waiting.shift()
      if (item === undefined) break
      this.#do(item)
    }
    if (!this.#isFrozen && this.#longestWait === undefined) this.#flush()
  }

  get #isFrozen(): boolean {
    return this.#frozenBy.size > 0
  }

  #do(item: Item): void {
    switch (item.type) {
      case 'bytes':
        this.#merged.push(item.bytes)
        return this.#flush()
      case 'hold':
        this.#hold = this.#clock.after(item.ms, () => {
          this.#hold = undefined
          this.#drain()
        })
        return
      case 'merge':
        this.#merged.push(item.bytes)
        // The first one has waited longest.
        this.#longestWait ??= this.#clock.after(item.ms, () => {
          this.#longestWait = undefined
          this.#drain()
        })
        return
      case 'close':
        this.#flush()
        this.#close = item.how
        return this.#changed()
      case 'lose':
        this.#flush()
        return this.lose()
    }
  }

  /** What was to leave together does. */
  #flush(): void {
    this.#longestWait?.()
    this.#longestWait = undefined
    if (this.#merged.length === 0) return
    this.#due.push(...this.#merged)
    this.#merged = []
    this.#changed()
  }

  #forget(): void {
    this.#hold?.()
    this.#hold = undefined
    this.#longestWait?.()
    this.#longestWait = undefined
    this.#merged = []
    this.#waiting = []
    this.#size = this.#due.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }
}
