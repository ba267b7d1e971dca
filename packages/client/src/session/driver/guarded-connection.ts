import { messageOf } from '../../base/errors.ts'
import type { ConnectionHandler, RuntimeConnection } from '../../runtime/runtime.ts'

/**
 * A connection of the runtime, which may be a runtime of the program: an error that it throws loses the connection, and does not
 * reach the session. After `close` and after `lost`, neither the handler nor the runtime is called any more.
 */
export class GuardedConnection {
  readonly #handler: ConnectionHandler
  /** As the runtime gives it. */
  #inner: RuntimeConnection | undefined
  #isOver = false

  constructor(handler: ConnectionHandler) {
    this.#handler = handler
  }

  /** Dials, once. If the runtime throws, the connection is lost before this returns. */
  dial(dial: (handler: ConnectionHandler) => RuntimeConnection): void {
    const unlessOver = (report: () => void) => {
      if (!this.#isOver) report()
    }
    try {
      this.#inner = dial({
        opened: () => unlessOver(() => this.#handler.opened()),
        received: (bytes) => unlessOver(() => this.#handler.received(bytes)),
        drained: () => unlessOver(() => this.#handler.drained()),
        lost: (error) => this.#lose(error),
      })
    } catch (error) {
      return this.#lose(error)
    }
    // The TLS function of the program runs in `dial`, and may have led to `close`.
    if (this.#isOver) this.#hangUp()
  }

  /** Returns false after an error, which loses the connection. */
  write(bytes: Uint8Array): boolean {
    if (this.#isOver) return false
    try {
      return this.#inner!.write(bytes)
    } catch (error) {
      this.#hangUp()
      this.#lose(error)
      return false
    }
  }

  /** Ends the connection at once, after these last bytes if there are any. */
  close(last?: Uint8Array): void {
    if (this.#isOver) return
    this.#isOver = true
    if (last !== undefined) ignoringErrors(() => this.#inner?.write(last))
    this.#hangUp()
  }

  #lose(error: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    // A runtime may pass a value that is not an `Error`.
    this.#handler.lost(error instanceof Error ? error : new Error(messageOf(error as Error), { cause: error }))
  }

  #hangUp(): void {
    ignoringErrors(() => this.#inner?.close())
  }
}

/** For a connection that is over: its end already has a reason. */
function ignoringErrors(call: () => void): void {
  try {
    call()
  } catch {
    // See above.
  }
}
