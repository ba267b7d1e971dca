// Requests in the order in which they will be sent, and their bytes.
import type { Request } from './request.ts'

export class SendQueue {
  /** The requests, by the request whose place each has: mostly its own. */
  #requests = new Map<Request, Request>()
  /** The requests that have the place of another. */
  readonly #placeOf = new Map<Request, Request>()
  #bytes = 0

  get count(): number {
    return this.#requests.size
  }

  /** The bytes of the whole frames. */
  get bytes(): number {
    return this.#bytes
  }

  add(request: Request): void {
    this.#requests.set(request, request)
    this.#bytes += request.frameSize
  }

  /** Adds requests before all others. */
  prepend(requests: readonly Request[]): void {
    if (requests.length === 0) return
    this.#requests = new Map([...requests.map((request) => [request, request] as const), ...this.#requests])
    for (const { frameSize } of requests) this.#bytes += frameSize
  }

  /** Replaces a request; false if it is not in the queue. */
  replace(request: Request, other: Request): boolean {
    const place = this.#placeOf.get(request) ?? request
    if (this.#requests.get(place) !== request) return false
    this.#requests.set(place, other)
    this.#placeOf.delete(request)
    this.#placeOf.set(other, place)
    this.#bytes += other.frameSize - request.frameSize
    return true
  }

  /** Removes a request; false if it is not in the queue. */
  delete(request: Request): boolean {
    const place = this.#placeOf.get(request) ?? request
    if (this.#requests.get(place) !== request) return false
    this.#requests.delete(place)
    this.#placeOf.delete(request)
    this.#bytes -= request.frameSize
    return true
  }

  /** Removes all, in order. */
  clear(): Request[] {
    const all = [...this]
    this.#requests = new Map()
    this.#placeOf.clear()
    this.#bytes = 0
    return all
  }

  [Symbol.iterator](): Iterator<Request> {
    return this.#requests.values()
  }
}
