// The access of a session to servers. It has at most one connection, and one probe (which asks a server something) at a time.
import type { ConnectionHandler, DialTarget, Runtime, RuntimeConnection } from '../../runtime/runtime.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { Question, Verdict } from '../servers/questions.ts'
import type { Target } from '../servers/server-picker.ts'
import { dialTls } from './tls-dialer.ts'

type Dial = Runtime['dial']

export class ServerLink {
  readonly #runtime: Runtime
  readonly #dial: Dial
  #connection: RuntimeConnection | undefined
  #writable = true
  /** The connection that was parted from, and is still open. */
  #parted: { readonly connection: RuntimeConnection; readonly stopTimer: () => void } | undefined
  #endProbe = () => {}

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
    let connection: RuntimeConnection | undefined
    const unlessHungUp = (handle: () => void) => {
      // A closed connection may still report something.
      if (this.#connection === connection) handle()
    }
    const lost = (error: Error) => {
      this.#connection = undefined
      handler.lost(error)
    }
    this.#writable = true
    try {
      connection = this.#dial(target, {
        opened: () => unlessHungUp(() => handler.opened()),
        received: (bytes) => {
          this.#endParting(connection)
          unlessHungUp(() => handler.received(bytes))
        },
        drained: () =>
          unlessHungUp(() => {
            this.#writable = true
            handler.drained()
          }),
        lost: (error) => {
          this.#endParting(connection)
          unlessHungUp(() => lost(error))
        },
      })
      this.#connection = connection
    } catch (error) {
      // If the runtime throws, the attempt has failed.
      lost(error as Error)
    }
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

  #endParting(connection: RuntimeConnection | undefined): void {
    if (this.#parted === undefined || this.#parted.connection !== connection) return
    this.#parted.stopTimer()
    this.#parted = undefined
    connection.close()
  }

  /** Ends the connection. Its handler is not called any more. */
  hangUp(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks a server. `answered` is called once, with the failure, or with undefined if the server is what is looked for. */
  probe(target: Target, question: Question, answered: (failure: Error | undefined) => void): void {
    let isOver = false
    this.#endProbe = () => {
      isOver = true
    }
    const end = probe(this.#dial, target, question, answered)
    // The caller's function for TLS options runs in `probe`, and may have called `endProbe`.
    if (isOver) end()
    else this.#endProbe = end
  }

  endProbe(): void {
    this.#endProbe()
  }
}

/**
 * Asks a server on a connection of its own. `answered` is called once. The returned function ends this: then `answered` is
 * not called any more.
 */
function probe(
  dial: Dial,
  target: DialTarget,
  { bytes, received }: Question,
  answered: (failure: Error | undefined) => void,
): () => void {
  let connection: RuntimeConnection | undefined
  let isOver = false
  const end = () => {
    isOver = true
    connection?.close()
  }
  const answerOnce = ({ failure, last }: Verdict) => {
    if (isOver) return
    if (last !== undefined) connection?.write(last)
    end()
    answered(failure)
  }
  try {
    connection = dial(target, {
      opened: () => {
        if (!isOver) connection?.write(bytes)
      },
      received: (bytes) => {
        const verdict = isOver ? undefined : received(bytes)
        if (verdict !== undefined) answerOnce(verdict)
      },
      drained: () => {},
      lost: (error) => answerOnce({ failure: error }),
    })
  } catch (error) {
    // If the runtime throws, the attempt has failed.
    answerOnce({ failure: error as Error })
  }
  return end
}
