/**
 * A SASL mechanism for the option `sasl` of connect: how to prove the client's identity to a server. `digestMd5` is one.
 *
 * What it throws costs that connection, and the next server is tried; a `KeeperError` with code `AuthFailed` ends the
 * client, as the refusal of a server does. What it says in an error is shown: no secrets there.
 */
export interface SaslMechanism {
  /** As it is registered, such as `DIGEST-MD5`: for messages. It is not sent to servers. */
  readonly name: string
  /** Begins an exchange: called at every new connection, when its session stands, before anything else is said. */
  start(context: SaslContext): SaslExchange | Promise<SaslExchange>
}

/** What a mechanism knows of the connection. */
export interface SaslContext {
  /** `host:port` */
  readonly server: string
  /** Text that cannot be guessed and was never used before. */
  readonly nonce: () => string
}

/** One exchange on one connection. Tokens are bytes that only mechanism and server understand. */
export interface SaslExchange {
  /** The first token to the server. @default an empty one, for mechanisms in which the server begins */
  readonly first?: Uint8Array | undefined
  /**
   * What the server said, undefined where it has accepted without a word (or does not know SASL at all), to what is to be
   * answered: undefined when the exchange is complete. From then on requests are sent.
   */
  step(challenge: Uint8Array | undefined): Uint8Array | undefined | Promise<Uint8Array | undefined>
}

/** Throws a `TypeError` for what is no mechanism. */
export function checkMechanism(sasl: unknown): void {
  if (sasl === undefined) return
  if (typeof sasl !== 'object' || sasl === null || !('start' in sasl) || typeof sasl.start !== 'function') {
    throw new TypeError('sasl must be a mechanism, such as digestMd5({ username, password })')
  }
  if (!('name' in sasl) || typeof sasl.name !== 'string') throw new TypeError('sasl: a mechanism has a name')
}
