// Gets tokens from the SASL mechanism. The session sends them.
import { madePrintable } from '../../base/errors.ts'
import { isBytes } from '../../base/arguments.ts'
import type { SaslExchange, SaslMechanism } from '../../sasl/mechanism.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import type { Output } from '../protocol/output.ts'

export type SaslStep = Extract<Output, { type: 'saslStart' | 'saslChallenge' }>

export class SaslClient {
  readonly #mechanism: SaslMechanism
  readonly #runtime: Runtime
  #starts = 0
  /** The exchange on the current connection. */
  #exchange: SaslExchange | undefined

  constructor(mechanism: SaslMechanism, runtime: Runtime) {
    this.#mechanism = mechanism
    this.#runtime = runtime
  }

  /** The next token to send; undefined when the exchange is complete. */
  async token(step: SaslStep): Promise<Uint8Array | undefined> {
    if (step.type === 'saslStart') {
      this.#exchange = undefined
      const start = ++this.#starts
      const exchange = await this.#mechanism.start({ server: step.server, nonce: () => this.#runtime.uuid() })
      // If the connection was replaced meanwhile, the new one has an exchange of its own, which must stay.
      if (start === this.#starts) this.#exchange = exchange
      return this.#bytes(exchange.first ?? new Uint8Array(0))
    }
    const token = await this.#exchange?.step(step.token)
    return token === undefined ? undefined : this.#bytes(token)
  }

  /** Turns a value that the mechanism threw into an Error. */
  failure(error: unknown): Error {
    return error instanceof Error
      ? madePrintable(error)
      : new Error(`SASL ${this.#mechanism.name} failed`, { cause: error })
  }

  #bytes(token: unknown): Uint8Array {
    if (isBytes(token)) return token
    throw new TypeError(`SASL ${this.#mechanism.name}: a token must be a Uint8Array`)
  }
}
