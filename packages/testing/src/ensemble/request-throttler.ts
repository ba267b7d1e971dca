// Limits how many requests of clients a server executes at a time. The others wait (RequestThrottler).
import { ErrorCode, OpCode } from '@zk/wire'
import type { Pending } from './pending.ts'

export interface ThrottleOptions {
  /** How many requests are executed at a time; 0 for any number. */
  readonly requestThrottleMaxRequests: number
  /** A request that has waited longer than this, in ms, is not executed; 0 for any time. */
  readonly throttledOpWaitTime: number
}

interface Surroundings {
  readonly now: () => number
  /** Whether the connection of this request has ended, so that its answer is not needed any more. */
  readonly isStale: (pending: Pending) => boolean
  readonly pass: (pending: Pending) => void
}

export class RequestThrottler {
  readonly #options: ThrottleOptions
  readonly #around: Surroundings
  readonly #underWay = new Set<Pending>()
  readonly #waiting: { readonly pending: Pending; readonly since: number }[] = []
  #isPassing = false

  constructor(options: ThrottleOptions, around: Surroundings) {
    this.#options = options
    this.#around = around
  }

  submit(pending: Pending): void {
    if (this.#options.requestThrottleMaxRequests === 0) return this.#around.pass(pending)
    this.#waiting.push({ pending, since: this.#around.now() })
    this.#passSome()
  }

  finished(pending: Pending): void {
    if (this.#underWay.delete(pending)) this.#passSome()
  }

  /** Passes requests on while there is room. `pass` may call `finished` before it returns, hence `#isPassing`. */
  #passSome(): void {
    if (this.#isPassing) return
    this.#isPassing = true
    const { requestThrottleMaxRequests, throttledOpWaitTime } = this.#options
    while (this.#waiting.length > 0 && this.#underWay.size < requestThrottleMaxRequests) {
      const { pending, since } = this.#waiting.shift()!
      if (this.#around.isStale(pending)) continue
      const isTooLate = throttledOpWaitTime > 0 && this.#around.now() - since > throttledOpWaitTime
      if (isTooLate && isThrottlable(pending)) pending.refused = ErrorCode.ThrottledOp
      this.#underWay.add(pending)
      this.#around.pass(pending)
    }
    this.#isPassing = false
  }
}

/** Request.isThrottlable */
function isThrottlable({ request: { message } }: Pending): boolean {
  return (
    message.opCode !== OpCode.ping && message.opCode !== OpCode.closeSession && message.opCode !== OpCode.createSession
  )
}
