import type { EventMessage, ReplyMessage, RequestMessage } from '@zk/wire'
import { describe } from './describe.ts'
import { checkKeys, type FaultMatch, type Matcher, matcher, opsOf } from './fault.ts'
import type { ClientEntry, HistoryEntry, ServerEntry } from './history-entry.ts'
import { pathsOf } from './paths-of.ts'

/** Which entries are meant: those for which all that is given holds. */
export type HistoryFilter = Omit<FaultMatch, 'nth' | 'times'>

const KEYS = ['op', 'path', 'session', 'member'] as const satisfies readonly (keyof HistoryFilter)[]

/** How much a history keeps. */
export interface HistoryLimits {
  /** Entries kept; 0 for no history. */
  readonly entries: number
  /** Bytes of frames kept, and some more for each part of a multi and each name in a list. */
  readonly bytes: number
}

/** All that was said and done, decoded, in order. What is too much is forgotten, the oldest first. */
export class History implements Iterable<HistoryEntry> {
  /** How many entries were forgotten for want of room. */
  dropped = 0
  readonly #limits: HistoryLimits
  readonly #members: readonly string[]
  #entries: HistoryEntry[] = []
  #sizes: number[] = []
  #first = 0
  #bytes = 0

  /** @internal */
  constructor(limits: HistoryLimits, members: readonly string[]) {
    this.#limits = limits
    this.#members = members
  }

  /** How many entries are kept. */
  get length(): number {
    return this.#entries.length - this.#first
  }

  /** A copy of what is kept. */
  get entries(): readonly HistoryEntry[] {
    return this.#entries.slice(this.#first)
  }

  /** Over a copy of what is kept: what is added meanwhile is not in it. */
  *[Symbol.iterator](): Iterator<HistoryEntry> {
    yield* this.entries
  }

  /** The requests that match, those that were lost too; pings only where `op` names them. */
  requests(filter: HistoryFilter = {}): readonly (ClientEntry & { readonly message: RequestMessage })[] {
    const matches = this.#matcher('requests', filter)
    return this.entries.filter((entry): entry is ClientEntry & { readonly message: RequestMessage } => {
      if (entry.from !== 'client' || entry.message.type !== 'request') return false
      const { op } = entry.message
      return matches({ ...entry, op, paths: pathsOf(entry.message) })
    })
  }

  /** The replies to such requests, those that were lost too. By path only while the request is kept as well. */
  replies(filter: HistoryFilter = {}): readonly (ServerEntry & { readonly message: ReplyMessage })[] {
    const matches = this.#matcher('replies', filter)
    const asked = new Map<string, readonly string[]>()
    return this.entries.filter((entry): entry is ServerEntry & { readonly message: ReplyMessage } => {
      if (entry.from !== 'client' && entry.from !== 'server') return false
      const { connection, message } = entry
      if (message.type === 'request') asked.set(`${connection} ${message.xid}`, pathsOf(message))
      if (message.type !== 'reply') return false
      return matches({ ...entry, op: message.op, paths: asked.get(`${connection} ${message.xid}`) ?? [] })
    })
  }

  /** The events that watches sent, those that were lost too. */
  events(filter: Omit<HistoryFilter, 'op'> = {}): readonly (ServerEntry & { readonly message: EventMessage })[] {
    checkKeys('history.events', filter, KEYS.slice(1))
    const matches = matcher({ ...filter, op: 'event' }, this.#members)
    return this.entries.filter((entry): entry is ServerEntry & { readonly message: EventMessage } => {
      if (entry.from !== 'server' || entry.message.type !== 'event') return false
      return matches({ ...entry, op: 'event', paths: [entry.message.event.path ?? ''] })
    })
  }

  /** Forgets all entries, and how many were forgotten before. */
  clear(): void {
    this.#entries = []
    this.#sizes = []
    this.#first = 0
    this.#bytes = 0
    this.dropped = 0
  }

  /** One line an entry, for people. What nodes hold and credentials are left out. */
  toString(): string {
    return this.entries.map(describe).join('\n')
  }

  /** @internal */
  get isKept(): boolean {
    return this.#limits.entries > 0
  }

  /** @internal */
  add(entry: HistoryEntry, size = 0): void {
    if (!this.isKept) return
    this.#entries.push(entry)
    this.#sizes.push(size)
    this.#bytes += size
    while (this.length > this.#limits.entries || this.#bytes > this.#limits.bytes) this.#forget()
  }

  #matcher(what: 'requests' | 'replies', filter: HistoryFilter): Matcher {
    checkKeys(`history.${what}`, filter, KEYS)
    const ops = opsOf(filter)
    if (ops?.has('event') || ops?.has('connect')) {
      throw new TypeError(`history.${what}: events are found with history.events(), handshakes among the entries`)
    }
    return matcher(filter, this.#members)
  }

  #forget(): void {
    this.#bytes -= this.#sizes[this.#first]!
    // So that it can be collected before the next compaction.
    this.#entries[this.#first] = undefined!
    this.#first++
    this.dropped++
    if (this.#first * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#sizes = this.#sizes.slice(this.#first)
    this.#first = 0
  }
}
