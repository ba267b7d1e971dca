// The access of a session to servers. It has at most one connection, and one probe (which asks a server something) at a time.
import type { ConnectionHandler, Runtime } from '../../runtime/runtime.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { Question } from '../servers/questions.ts'
import type { Target } from '../servers/server-picker.ts'
import { GuardedConnection } from './guarded-connection.ts'
import { dialTls } from './tls-dialer.ts'

type Dial = Runtime['dial']

export class ServerLink {
  readonly #runtime: Runtime
  readonly #dial: Dial
  #connection: GuardedConnection | undefined
  #writable = true
  /** The connection that `part` has left, and that is still open. */
  #parted: { readonly connection: GuardedConnection; readonly stopTimer: () => void } | undefined
  #probing: GuardedConnection | undefined

  constructor(runtime: Runtime, tls: TlsSource | undefined) {
    this.#runtime = runtime
    this.#dial = (target, handler) =>
      tls === undefined ? runtime.dial(target, handler) : dialTls(runtime, tls, target, handler)
  }

  /** The connection, even if it is not open yet. Callers only compare it. */
  get connection(): unknown {
    return this.#connection
  }

  /** Whether there is a connection, and its socket accepts more bytes. */
  get isWritable(): boolean {
    return this.#connection !== undefined && this.#writable
  }

  dial(target: Target, handler: ConnectionHandler): void {
    const unlessParted = (report: () => void) => {
      if (this.#connection === connection) report()
    }
    const connection = new GuardedConnection({
      opened: () => handler.opened(),
      received: (bytes) => {
        this.#endParting(connection)
        unlessParted(() => handler.received(bytes))
      },
      drained: () =>
        unlessParted(() => {
          this.#writable = true
          handler.drained()
        }),
      lost: (error) => {
        this.#endParting(connection)
        unlessParted(() => {
          this.#connection = undefined
          handler.lost(error)
        })
      },
    })
    this.#writable = true
    this.#connection = connection
    connection.dial((guarded) => this.#dial(target, guarded))
  }

  write(bytes: Uint8Array): void {
    this.#writable = this.#connection!.write(bytes)
  }

  /**
   * Writes the last bytes. Closes the connection when the server answers or closes it, or after `limit` ms, so that the bytes
   * arrive. The handler is not called any more.
   */
  part(bytes: Uint8Array, limit: number): void {
    const connection = this.#connection
    if (connection === undefined) return
    this.#connection = undefined
    const stopTimer = this.#runtime.setTimer(limit, () => this.#endParting(connection))
    this.#parted = { connection, stopTimer }
    connection.write(bytes)
  }

  #endParting(connection: GuardedConnection): void {
    if (this.#parted?.connection !== connection) return
    this.#parted.stopTimer()
    this.#parted = undefined
    connection.close()
  }

  /** Ends the connection. Its handler is not called any more. */
  hangUp(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks a server. `answered` is called once, with the failure, or with undefined if the session can use the server. */
  probe(target: Target, question: Question, answered: (failure: Error | undefined) => void): void {
    const connection = new GuardedConnection({
      opened: () => void connection.write(question.bytes),
      received: (bytes) => {
        const verdict = question.received(bytes)
        if (verdict === undefined) return
        connection.close(verdict.last)
        answered(verdict.failure)
      },
      drained: () => {},
      lost: answered,
    })
    this.#probing = connection
    connection.dial((guarded) => this.#dial(target, guarded))
  }

  /** Ends a probe without an answer. */
  endProbe(): void {
    this.#probing?.close()
  }
}
