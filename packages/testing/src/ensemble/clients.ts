import type { Connection } from '../server/request.ts'

export interface Client {
  readonly connection: Connection
  sessionId: bigint
  /** The timeout that was negotiated for this connection, in ms. */
  timeOut: number
}

/** The connections of a server, and the latest connection of each session (ServerCnxnFactory). */
export class Clients {
  readonly #byConnection = new Map<Connection, Client>()
  readonly #bySession = new Map<bigint, Client>()

  get(connection: Connection): Client | undefined {
    return this.#byConnection.get(connection)
  }

  ofSession(sessionId: bigint): Client | undefined {
    return this.#bySession.get(sessionId)
  }

  add(connection: Connection, timeOut: number): Client {
    const client = { connection, sessionId: 0n, timeOut }
    this.#byConnection.set(connection, client)
    return client
  }

  setSession(client: Client, sessionId: bigint): void {
    client.sessionId = sessionId
    this.#bySession.set(sessionId, client)
  }

  delete(client: Client): void {
    this.#byConnection.delete(client.connection)
    if (this.#bySession.get(client.sessionId) === client) this.#bySession.delete(client.sessionId)
  }

  all(): readonly Client[] {
    return [...this.#byConnection.values()]
  }
}
