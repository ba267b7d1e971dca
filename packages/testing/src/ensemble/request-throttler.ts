// Limits how many requests of clients a server executes at a time. The others wait (RequestThrottler).
import { ErrorCode, OpCode } from '@zk/wire'
import type { Pending } from './pending.ts'

export interface ThrottleOptions {
  /** How many requests are executed at a time; 0: no limit. */
  readonly requestThrottleMaxRequests: number
  /** A request that has waited longer than this, in ms, is not executed if `isThrottlable`; 0: no limit. */
  readonly throttledOpWaitTime: number
}

interface ThrottlerContext {
  readonly now: () => number
  /** Whether the connection of this request has ended, so that its answer is not needed any more. */
  readonly isStale: (pending: Pending) => boolean
  readonly pass: (pending: Pending) => void
}

export class RequestThrottler {
  readonly #options: ThrottleOptions
  readonly #context: ThrottlerContext
  readonly #underWay = new Set<Pending>()
  readonly #waiting: { readonly pending: Pending; readonly since: number }[] = []
  #isPassing = false

  constructor(options: ThrottleOptions, context: ThrottlerContext) {
    this.#options = options
    this.#context = context
  }

  submit(pending: Pending): void {
    if (this.#options.requestThrottleMaxRequests === 0) return this.#context.pass(pending)
    this.#waiting.push({ pending, since: this.#context.now() })
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
      if (this.#context.isStale(pending)) continue
      const isTooLate = throttledOpWaitTime > 0 && this.#context.now() - since > throttledOpWaitTime
      if (isTooLate && isThrottlable(pending)) pending.refused = ErrorCode.ThrottledOp
      this.#underWay.add(pending)
      this.#context.pass(pending)
    }
    this.#isPassing = false
  }
}

/** All requests but pings and those that open or close a session (Request.isThrottlable). */
function isThrottlable({ request: { message } }: Pending): boolean {
  return (
    message.opCode !== OpCode.ping && message.opCode !== OpCode.closeSession && message.opCode !== OpCode.createSession
  )
}
