import { type ErrorName, type MultiOp } from '@zk/wire'
import type { Link, Listener } from '../outside.ts'
import { ServerConnection } from './connection.ts'
import type { Ensemble } from './ensemble.ts'
import { type Change, Tree } from './tree.ts'
import { Watches } from './watches.ts'
import type { Author } from './writes.ts'

export interface Transaction {
  readonly zxid: bigint
  readonly time: number
  readonly changes: readonly Change[]
  /** The session that has expired with it. */
  readonly ends?: bigint | undefined
}

/** What became of a write: what each operation changed, or which one failed it and why. */
export interface Committed {
  readonly zxid: bigint
  readonly changes: readonly (Change | undefined)[]
  readonly failure?: { readonly index: number; readonly code: ErrorName } | undefined
}

/** One server of the ensemble: it knows the transactions up to a certain one, and serves reads from them. */
export class Server implements Listener {
  readonly ensemble: Ensemble
  /** `host:port` */
  readonly address: string
  readonly tree = new Tree()
  readonly watches = new Watches<ServerConnection>()
  readonly connections = new Set<ServerConnection>()
  /** Of the last transaction it knows. */
  zxid = 0n
  #isReachable = true
  #lag: { readonly behind: Transaction[]; readonly isCutOff: boolean } | undefined

  constructor(ensemble: Ensemble, address: string) {
    this.ensemble = ensemble
    this.address = address
  }

  // --- faults -----------------------------------------------------------------------------------------------------

  /** Nobody can connect any more; those connected stay. */
  refuse(): void {
    this.#isReachable = false
  }

  listen(): void {
    this.#isReachable = true
  }

  /**
   * From now on reads show what was, until a sync or a write through this very server makes it catch up. One that is
   * `isCutOff` follows a leader that is none any more: a sync does not help.
   */
  lag({ isCutOff = false } = {}): void {
    this.#lag ??= { behind: [], isCutOff }
  }

  /** Lags no longer. */
  recover(): void {
    this.#catchUp()
    this.#lag = undefined
  }

  // --- the ensemble's side ----------------------------------------------------------------------------------------

  learn(transaction: Transaction): void {
    if (this.#lag === undefined) this.#apply(transaction)
    else this.#lag.behind.push(transaction)
  }

  // --- the connections' side --------------------------------------------------------------------------------------

  dialed(link: Link): void {
    if (!this.#isReachable) return link.lose(new Error(`connect ECONNREFUSED ${this.address}`))
    const connection = new ServerConnection(this, link)
    this.connections.add(connection)
    link.open(connection)
  }

  /** It is answered when this server knows of it. */
  write(author: Author, ops: readonly MultiOp[]): Committed {
    const committed = this.ensemble.commit(author, ops)
    this.#catchUp()
    return committed
  }

  sync(): void {
    if (this.#lag?.isCutOff !== true) this.#catchUp()
  }

  #catchUp(): void {
    for (const transaction of this.#lag?.behind.splice(0) ?? []) this.#apply(transaction)
  }

  #apply({ zxid, time, changes, ends }: Transaction): void {
    this.zxid = zxid
    for (const change of changes) {
      this.tree.apply(change, zxid, time)
      for (const { watcher, type, path } of this.watches.fire(change)) watcher.tell(type, path, zxid)
    }
    for (const connection of this.connections) if (connection.author.session === ends) connection.end()
  }
}
