import type { Observer } from '@zk/testing/internal'
import type { Recorded } from '../history/history.ts'
import { Hash } from './hash.ts'

/** Hashes a whole history: every segment on the network with its time, and everything that was recorded. */
export class TraceHash {
  readonly #hash = new Hash()

  readonly observer: Observer = ({ at, process, host, way }, bytes) => {
    this.#hash.text(`${at} ${process} ${way} ${host}`)
    this.#hash.bytes(bytes)
  }

  digest(history: readonly Recorded[]): string {
    for (const each of history) this.#hash.text(toText(each))
    return this.#hash.digest()
  }
}

/** As JSON, with bigints as digits. */
export function toText(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))
}
