import type { TlsOptions } from './tls.ts'

/**
 * Everything outside of the code that client and recipes use: time, random numbers, sockets. Give `connect` one of your own
 * to run them in virtual time, over another network, or from a seed. The default is `systemRuntime`.
 *
 * Timers and connections serve many callers. So a runtime must not call their callbacks in the async context
 * (`AsyncLocalStorage`) of the caller that happened to set them: the work of one caller could pass for that of another.
 */
export interface Runtime {
  /** Milliseconds on a clock that never goes back. Its zero has no meaning. */
  now(): number
  /** Milliseconds since the epoch, by a clock that may be set. */
  wallNow(): number
  /** Calls `callback` once, `delay` ms from now or later. The returned function cancels it. */
  setTimer(delay: number, callback: () => void): () => void
  /** A random number from 0 to 1, without 1. */
  random(): number
  /** A fresh random UUID in its 36-character form. */
  uuid(): string
  /**
   * Looks up the addresses of a host name, at each call. An address is its own address. It reports once, never before
   * `resolve` has returned. Without this method `dial` gets the name.
   */
  resolve?: ((host: string, handler: LookupHandler) => void) | undefined
  /**
   * Starts one TCP connection, with TLS where the target asks for it. It reports to `handler`, never before `dial` has
   * returned.
   */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

/** The target of a connection. */
export interface DialTarget {
  /** A host name or an address, as in the connect string. The server's certificate must be for it. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** The address to connect to. Without it the runtime resolves the host name now. */
  readonly address?: string | undefined
  /**
   * The options of TLS, which begins with the first byte. `opened` is called when its handshake is done, `lost` when it
   * fails. undefined for a plain connection. A runtime without TLS must throw.
   */
  readonly tls?: TlsOptions | undefined
}

/** The result of a look-up: one of these is called, once. */
export interface LookupHandler {
  /** The addresses, in any order; at least one. */
  found(addresses: readonly string[]): void
  /** The name has no address, or the look-up failed. */
  failed(error: Error): void
}

/** What happens to a connection. After `lost` nothing more is called. */
export interface ConnectionHandler {
  /** The connection is open, with TLS where that was asked for: bytes may be written. */
  opened(): void
  /** Bytes as they arrive: a frame may begin anywhere in them. Afterwards their memory may be used again. */
  received(bytes: Uint8Array): void
  /** The bytes that were held back have been sent: `write` may go on. */
  drained(): void
  /** The connection failed, or the peer closed it. */
  lost(error: Error): void
}

/** A connection that the client has dialed. */
export interface RuntimeConnection {
  /** Takes the bytes. False means: wait for `drained` before writing more. */
  write(bytes: Uint8Array): boolean
  /** Ends the connection at once. Its handler is not called any more. */
  close(): void
}
