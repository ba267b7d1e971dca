// The look-up, the connection, and the question whether a server takes writes: one of each for a session.
import type { ServerAddress } from '@zk/wire'
import type { ConnectionHandler, DialTarget, LookupHandler, Runtime, RuntimeConnection } from '../../runtime/runtime.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { Target } from '../servers/server-picker.ts'
import { dialTls } from './tls-dialer.ts'

type Dial = Runtime['dial']

export class ServerLink {
  readonly #runtime: Runtime
  readonly #dial: Dial
  #connection: RuntimeConnection | undefined
  #writable = true
  #endLookUp = () => {}
  #endProbe = () => {}

  constructor(runtime: Runtime, tls: TlsSource | undefined) {
    this.#runtime = runtime
    this.#dial = (target, handler) =>
      tls === undefined ? runtime.dial(target, handler) : dialTls(runtime, tls, target, handler)
  }

  /** The connection, also while it is being made, to compare. */
  get connection(): unknown {
    return this.#connection
  }

  /** Whether there is a connection, and it has room. */
  get isWritable(): boolean {
    return this.#connection !== undefined && this.#writable
  }

  lookUp(server: ServerAddress, handler: LookupHandler): void {
    this.#endLookUp = lookUp(this.#runtime, server.host, handler)
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
        received: (bytes) => unlessHungUp(() => handler.received(bytes)),
        drained: () =>
          unlessHungUp(() => {
            this.#writable = true
            handler.drained()
          }),
        lost: (error) => unlessHungUp(() => lost(error)),
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

  /** Ends the look-up or the connection. Its handler is not called any more. */
  hangUp(): void {
    this.#endLookUp()
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks the server at one of the present addresses of its name. `random` decides which one. */
  probe(server: ServerAddress, random: number, answered: (answer: string | undefined, target: Target) => void): void {
    const ask = (target: Target) => {
      let isOver = false
      this.#endProbe = () => {
        isOver = true
      }
      const end = probe(this.#dial, target, (answer) => answered(answer, target))
      // The function for TLS options may have ended it.
      if (isOver) end()
      else this.#endProbe = end
    }
    if (this.#runtime.resolve === undefined) return ask(server)
    this.#endProbe = lookUp(this.#runtime, server.host, {
      found: (addresses) => {
        const address = addresses[Math.floor(random * addresses.length)]
        if (address === undefined) answered(undefined, server)
        else ask({ ...server, address })
      },
      failed: () => answered(undefined, server),
    })
  }

  endProbe(): void {
    this.#endProbe()
  }
}

/** Lets the runtime look up a name. After the returned function was called, the handler is not called any more. */
function lookUp(runtime: Runtime, host: string, handler: LookupHandler): () => void {
  let isOver = false
  const once = (handle: () => void) => {
    if (isOver) return
    isOver = true
    handle()
  }
  try {
    runtime.resolve?.(host, {
      found: (addresses) => once(() => handler.found(addresses)),
      failed: (error) => once(() => handler.failed(error)),
    })
  } catch (error) {
    // If the runtime throws, the attempt has failed.
    once(() => handler.failed(error as Error))
  }
  return () => {
    isOver = true
  }
}

const QUESTION = new TextEncoder().encode('isro')
const ANSWER_SIZE = 2

/**
 * The raw text exchange `isro`: a server that takes writes answers `rw`, a read-only one `ro`, one that does not serve
 * `null`. `answered` is called once, with undefined for no useful answer, and not after the returned function was called.
 */
function probe(dial: Dial, target: DialTarget, answered: (answer: string | undefined) => void): () => void {
  let connection: RuntimeConnection | undefined
  let isOver = false
  let text = ''
  const end = () => {
    isOver = true
    connection?.close()
  }
  const answerOnce = (answer: string | undefined) => {
    if (isOver) return
    end()
    answered(answer)
  }
  try {
    connection = dial(target, {
      opened: () => {
        if (!isOver) connection?.write(QUESTION)
      },
      received: (bytes) => {
        text += String.fromCharCode(...bytes.subarray(0, ANSWER_SIZE))
        if (text.length >= ANSWER_SIZE) answerOnce(text.slice(0, ANSWER_SIZE))
      },
      drained: () => {},
      lost: () => answerOnce(undefined),
    })
  } catch {
    // If the runtime throws, the attempt has failed.
    answerOnce(undefined)
  }
  return end
}
