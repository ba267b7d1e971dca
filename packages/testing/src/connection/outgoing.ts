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
  /** What follows is waited for so long, and leaves together with what comes next. */
  | { readonly type: 'merge'; readonly ms: number; readonly bytes: Uint8Array }
  | { readonly type: 'end' }

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
  /** What is waited for, and the bytes that the next shall come with. */
  #hold: { readonly merged: Uint8Array | undefined; readonly cancel: Cancel } | undefined
  #isFrozen = false
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
  end(): void {
    this.#push({ type: 'end' })
  }

  /** Ahead of what still waits, which is lost. */
  cut(how: 'end' | 'reset'): void {
    this.#forget()
    if (this.#isLost) return
    this.#close = how
    this.#changed()
  }

  freeze(): void {
    this.#isFrozen = true
  }

  thaw(): void {
    this.#isFrozen = false
    this.#drain()
  }

  /** From now on everything is lost. */
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
    while (!this.#isFrozen) {
      if (this.#hold !== undefined) {
        if (this.#hold.merged === undefined || this.#waiting.length === 0) return
        this.#unhold()
      }
      const item = this.#waiting.shift()
      if (item === undefined) return
      this.#do(item)
    }
  }

  #do(item: Item): void {
    switch (item.type) {
      case 'bytes':
        this.#due.push(item.bytes)
        return this.#changed()
      case 'hold':
      case 'merge': {
        const cancel = this.#clock.after(item.ms, () => {
          this.#unhold()
          this.#drain()
        })
        this.#hold = { merged: item.type === 'merge' ? item.bytes : undefined, cancel }
        return
      }
      case 'end':
        this.#close = 'end'
        return this.#changed()
    }
  }

  #unhold(): void {
    this.#hold?.cancel()
    const merged = this.#hold?.merged
    this.#hold = undefined
    if (merged !== undefined) this.#waiting.unshift({ type: 'bytes', bytes: merged })
  }

  #forget(): void {
    this.#hold?.cancel()
    this.#hold = undefined
    this.#waiting = []
    this.#size = this.#due.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }
}
