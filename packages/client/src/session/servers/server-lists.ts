// The lists of servers of a client. A list that works is replaced only when the new one has worked, too.
import type { ServerAddress } from '@zk/wire'

/** Who made a list: the program, by `connect` or `updateServers`; or the ensemble, by its configuration. */
export type ListSource = 'program' | 'ensemble'

interface List {
  readonly servers: readonly ServerAddress[]
  readonly source: ListSource
  /** Whether the client was connected to one of its servers while no newer list had that server. */
  readonly hasWorked: boolean
}

/**
 * The current list, and the servers to fall back to. These are the last list of the program, and the earlier lists that have
 * worked, until a later list has worked. The sessions of a client share the lists.
 */
export class ServerLists {
  /** The newest first. */
  #lists: readonly [List, ...List[]]
  #fallbacks: readonly ServerAddress[] = []

  constructor(servers: readonly ServerAddress[]) {
    this.#lists = [{ servers, source: 'program', hasWorked: false }]
  }

  /** The current list. */
  get present(): readonly ServerAddress[] {
    return this.#lists[0].servers
  }

  /** Servers that are not in the current list. They are tried after each round in which all servers of the list failed. */
  get fallbacks(): readonly ServerAddress[] {
    return this.#fallbacks
  }

  replace(servers: readonly ServerAddress[], source: ListSource): void {
    const kept = this.#lists.filter((list) => list.hasWorked || (source === 'ensemble' && list === this.#listOfProgram))
    this.#become({ servers, source, hasWorked: false }, kept)
  }

  /** The client is connected to this server. Lists older than the newest one with this server are not needed any more. */
  worked(server: ServerAddress): void {
    const at = this.#lists.findIndex(({ servers }) => includes(servers, server))
    const list = this.#lists[at]
    if (list === undefined) return
    const ofProgram = this.#listOfProgram
    const [present, ...others] = this.#lists.flatMap((each, index) => {
      if (index === at) return [{ ...each, hasWorked: true }]
      return index < at || each === ofProgram ? [each] : []
    })
    this.#become(present!, others)
  }

  /** The last list of the program. There always is one: at first the connect string. */
  get #listOfProgram(): List | undefined {
    return this.#lists.find(({ source }) => source === 'program')
  }

  #become(present: List, others: readonly List[]): void {
    this.#lists = [present, ...others]
    this.#fallbacks = distinct(others.flatMap(({ servers }) => servers)).filter(
      (server) => !includes(present.servers, server),
    )
  }
}

export function isSame(one: ServerAddress, other: ServerAddress): boolean {
  return one.host === other.host && one.port === other.port
}

export function includes(servers: readonly ServerAddress[], server: ServerAddress): boolean {
  return servers.some((each) => isSame(each, server))
}

/** The list without duplicates: a server that is listed twice must get only one share of the clients. */
export function distinct(servers: readonly ServerAddress[]): ServerAddress[] {
  return servers.filter((server, index) => servers.findIndex((each) => isSame(each, server)) === index)
}
