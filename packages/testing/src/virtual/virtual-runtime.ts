// What a virtual world offers to a client: the `Runtime` of @zk/client, which this package does not import.

/** The clocks, random numbers, name look-ups and connections of one process. It fits the `Runtime` of `@zk/client`. */
export interface VirtualRuntime {
  /** The clock of the process that never goes back, in ms. */
  now(): number
  /** The wall clock of the process, in ms since the epoch. The world begins at the start of 2024. */
  wallNow(): number
  /** Calls `callback` once, after `delay` ms: rounded up to whole ms, at least 1. The returned function cancels it. */
  setTimer(delay: number, callback: () => void): () => void
  /** A number in [0, 1). */
  random(): number
  /** A random UUID in its 36-character form. */
  uuid(): string
  /** Looks up the addresses of a host name. */
  resolve?: ((host: string, handler: LookupHandler) => void) | undefined
  /** Starts a connection to a member. Throws if the target asks for TLS. */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

/** The server to which a connection is opened. */
export interface DialTarget {
  /** A host name or an address. */
  readonly host: string
  /** The TCP port. */
  readonly port: number
  /** The address of the host, if it was looked up. */
  readonly address?: string | undefined
  /** A value other than undefined asks for TLS, which a virtual world does not have. */
  readonly tls?: unknown
}

/** Exactly one of these methods is called, once. */
export interface LookupHandler {
  /** The addresses, at least one. */
  found(addresses: readonly string[]): void
  /** The name has no address, or the look-up failed. */
  failed(error: Error): void
}

/** Called for the events of a connection. After `lost` nothing more is called. */
export interface ConnectionHandler {
  /** The connection is open: bytes may be written. */
  opened(): void
  /** Bytes have arrived. */
  received(bytes: Uint8Array): void
  /** `write` may be called again after it has returned false. */
  drained(): void
  /** The connection failed, or the member closed it. */
  lost(error: Error): void
}

/** What a client can do with a connection. */
export interface RuntimeConnection {
  /** Sends the bytes. If it returns false, wait for `drained` before writing more. */
  write(bytes: Uint8Array): boolean
  /** Ends the connection at once; its handler is not called any more. */
  close(): void
}
