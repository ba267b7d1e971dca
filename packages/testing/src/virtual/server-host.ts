import type { EnsembleModel, Link as Connection, Output } from '../ensemble-model.ts'
import type { Link, ServerEnd } from './link.ts'
import type { Network } from './network.ts'
import type { EventSource } from './world.ts'

/** Drives an ensemble in virtual time. Its connections are links, and its clock shows true time. */
export class ServerHost implements EventSource {
  readonly #ensemble: EnsembleModel
  readonly #onActivity: () => void
  readonly #links = new Map<Connection, Link>()
  #isWoken = false

  /** `onActivity` is called before the outputs of the ensemble are carried out. */
  constructor(ensemble: EnsembleModel, onActivity: () => void) {
    this.#ensemble = ensemble
    this.#onActivity = onActivity
    ensemble.onWake = () => {
      this.#isWoken = true
    }
  }

  deadline(): number {
    return this.#isWoken ? 0 : this.#ensemble.deadline()
  }

  elapse(now: number): void {
    this.#isWoken = false
    this.#perform(this.#ensemble.elapse(now))
  }

  /** Makes this member listen on the network. */
  listen(network: Network, member: string, now: () => number): void {
    network.listen(member, (process) => (link) => {
      const connection = this.#ensemble.accept(member, { address: process.name }, now())
      if (connection === undefined) return undefined
      this.#links.set(connection, link)
      return this.#endOf(connection, now)
    })
  }

  #endOf(connection: Connection, now: () => number): ServerEnd {
    return {
      received: (bytes) => this.#perform(this.#ensemble.received(connection, bytes, now())),
      closed: () => {
        this.#links.delete(connection)
        this.#perform(this.#ensemble.closed(connection, now()))
      },
    }
  }

  #perform(outputs: readonly Output[]): void {
    this.#onActivity()
    for (const output of outputs) {
      const link = this.#links.get(output.link)
      if (output.type === 'send') {
        link?.deliver(output.bytes)
        continue
      }
      this.#links.delete(output.link)
      if (output.how === 'end') link?.end()
      else link?.resetByServer()
    }
  }
}
