import type { TlsOptions } from './tls.ts'

/**
 * The access of client and recipes to the outside world: clocks, timers, random numbers, sockets. Pass a runtime of your own
 * to `connect` to run client and recipes in virtual time, over another network, or from a seed. The default is
 * `systemRuntime`.
 *
 * Timers and connections serve many callers. So a runtime must not call their callbacks in the async context
 * (`AsyncLocalStorage`) of the caller that set them: the work for one caller would be attributed to another.
 */
export interface Runtime {
  /** Milliseconds on a clock that never goes back. It may start at any number. */
  now(): number
  /** Milliseconds since the epoch, by a clock that may be set. */
  wallNow(): number
  /** Calls `callback` once, `delay` ms from now or later. The returned function cancels the timer. */
  setTimer(delay: number, callback: () => void): () => void
  /** A random number, at least 0 and less than 1. */
  random(): number
  /** A fresh random UUID in its 36-character form. */
  uuid(): string
  /**
   * Looks up the addresses of a host name, afresh on each call. For an IP address the result is that address. Calls one method
   * of `handler`, once, after `resolve` has returned. If a runtime has no `resolve`, `dial` gets targets without `address`.
   */
  resolve?: ((host: string, handler: LookupHandler) => void) | undefined
  /**
   * Starts a TCP connection, with TLS if the target has `tls`. Calls methods of `handler`, never before `dial` has returned.
   * If it throws, the attempt has failed.
   */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

/** The target of a connection. */
export interface DialTarget {
  /**
   * A host name or an IP address, as in the connect string. With TLS the certificate of the server must be valid for it,
   * unless `tls.servername` is set.
   */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** The IP address to connect to. If it is undefined, `dial` looks up the host name. */
  readonly address?: string | undefined
  /**
   * The options of TLS; undefined for a plain connection. TLS starts with the first byte of the connection. Call `opened`
   * when the TLS handshake has succeeded, and `lost` if it fails. A runtime without TLS must throw.
   */
  readonly tls?: TlsOptions | undefined
}

/** Gets the result of a look-up: one of its methods is called, once. */
export interface LookupHandler {
  /** The addresses, in any order; at least one. */
  found(addresses: readonly string[]): void
  /** The name has no address, or the look-up failed. */
  failed(error: Error): void
}

/** Gets what happens to a connection. After `lost` no method is called. */
export interface ConnectionHandler {
  /** The connection is open, and so is TLS if it is used: bytes may be written. */
  opened(): void
  /** Bytes as they arrive: a frame may begin anywhere in them. When this returns, the runtime may reuse their memory. */
  received(bytes: Uint8Array): void
  /** After `write` has returned false: the buffered bytes were sent, and `write` may be called again. */
  drained(): void
  /** The connection failed, or the peer closed it. */
  lost(error: Error): void
}

/** A connection that the client has dialed. */
export interface RuntimeConnection {
  /**
   * Sends the bytes, now or later. False means: write no more before `drained` is called. If it throws, the connection is lost for
   * that reason, and is closed.
   */
  write(bytes: Uint8Array): boolean
  /** Ends the connection at once. The handler is not called any more. The client calls it once at most, and ignores its errors. */
  close(): void
}
