/**
 * A SASL mechanism for the option `sasl` of connect. It proves the client's identity to a server. `digestMd5` is one.
 *
 * An error that it throws costs that connection, and the client tries the next server. A `KeeperError` with code `AuthFailed`
 * ends the client, as the refusal of a server does. The messages of its errors are shown, so they must not have secrets.
 */
export interface SaslMechanism {
  /** The registered name, such as `DIGEST-MD5`, for messages. It is not sent to servers. */
  readonly name: string
  /** Begins an exchange. Called on every new connection after its handshake, before any request is sent. */
  start(context: SaslContext): SaslExchange | Promise<SaslExchange>
}

/** The connection, as a mechanism sees it. */
export interface SaslContext {
  /** `host:port` */
  readonly server: string
  /** Text that cannot be guessed and was never used before. */
  readonly nonce: () => string
}

/** One exchange on one connection. Tokens are bytes that only the mechanism and the server understand. */
export interface SaslExchange {
  /** The first token to the server. @default an empty one, for mechanisms in which the server begins */
  readonly first?: Uint8Array | undefined
  /**
   * Takes a token of the server: undefined where the server has accepted without one, or does not know SASL. Returns the
   * token to answer with, or undefined when the exchange is complete. After that requests are sent.
   */
  step(challenge: Uint8Array | undefined): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** Throws a `TypeError` for a value that is no mechanism. */
export function checkMechanism(sasl: unknown): void {
  if (sasl === undefined) return
  if (typeof sasl !== 'object' || sasl === null || !('start' in sasl) || typeof sasl.start !== 'function') {
    throw new TypeError('sasl must be a mechanism, such as digestMd5({ username, password })')
  }
  if (!('name' in sasl) || typeof sasl.name !== 'string') throw new TypeError('sasl: a mechanism has a name')
}
