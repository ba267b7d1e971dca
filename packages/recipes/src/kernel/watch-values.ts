// The iterators of what a recipe watches. What changes while the body of a loop runs costs nothing, and the next value is the newest one.
import type { Connection, WatchIterator, ZooKeeper } from '@zk/client'
import { onAbort } from '@zk/client/internal'
import { withLimit } from './limit.ts'
import { awaitedLater } from './promises.ts'

/** The newest values of something. */
export interface Values<Value> {
  /** Resolves with a value that differs from the last one; at the first call, at once. */
  next(): Promise<Value>
  /** Whether the last value may be out of date. */
  readonly isStale: boolean
  /** Whether no other value follows the last one. */
  readonly isOver?: boolean
  /** Removes the watches, in the background: leaving does not wait for a silent server. */
  stop(): void
}

/** Iterates the values until the signal aborts. `begin` is called by the first `next`, and checks the arguments. */
export function watchValues<Value>(
  options: { readonly signal?: AbortSignal | undefined },
  begin: (signal: AbortSignal) => Values<Value>,
): WatchIterator<Value> {
  return new ValueIterator(options, begin)
}

class ValueIterator<Value> implements WatchIterator<Value> {
  readonly #signal: AbortSignal | undefined
  readonly #left = new AbortController()
  readonly #iterated: AsyncGenerator<Value, undefined, undefined>
  #values: Values<Value> | undefined

  constructor(options: { readonly signal?: AbortSignal | undefined }, begin: (signal: AbortSignal) => Values<Value>) {
    this.#signal = options?.signal
    this.#iterated = this.#iterate(begin)
  }

  get isStale(): boolean {
    return this.#values?.isStale ?? true
  }

  /** It listens to the signal only for as long as it waits: an iterator that is dropped leaves nothing at the signal. */
  async next(): Promise<IteratorResult<Value, undefined>> {
    const next = this.#iterated.next()
    const hasBegun = this.#values !== undefined
    const unlisten =
      hasBegun && this.#signal !== undefined ? onAbort(this.#signal, () => this.#left.abort()) : undefined
    try {
      return await next
    } finally {
      unlisten?.()
    }
  }

  async return(): Promise<IteratorResult<Value, undefined>> {
    this.#left.abort()
    return await this.#iterated.return(undefined)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async *#iterate(begin: (signal: AbortSignal) => Values<Value>): AsyncGenerator<Value, undefined, undefined> {
    const over = this.#left.signal
    const values = begin(over)
    this.#values = values
    try {
      while (!over.aborted && !this.#signal?.aborted) {
        yield await values.next()
        if (values.isOver === true) return
      }
    } catch (error) {
      if (!over.aborted) throw error
    } finally {
      this.#values = undefined
      values.stop()
    }
  }
}

/** Something that is read from the servers, and watched there. */
export interface Source<Value> {
  readonly zk: ZooKeeper
  /** Reads it, over any number of connections. */
  read(): Promise<Value>
  /** Resolves when what was read may have changed. */
  changed(): Promise<unknown>
  /** The connection of the last read is lost: the next read asks the servers again. */
  lost(): void
  isSame(one: Value, other: Value): boolean
  stop(): void
}

/**
 * The values of a source. The last value comes again when the client loses its server, and is then stale, and once more when it is
 * confirmed.
 */
export class FreshValues<Value> implements Values<Value> {
  readonly #source: Source<Value>
  readonly #signal: AbortSignal
  /** The read under way. It continues through lost connections. */
  #reading: Promise<Value> | undefined
  /** Whether the last value that was read is still known. */
  #isKnown = false
  /** The connection of the last read, until it is lost. */
  #connection: Connection | undefined
  #told: { readonly value: Value; readonly isStale: boolean } | undefined

  constructor(source: Source<Value>, signal: AbortSignal) {
    this.#source = source
    this.#signal = signal
  }

  get isStale(): boolean {
    const { connection } = this.#source.zk.session
    return connection?.readOnly !== false || connection !== this.#connection
  }

  async next(): Promise<Value> {
    for (;;) {
      const view = await this.#look()
      const told = this.#told
      if (told !== undefined && view.isStale === told.isStale && this.#source.isSame(view.value, told.value)) continue
      this.#told = view
      return view.value
    }
  }

  stop(): void {
    this.#source.stop()
  }

  /** The next view. It may be equal to the last. */
  async #look(): Promise<{ readonly value: Value; readonly isStale: boolean }> {
    if (this.#isKnown) {
      const isLost = (await this.#unlessLost(this.#source.changed())) === LOST
      this.#isKnown = false
      if (isLost) return this.#stale()
    }
    // If this fails, the loop may have ended already, or its body may be running.
    this.#reading ??= awaitedLater(this.#source.read())
    const value = await this.#unlessLost(this.#reading)
    if (value === LOST) return this.#stale()
    this.#reading = undefined
    const { connection } = this.#source.zk.session
    this.#connection = connection
    // Without a connection it is read again on the next one.
    if (connection === undefined) this.#source.lost()
    else this.#isKnown = true
    return { value, isStale: connection?.readOnly !== false }
  }

  #stale(): { readonly value: Value; readonly isStale: true } {
    this.#source.lost()
    return { value: this.#told!.value, isStale: true }
  }

  /** Resolves with `LOST` if the connection of the last read is lost first. */
  async #unlessLost<T>(promise: Promise<T>): Promise<T | typeof LOST> {
    const connection = this.#connection
    let unlisten = () => {}
    const lost = new Promise<typeof LOST>((resolve) => {
      if (connection !== undefined) unlisten = onAbort(connection.signal, () => resolve(LOST))
    })
    try {
      const limits = { signals: [this.#signal] }
      const result = await withLimit(this.#source.zk.runtime, limits, (limit) =>
        limit.during(Promise.race([promise, lost])),
      )
      if (result === LOST) this.#connection = undefined
      return result
    } finally {
      unlisten()
    }
  }
}

const LOST = Symbol('lost')
