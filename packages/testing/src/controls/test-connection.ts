import { show } from '../connection/fault.ts'
import type { ServerConnection } from '../connection/server-connection.ts'
import type { Control } from './control.ts'

/** One connection of a client to a member. */
export class TestConnection {
  readonly #connection: ServerConnection
  readonly #control: Control

  /** @internal */
  constructor(connection: ServerConnection, control: Control) {
    this.#connection = connection
    this.#control = control
  }

  /** Its number in the history. */
  get id(): number {
    return this.#connection.id
  }

  /** Name of the member. */
  get member(): string {
    return this.#connection.port.name
  }

  /** Id of its session; 0 before the handshake. */
  get session(): bigint {
    return this.#connection.sessionId
  }

  /** Closes it (FIN). */
  end(): void {
    this.#do('end()', () => this.#connection.cut('end', 'the test closed it'))
  }

  /** Resets it (RST). */
  reset(): void {
    this.#do('reset()', () => this.#connection.cut('reset', 'the test reset it'))
  }

  /** Nothing is read of the client and nothing reaches it, until it thaws: then all of it, in order. */
  freeze(): void {
    this.#do('freeze()', () => this.#connection.freeze('user'))
  }

  /** Undoes `freeze`. */
  thaw(): void {
    this.#do('thaw()', () => this.#connection.thaw('user'))
  }

  /**
   * From now on what comes, what goes, or both is lost, and neither end is told, as when a cable was cut. It stays so
   * until one of them gives up.
   */
  halfOpen(loses: 'both' | 'requests' | 'replies' = 'both'): void {
    if (!['both', 'requests', 'replies'].includes(loses)) {
      throw new TypeError(`halfOpen takes 'both', 'requests' or 'replies', not ${show(loses)}`)
    }
    this.#do(`halfOpen(${loses})`, () => this.#connection.halfOpen(loses))
  }

  #do(what: string, action: () => void): void {
    this.#control(`#${this.id}.${what}`, action)
  }
}
