// What a member's node should hold: its first data, and then the updates, which are written together.
import { KeeperError } from '@zk/client'
import { Deferred, unawaited } from '../kernel/promises.ts'

/** What servers, or the client, answer to data or rights that they refuse. */
const refusals = [
  'NoAuth',
  'QuotaExceeded',
  'InvalidACL',
  'BadArguments',
  'MarshallingError',
  'RequestTooLarge',
] as const

/** Data that the node should hold. */
export class Update {
  /** For a change: the data as last computed. */
  data: Uint8Array
  /** Computes the data from the previous data of the node; undefined if the data does not depend on it. */
  readonly change: ((before: Uint8Array) => Uint8Array) | undefined
  readonly #written = new Deferred()

  constructor(data: Uint8Array | string, change?: (before: Uint8Array) => Uint8Array) {
    this.data = typeof data === 'string' ? new TextEncoder().encode(data) : new Uint8Array(data)
    this.change = change
    unawaited(this.#written.promise)
  }

  /** Settles when the node holds the update, or never will. */
  get written(): Promise<void> {
    return this.#written.promise
  }

  settle(error?: unknown): void {
    if (error === undefined) this.#written.resolve()
    else this.#written.reject(error)
  }
}

/** The updates of one member. Of several updates the last wins. A refused update leaves the member with the data it had. */
export class Updates {
  /** The updates that are not settled yet, oldest first. */
  #waiting: Update[]
  /** Whether they are written one by one, because several changes together were refused. */
  #isApart = false
  /** The last update that a node has held. */
  #accepted: Update | undefined
  /** The update that the node holds; undefined if that is not known. */
  #held: Update | undefined

  constructor(first: Update) {
    this.#waiting = [first]
  }

  add(update: Update): void {
    this.#waiting.push(update)
  }

  /** The update to write next; if nothing is to be written, the update that the node holds. */
  get wanted(): Update {
    return (this.#isApart ? this.#waiting[0] : this.#waiting.at(-1)) ?? this.#accepted!
  }

  get areWritten(): boolean {
    return this.#held === this.wanted
  }

  /** The data of the last update that was not refused. */
  get data(): Uint8Array {
    return this.dataOf(this.#waiting.at(-1) ?? this.#accepted!)
  }

  /** A change is computed again each time, since an update before it may have been refused. */
  dataOf(update: Update): Uint8Array {
    let before = this.#accepted
    for (const each of this.#waiting.slice(0, this.#waiting.indexOf(update) + 1)) {
      if (each.change !== undefined) each.data = each.change(before!.data)
      before = each
    }
    return update.data
  }

  /** The node holds this update. It settles, and so do the updates before it. */
  hold(update: Update): void {
    this.#held = update
    this.#accepted = update
    const index = this.#waiting.indexOf(update)
    for (const each of this.#waiting.splice(0, index + 1)) each.settle()
    this.#isApart &&= this.#waiting.length > 0
  }

  /** What the node holds is not known. */
  forget(): void {
    this.#held = undefined
  }

  /** Whether a write has failed because of this update. Then it is not written again, and the member keeps the data it had. */
  refuse(update: Update, error: unknown): boolean {
    const isLasting = !KeeperError.is(error) || KeeperError.is(error, ...refusals)
    if (!isLasting || this.#accepted === undefined || update === this.#accepted) return false
    if (update.change !== undefined && update !== this.#waiting[0]) {
      // It includes the changes of others.
      this.#isApart = true
      return true
    }
    this.#waiting = this.#waiting.filter((each) => each !== update)
    this.#isApart &&= this.#waiting.length > 0
    update.settle(error)
    return true
  }

  /** Nothing more is written. */
  end(error: unknown): void {
    this.#accepted ??= this.#waiting[0]
    for (const update of this.#waiting.splice(0)) update.settle(error)
  }
}
