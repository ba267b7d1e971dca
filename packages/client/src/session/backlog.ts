// Requests in the order in which they are to go, and how many bytes they are.
import type { Request } from './request.ts'

export class Backlog {
  #requests = new Set<Request>()
  #bytes = 0

  get count(): number {
    return this.#requests.size
  }

  /** Of their whole frames. */
  get bytes(): number {
    return this.#bytes
  }

  add(request: Request): void {
    this.#requests.add(request)
    this.#bytes += request.frameSize
  }

  /** Puts requests before all that are here. */
  prepend(requests: readonly Request[]): void {
    if (requests.length === 0) return
    this.#requests = new Set([...requests, ...this.#requests])
    for (const { frameSize } of requests) this.#bytes += frameSize
  }

  /** False when it was not here. */
  delete(request: Request): boolean {
    const isHere = this.#requests.delete(request)
    if (isHere) this.#bytes -= request.frameSize
    return isHere
  }

  /** Takes all out, in order. */
  clear(): Request[] {
    const all = [...this.#requests]
    this.#requests = new Set()
    this.#bytes = 0
    return all
  }

  [Symbol.iterator](): Iterator<Request> {
    return this.#requests[Symbol.iterator]()
  }
}
