// What a world offers to a client: the `Runtime` of @zk/client, on which this package does not depend.

/** Time, chance, look-ups of names and connections of one process: assignable to the `Runtime` of `@zk/client`. */
export interface VirtualRuntime {
  /** Milliseconds on the clock of the process that never goes back. */
  now(): number
  /** Milliseconds since the epoch, by the wall clock of the process. The world begins with the year 2024. */
  wallNow(): number
  /** Calls `callback` once, `delay` ms from now, in whole ms and at least 1. The returned function cancels it. */
  setTimer(delay: number, callback: () => void): () => void
  /** A number from 0 to 1, without 1. */
  random(): number
  /** A random UUID in its 36-character form. */
  uuid(): string
  /** Looks up the addresses of a host name. */
  resolve?: ((host: string, handler: LookupHandler) => void) | undefined
  /** Starts a connection to a member. Throws where the target asks for TLS. */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

/** Where a connection is to go. */
export interface DialTarget {
  /** A host name or an address. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** The address of the host, where it was looked up. */
  readonly address?: string | undefined
  /** A value other than undefined asks for TLS, which a virtual world does not have. */
  readonly tls?: unknown
}

/** One of these is called, once. */
export interface LookupHandler {
  /** The addresses, at least one. */
  found(addresses: readonly string[]): void
  /** The name has no address, or the look-up failed. */
  failed(error: Error): void
}

/** After `lost` nothing more is called. */
export interface ConnectionHandler {
  /** The connection is open: bytes may be written. */
  opened(): void
  /** Bytes as they come. */
  received(bytes: Uint8Array): void
  /** Bytes that were held back are on their way: `write` may go on. */
  drained(): void
  /** The connection failed, or the member closed it. */
  lost(error: Error): void
}

/** What a client may do with a connection. */
export interface RuntimeConnection {
  /** Takes the bytes. False asks to wait for `drained` before writing more. */
  write(bytes: Uint8Array): boolean
  /** Ends the connection at once; its handler is not called any more. */
  close(): void
}
