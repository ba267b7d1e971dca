import type { RequestMessage } from '@zk/wire'
import type { Gate } from './gate.ts'
import { type Pending, refusalOf } from './requests.ts'

/** The requests of a connection that wait for their answers, in order; too many close its gate. */
export class Unanswered {
  readonly #gate: Gate
  readonly #limit: number
  #requests: Pending[] = []

  constructor(gate: Gate, limit: number) {
    this.#gate = gate
    this.#limit = limit
  }

  get count(): number {
    return this.#requests.length
  }

  add(request: Pending): void {
    this.#requests.push(request)
    this.#gate.set('crowded', this.count > this.#limit)
  }

  /**
   * Takes out the request that is now answered, and all before it: what a server drops without an answer, it drops for
   * good. Of these, those that a rule refuses are still to be answered, `before` it.
   */
  settle(message: RequestMessage): { readonly before: readonly Pending[]; readonly request: Pending | undefined } {
    const at = this.#requests.findIndex((pending) => pending.message === message)
    const before = this.#requests.splice(0, at + 1)
    const request = before.pop()
    this.#gate.set('crowded', this.count > this.#limit)
    return { before: before.filter(isRefused), request }
  }

  /** The next one, if a rule refuses it. */
  nextRefused(): Pending | undefined {
    const [next] = this.#requests
    if (next === undefined || !isRefused(next)) return undefined
    return this.settle(next.message).request
  }

  clear(): void {
    this.#requests = []
  }
}

const isRefused = ({ rule }: Pending) => refusalOf(rule) !== undefined
