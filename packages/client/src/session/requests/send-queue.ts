// Requests in the order in which they are to go, and how many bytes they are.
import type { Request } from './request.ts'

export class SendQueue {
  /** By the request whose place it is: mostly its own. */
  #requests = new Map<Request, Request>()
  /** Requests that take the place of another. */
  readonly #placeOf = new Map<Request, Request>()
  #bytes = 0

  get count(): number {
    return this.#requests.size
  }

  /** The bytes of their whole frames. */
  get bytes(): number {
    return this.#bytes
  }

  add(request: Request): void {
    this.#requests.set(request, request)
    this.#bytes += request.frameSize
  }

  /** Puts requests before all that are here. */
  prepend(requests: readonly Request[]): void {
    if (requests.length === 0) return
    this.#requests = new Map([...requests.map((request) => [request, request] as const), ...this.#requests])
    for (const { frameSize } of requests) this.#bytes += frameSize
  }

  /** Puts another in its place; false when it was not here. */
  replace(request: Request, other: Request): boolean {
    const place = this.#placeOf.get(request) ?? request
    if (this.#requests.get(place) !== request) return false
    this.#requests.set(place, other)
    this.#placeOf.delete(request)
    this.#placeOf.set(other, place)
    this.#bytes += other.frameSize - request.frameSize
    return true
  }

  /** False when it was not here. */
  delete(request: Request): boolean {
    const place = this.#placeOf.get(request) ?? request
    if (this.#requests.get(place) !== request) return false
    this.#requests.delete(place)
    this.#placeOf.delete(request)
    this.#bytes -= request.frameSize
    return true
  }

  /** Takes all out, in order. */
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
