// The access of a session to servers. It has at most one look-up of a host name, one connection, and one probe (which asks
// whether a server takes writes) at a time.
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

  /** The connection, even if it is not open yet. Callers only compare it. */
  get connection(): unknown {
    return this.#connection
  }

  /** Whether there is a connection, and its socket accepts more bytes. */
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

  /** Ends the look-up or the connection. Their handlers are not called any more. */
  hangUp(): void {
    this.#endLookUp()
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks a server whether it takes writes. `random`, from 0 to below 1, chooses one of the addresses of the host name. */
  probe(server: ServerAddress, random: number, answered: (answer: string | undefined, target: Target) => void): void {
    const ask = (target: Target) => {
      let isOver = false
      this.#endProbe = () => {
        isOver = true
      }
      const end = probe(this.#dial, target, (answer) => answered(answer, target))
      // The caller's function for TLS options runs in `probe`, and may have called `endProbe`.
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

/** Lets the runtime look up a host name. The returned function ends this: then the handler is not called any more. */
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
 * Sends the four-letter word `isro`. The answer is `rw` if the server takes writes, `ro` if it is read-only, and `null` if it
 * serves nothing. `answered` is called once, with the first two characters of the answer, or with undefined if the connection
 * fails before. The returned function ends this: then `answered` is not called any more.
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
