/** A session without a client: another may go on with it, `connect(…, { session })`, until its timeout has passed. */
export class DetachedSession implements SessionCredentials {
  readonly id: bigint
  // Private: whoever prints it, or has it in an error, shows no secret.
  readonly #passwd: Uint8Array<ArrayBuffer>

  constructor(id: bigint, passwd: Uint8Array) {
    this.id = id
    this.#passwd = new Uint8Array(passwd)
  }

  /** Whoever has it may do all that the session may, and end it. */
  get passwd(): Uint8Array<ArrayBuffer> {
    return this.#passwd
  }
}

/** What it takes to go on with a session. */
export interface SessionCredentials {
  readonly id: bigint
  readonly passwd: Uint8Array
}
