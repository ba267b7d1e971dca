import { show } from '../connection/fault.ts'
import type { ServerConnection } from '../connection/server-connection.ts'
import type { Control } from './control.ts'
import { hex } from './in-json.ts'

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

  /** The name of the member. */
  get member(): string {
    return this.#connection.port.name
  }

  /** The id of its session; 0 before the handshake. */
  get session(): bigint {
    return this.#connection.sessionId
  }

  /** For logs. */
  toJSON(): object {
    const { id, member, session } = this
    return { id, member, session: hex(session) }
  }

  /** Closes it (FIN). */
  end(): void {
    this.#do('end()', () => this.#connection.cut('end', 'the test closed it'))
  }

  /** Resets it (RST). */
  reset(): void {
    this.#do('reset()', () => this.#connection.cut('reset', 'the test reset it'))
  }

  /** Stops both directions until `thaw`. Then all bytes that have waited pass, in order. */
  freeze(): void {
    this.#do('freeze()', () => this.#connection.freeze('user'))
  }

  /** Undoes `freeze`. */
  thaw(): void {
    this.#do('thaw()', () => this.#connection.thaw('user'))
  }

  /**
   * From now on requests, replies, or both are lost, and neither end notices, as after a cable was cut. This lasts until one
   * end closes the connection.
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
