import { concat } from '@zk/wire'

/** What the driver must do on a connection: first send the bytes, then close it. */
export interface Due {
  readonly bytes: Uint8Array | undefined
  readonly close: 'end' | 'reset' | undefined
}

type Item =
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }
  /** Later items wait for this time. */
  | { readonly type: 'hold'; readonly ms: number }
  /** These bytes leave together with the next ones, at the latest after this time. */
  | { readonly type: 'merge'; readonly ms: number; readonly bytes: Uint8Array }
  | { readonly type: 'close'; readonly how: 'end' | 'reset' }
  /** Later bytes are lost. */
  | { readonly type: 'lose' }

type Cancel = () => void

interface Clock {
  after(ms: number, action: () => void): Cancel
}

/** Above this number of waiting bytes the connection is full. */
const MOST_WAITING = 1024 * 1024

/** The bytes for one client, in order. They leave at the end of the turn, unless something holds them. */
export class Outgoing {
  readonly #clock: Clock
  readonly #changed: () => void
  #due: Uint8Array[] = []
  #close: 'end' | 'reset' | undefined
  #waiting: Item[] = []
  /** Cancels the timer of a hold. While it is set, everything waits. */
  #hold: Cancel | undefined
  /**
   * Bytes that leave together with the next ones. `#longestWait` cancels the timer for them. It is undefined if the bytes
   * have waited long enough, but are frozen.
   */
  #merged: Uint8Array[] = []
  #longestWait: Cancel | undefined
  readonly #frozenBy = new Set<string>()
  #isLost = false
  #size = 0

  /** `changed` is called when there is something new to take. */
  constructor(clock: Clock, changed: () => void) {
    this.#clock = clock
    this.#changed = changed
  }

  send(bytes: Uint8Array): void {
    this.#push({ type: 'bytes', bytes })
  }

  /** Delays the bytes that are sent from now on. */
  hold(ms: number): void {
    this.#push({ type: 'hold', ms })
  }

  /** Sends these bytes together with the next ones, or after this time. */
  merge(bytes: Uint8Array, ms: number): void {
    this.#push({ type: 'merge', bytes, ms })
  }

  /** Closes the connection after everything that was sent. */
  end(how: 'end' | 'reset' = 'end'): void {
    this.#push({ type: 'close', how })
  }

  /** Loses the bytes that are sent from now on. */
  loseRest(): void {
    this.#push({ type: 'lose' })
  }

  /** Closes the connection at once. Bytes that still wait are lost. */
  cut(how: 'end' | 'reset'): void {
    this.#forget()
    if (this.#isLost) return
    this.#close = how
    this.#changed()
  }

  /** Nothing leaves until every freeze is undone. */
  freeze(by: string): void {
    this.#frozenBy.add(by)
  }

  thaw(by: string): void {
    this.#frozenBy.delete(by)
    this.#drain()
  }

  /** Loses everything, including the bytes that wait. */
  lose(): void {
    this.#isLost = true
    this.#forget()
  }

  /** Whether so many bytes wait that no more requests should be read. */
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
        // The wait counts from the first of the merged frames.
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

  /** Sends the bytes that were to leave together. */
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
