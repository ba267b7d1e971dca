// Requests in the order in which they will be sent. Each request refers to the one before it and the one after it, so any
// request can be removed or replaced in constant time.
import type { Request } from './request.ts'

export class SendQueue {
  #first: Request | undefined
  #last: Request | undefined
  #count = 0
  #bytes = 0

  get count(): number {
    return this.#count
  }

  /** The bytes of all frames. */
  get bytes(): number {
    return this.#bytes
  }

  /** The request to send last. */
  get last(): Request | undefined {
    return this.#last
  }

  /** The request to send first. */
  get first(): Request | undefined {
    return this.#first
  }

  add(request: Request): void {
    this.#insert(request, this.#last, undefined)
  }

  /** Adds requests before all others. */
  prepend(requests: readonly Request[]): void {
    const first = this.#first
    for (const request of requests) this.#insert(request, first === undefined ? this.#last : first.previous, first)
  }

  /** Replaces a request; false if it is not in the queue. */
  replace(request: Request, other: Request): boolean {
    const { next } = request
    if (!this.delete(request)) return false
    this.#insert(other, next === undefined ? this.#last : next.previous, next)
    return true
  }

  /** Removes a request; false if it is not in the queue. */
  delete(request: Request): boolean {
    if (request.queue !== this) return false
    const { previous, next } = request
    if (previous === undefined) this.#first = next
    else previous.next = next
    if (next === undefined) this.#last = previous
    else next.previous = previous
    request.queue = undefined
    request.previous = undefined
    request.next = undefined
    this.#count--
    this.#bytes -= request.frameSize
    return true
  }

  /** Removes and returns all requests, in order. */
  clear(): Request[] {
    const all = [...this]
    for (const request of all) this.delete(request)
    return all
  }

  *[Symbol.iterator](): Iterator<Request> {
    for (let request = this.#first; request !== undefined; request = request.next) yield request
  }

  #insert(request: Request, previous: Request | undefined, next: Request | undefined): void {
    request.queue = this
    request.previous = previous
    request.next = next
    if (previous === undefined) this.#first = request
    else previous.next = request
    if (next === undefined) this.#last = request
    else next.previous = request
    this.#count++
    this.#bytes += request.frameSize
  }
}
