import type { RequestMessage } from '@zk/wire'
import type { DataTree } from '../database/index.ts'
import { answerSize, dataSize } from './answer-size.ts'
import type { Gate } from './gate.ts'
import { type Pending, refusalOf, releaseUnstruck } from './requests.ts'

/**
 * The limit for the expected bytes of answers that are still to come. As many bytes may wait to be sent (outgoing.ts). So
 * the memory of a connection is bounded, whatever its client requests.
 */
const MOST_EXPECTED = 1024 * 1024

/** The unanswered requests of a connection, in order. If they are too many or too large, they close its gate. */
export class Unanswered {
  readonly #gate: Gate
  readonly #limit: number
  #requests: Pending[] = []
  /** The approximate size of the answer to each request. */
  #expected: number[] = []
  #sum = 0
  /** The length of the longest data that one of the requests writes: a later read may return it. */
  #written = 0

  constructor(gate: Gate, limit: number) {
    this.#gate = gate
    this.#limit = limit
  }

  get count(): number {
    return this.#requests.length
  }

  add(request: Pending, tree: DataTree): void {
    const { message } = request
    const size = answerSize(message, tree, this.#written)
    this.#written = Math.max(this.#written, dataSize(message))
    this.#requests.push(request)
    this.#expected.push(size)
    this.#sum += size
    this.#updateGate()
  }

  /**
   * Removes this request, which is now answered, and all earlier ones, which the server has skipped. `before` has those of
   * them that a rule refuses: the caller must answer them first.
   */
  settle(message: RequestMessage): { readonly before: readonly Pending[]; readonly request: Pending | undefined } {
    const at = this.#requests.findIndex((pending) => pending.message === message)
    const before = this.#requests.splice(0, at + 1)
    const request = before.pop()
    for (const size of this.#expected.splice(0, at + 1)) this.#sum -= size
    if (this.count === 0) this.#written = 0
    this.#updateGate()
    for (const dropped of before) if (!isRefused(dropped)) releaseUnstruck(dropped.rule)
    return { before: before.filter(isRefused), request }
  }

  /** Removes and returns the next request, if a rule refuses it. */
  nextRefused(): Pending | undefined {
    const [next] = this.#requests
    if (next === undefined || !isRefused(next)) return undefined
    return this.settle(next.message).request
  }

  clear(): void {
    for (const request of this.#requests) releaseUnstruck(request.rule)
    this.#requests = []
    this.#expected = []
    this.#sum = 0
    this.#written = 0
  }

  #updateGate(): void {
    this.#gate.set('crowded', this.count > this.#limit || this.#sum > MOST_EXPECTED)
  }
}

const isRefused = ({ rule }: Pending) => refusalOf(rule) !== undefined
