// What a client may ask of a world: the `Runtime` of @zk/client, which this package does not depend on.

/** Time, chance, look-ups of names and connections of one process: assignable to the `Runtime` of `@zk/client`. */
export interface VirtualRuntime {
  /** Milliseconds on the clock of the process that never goes back. */
  now(): number
  /** Milliseconds since the epoch, by the clock of the process that may be set. The world begins with the year 2024. */
  wallNow(): number
  /** Calls `callback` once, `delay` ms from now, in whole ms and at least 1; the returned function takes it back. */
  setTimer(delay: number, callback: () => void): () => void
  /** A number from 0 up to, not including, 1. */
  random(): number
  uuid(): string
  /** Looks up the addresses of a host name. */
  resolve?(host: string, handler: LookupHandler): void
  /** Starts a connection to a member. Throws where the target asks for TLS. */
  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection
}

export interface DialTarget {
  readonly host: string
  readonly port: number
  /** Of the host, where it was looked up. */
  readonly address?: string
  readonly tls?: unknown
}

/** One of these is called, once. */
export interface LookupHandler {
  found(addresses: readonly string[]): void
  failed(error: Error): void
}

/** After `lost` nothing more is called. */
export interface ConnectionHandler {
  opened(): void
  received(bytes: Uint8Array): void
  drained(): void
  lost(error: Error): void
}

export interface RuntimeConnection {
  write(bytes: Uint8Array): boolean
  close(): void
}
