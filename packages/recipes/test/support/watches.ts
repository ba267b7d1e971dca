import { ErrorCode, EventType, WatcherType } from '@zk/wire'
import type { History, HistoryEntry } from '@zk/testing'

/** One watch at a server. */
export interface Watch {
  /** The data table holds exist watches too. */
  readonly table: 'data' | 'child'
  readonly path: string
  readonly session: bigint
}

interface Entry extends Watch {
  readonly connection: number
}

type Of<From> = Extract<HistoryEntry, { readonly from: From }>

const READS: Readonly<Record<string, Watch['table']>> = {
  exists: 'data',
  getData: 'data',
  getChildren: 'child',
  getChildren2: 'child',
}

/** The watches that servers keep, as their history tells: they themselves only tell how many (`mntr`). */
export class Watches {
  readonly #history: History
  readonly #watches = new Map<string, Entry>()
  /** Requests without an answer. */
  readonly #asked = new Map<string, Of<'client'>>()
  #seen = 0

  constructor(history: History) {
    this.#history = history
  }

  list(): Watch[] {
    for (const entry of this.#history.entries.slice(this.#seen)) this.#see(entry)
    this.#seen = this.#history.length
    return Array.from(this.#watches.values(), ({ table, path, session }) => ({ table, path, session }))
  }

  /** Has the history forget all that is known by now. */
  forget(): void {
    this.list()
    this.#history.clear()
    this.#seen = 0
  }

  #see(entry: HistoryEntry): void {
    if (entry.from === 'connection') return this.#forget(entry.connection)
    if (entry.from === 'client') return this.#seeRequest(entry)
    if (entry.from !== 'server') return
    const { message } = entry
    if (message.type === 'event') return this.#fire(entry, message.event.type, message.event.path ?? '')
    if (message.type === 'reply') this.#seeReply(entry, message.xid, message.err)
  }

  #seeRequest(entry: Of<'client'>): void {
    const { message } = entry
    if (message.type !== 'request') return
    this.#asked.set(`${entry.connection} ${message.xid}`, entry)
    if (message.op !== 'setWatches' || entry.fault !== undefined) return
    // Events of what has changed meanwhile come before the reply.
    const { dataWatches, existWatches, childWatches } = message.request
    for (const path of [...(dataWatches ?? []), ...(existWatches ?? [])]) this.#add(entry, 'data', path)
    for (const path of childWatches ?? []) this.#add(entry, 'child', path)
  }

  #seeReply(reply: Of<'server'>, xid: number, err: number): void {
    const id = `${reply.connection} ${xid}`
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (asked?.message.type !== 'request' || asked.fault === 'fail') return
    const { op, request } = asked.message
    const { path, watch, type } = (request ?? {}) as { path?: string; watch?: boolean; type?: number }
    if (op === 'removeWatches' && err === ErrorCode.Ok) {
      if (type !== WatcherType.Children) this.#remove(reply, 'data', path)
      if (type !== WatcherType.Data) this.#remove(reply, 'child', path)
    }
    const table = READS[op ?? '']
    const isSet = err === ErrorCode.Ok || (op === 'exists' && err === ErrorCode.NoNode)
    if (table !== undefined && watch && isSet) this.#add(reply, table, path)
  }

  #fire(entry: Of<'server'>, type: number, path: string): void {
    if (type !== EventType.NodeChildrenChanged) this.#remove(entry, 'data', path)
    if (type === EventType.NodeChildrenChanged || type === EventType.NodeDeleted) this.#remove(entry, 'child', path)
  }

  #add({ connection, session }: Of<'client' | 'server'>, table: Watch['table'], path: string | null | undefined): void {
    const watch = { connection, session, table, path: path ?? '' }
    this.#watches.set(`${connection} ${table} ${watch.path}`, watch)
  }

  #remove({ connection }: Of<'server'>, table: Watch['table'], path: string | null | undefined): void {
    this.#watches.delete(`${connection} ${table} ${path ?? ''}`)
  }

  #forget(connection: number): void {
    for (const [id, watch] of this.#watches) if (watch.connection === connection) this.#watches.delete(id)
  }
}
