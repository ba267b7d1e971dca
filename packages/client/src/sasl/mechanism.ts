/**
 * A SASL mechanism for the option `sasl` of connect. It proves the client's identity to a server. `digestMd5` makes one.
 *
 * If a mechanism throws, the client closes that connection and tries the next server. If the error is a `KeeperError` with
 * code `AuthFailed`, the client ends, as if the server had refused. Error messages of a mechanism are shown, so they must not
 * contain secrets.
 */
export interface SaslMechanism {
  /** The registered name, such as `DIGEST-MD5`, for messages. It is not sent to servers. */
  readonly name: string
  /**
   * Begins an exchange. Called on every new connection after its handshake, before any request is sent. `server` is `host:port`, and
   * `nonce` makes text that cannot be guessed and has never been used before.
   */
  start(context: { readonly server: string; readonly nonce: () => string }): SaslExchange | Promise<SaslExchange>
}

/** One exchange on one connection. Tokens are bytes that only the mechanism and the server understand. */
export interface SaslExchange {
  /** The first token to the server. @default an empty one, for mechanisms in which the server begins */
  readonly first?: Uint8Array | undefined
  /**
   * Takes a token of the server; undefined if the server has accepted without a token, or does not know SASL. Returns the
   * token to answer with, or undefined if the exchange is complete. Requests are sent after that.
   */
  step(challenge: Uint8Array | undefined): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** Throws a `TypeError` for a value that is not a mechanism. */
export function checkMechanism(sasl: unknown): void {
  if (sasl === undefined) return
  if (typeof sasl !== 'object' || sasl === null || !('start' in sasl) || typeof sasl.start !== 'function') {
    throw new TypeError('sasl must be a mechanism, such as digestMd5({ username, password })')
  }
  if (!('name' in sasl) || typeof sasl.name !== 'string') throw new TypeError('sasl: the mechanism must have a name')
}
