// What a session has under way to servers: a look-up, a connection, a question whether one takes writes; one of each.
import type { ServerAddress } from '@zk/wire'
import type { RuntimeConnection, ConnectionHandler, LookupHandler, Runtime } from '../../runtime/runtime.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import { dialWith } from './dialer.ts'
import type { Target } from '../servers/server-picker.ts'
import { lookUp } from './look-up.ts'
import { probe } from './probe.ts'

export class Transport {
  readonly #runtime: Runtime
  readonly #tls: TlsSource | undefined
  #connection: RuntimeConnection | undefined
  #writable = true
  #endLookUp = () => {}
  #endProbe = () => {}

  constructor(runtime: Runtime, tls: TlsSource | undefined) {
    this.#runtime = runtime
    this.#tls = tls
  }

  /** The connection, also while it is being made: to compare. */
  get connection(): unknown {
    return this.#connection
  }

  /** There is a connection, and it has room. */
  get isWritable(): boolean {
    return this.#connection !== undefined && this.#writable
  }

  lookUp(server: ServerAddress, handler: LookupHandler): void {
    this.#endLookUp = lookUp(this.#runtime, server.host, handler)
  }

  dial(target: Target, handler: ConnectionHandler): void {
    let connection: RuntimeConnection | undefined
    const mine = (tell: () => void) => {
      // One that was hung up may still have had something to say.
      if (this.#connection === connection) tell()
    }
    const lost = (error: Error) => {
      this.#connection = undefined
      handler.lost(error)
    }
    this.#writable = true
    try {
      connection = dialWith(this.#runtime, this.#tls, target, {
        opened: () => mine(() => handler.opened()),
        received: (bytes) => mine(() => handler.received(bytes)),
        drained: () =>
          mine(() => {
            this.#writable = true
            handler.drained()
          }),
        lost: (error) => mine(() => lost(error)),
      })
      this.#connection = connection
    } catch (error) {
      // A runtime that cannot even try has failed as one that tried.
      lost(error as Error)
    }
  }

  write(bytes: Uint8Array): void {
    this.#writable = this.#connection!.write(bytes)
  }

  /** Ends the look-up or the connection, untold. */
  hangUp(): void {
    this.#endLookUp()
    this.#connection?.close()
    this.#connection = undefined
  }

  /** Asks the server at one of the addresses that its name has now: which, the lot decides. */
  probe(server: ServerAddress, lot: number, answered: (answer: string | undefined, asked: Target) => void): void {
    const ask = (target: Target) => {
      let isOver = false
      this.#endProbe = () => {
        isOver = true
      }
      const end = probe(this.#runtime, this.#tls, target, (answer) => answered(answer, target))
      // Whoever is asked for TLS may have ended it.
      if (isOver) end()
      else this.#endProbe = end
    }
    if (this.#runtime.resolve === undefined) return ask(server)
    this.#endProbe = lookUp(this.#runtime, server.host, {
      found: (addresses) => {
        const address = addresses[Math.floor(lot * addresses.length)]
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
