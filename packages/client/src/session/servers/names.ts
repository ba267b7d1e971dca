/** How many names are kept. Then the oldest are dropped: a host provider may return new names all the time. */
const MOST_NAMES = 1_000

/** The last known addresses of host names. The sessions of a client share them. */
export class Names {
  readonly #addresses = new Map<string, readonly string[]>()

  /** The addresses found by the last look-up that found any; undefined if no look-up has. */
  addressesOf(host: string): readonly string[] | undefined {
    return this.#addresses.get(host)
  }

  /** A name server has answered that there is no such name: its addresses may belong to others by now. */
  forget(host: string): void {
    this.#addresses.delete(host)
  }

  found(host: string, addresses: readonly string[]): void {
    this.#addresses.delete(host)
    this.#addresses.set(host, addresses)
    const [oldest] = this.#addresses.keys()
    if (this.#addresses.size > MOST_NAMES) this.#addresses.delete(oldest!)
  }
}
