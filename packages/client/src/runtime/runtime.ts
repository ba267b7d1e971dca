import type { TlsOptions } from './tls.ts'

/**
 * Everything outside of the code that client and recipes use: time, random numbers, sockets. Give `connect` one of your own
 * to run them in virtual time, over another network, or from a seed. The default is `systemRuntime`.
 *
 * Timers and connections serve many callers. So a runtime must not call their callbacks in the async context
 * (`AsyncLocalStorage`) of the caller that happened to set them: the work of one caller could pass for that of another.
 */
export interface Runtime {
  /** Milliseconds on a clock that never goes back; its zero means nothing. */
  now(): number
  /** Milliseconds since the epoch, by a clock that may be set. */
  wallNow(): number
  /** Calls `callback` once, `delay` ms from now or later; the returned function takes it back. */
  setTimer(delay: number, callback: () => void): () => void
  /** A number from 0 up to, not including, 1. */
  random(): number
  /** A fresh random UUID in its 36-character form. */
  uuid(): string
  /**
   * Looks up the addresses of a host name, anew each time; an address has itself. It reports once, never before `resolve`
   * has returned. Without this method `dial` is given the name.
   */
  resolve?: ((host: string, handler: LookupHandler) => void) | undefined
  /**
   * Starts one TCP connection, with TLS where the target asks for it. It reports to `handler`, never before `dial` has
   * returned.
   */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

/** Where a connection is to go. */
export interface DialTarget {
  /** A host name or an address, as it stands in the connect string: the name that the server's certificate must have. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** Where to connect to; without it the host name is to be resolved now. */
  readonly address?: string | undefined
  /**
   * It begins with the first byte; `opened` is called when its handshake is done, `lost` when it fails. undefined for a
   * plain connection. A runtime that cannot do it must throw.
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
  /** Bytes as they arrive: a frame may begin anywhere in them. */
  received(bytes: Uint8Array): void
  /** The bytes that were held back have been sent: `write` may go on. */
  drained(): void
  /** The connection failed, or the peer closed it. */
  lost(error: Error): void
}

/** What a client may do with a connection it has dialed. */
export interface RuntimeConnection {
  /** Takes the bytes. False asks to wait for `drained` before writing more. */
  write(bytes: Uint8Array): boolean
  /** Ends the connection at once; its handler is not called any more. */
  close(): void
}
