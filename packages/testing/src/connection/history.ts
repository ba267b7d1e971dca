import type { EventMessage, ReplyMessage, RequestMessage } from '@zk/wire'
import { describe } from './describe.ts'
import { checkKeys, type FaultMatch, type Matcher, matcher, opsOf } from './fault.ts'
import type { ClientEntry, HistoryEntry, ServerEntry } from './history-entry.ts'
import { pathsOf } from './paths-of.ts'

/** Selects entries. They must match each field that is given. */
export type HistoryFilter = Omit<FaultMatch, 'nth' | 'times'>

const KEYS = ['op', 'path', 'session', 'member'] as const satisfies readonly (keyof HistoryFilter)[]

/** How much a history keeps. */
export interface HistoryLimits {
  /** How many entries are kept; 0 for no history. */
  readonly entries: number
  /** How many bytes of frames are kept. Each operation of a multi and each name in a list adds some bytes to its frame. */
  readonly bytes: number
}

/** All frames (decoded), connections, roles and controls, in order. Drops the oldest entries above its limits. */
export class History implements Iterable<HistoryEntry> {
  /** How many entries were dropped because of the limits. */
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

  /** A copy of the entries. */
  get entries(): readonly HistoryEntry[] {
    return this.#entries.slice(this.#first)
  }

  /** Iterates over a copy: entries that are added meanwhile are not in it. */
  *[Symbol.iterator](): Iterator<HistoryEntry> {
    yield* this.entries
  }

  /** The requests that match, including lost ones. Pings are among them only if `op` names them. */
  requests(filter: HistoryFilter = {}): readonly (ClientEntry & { readonly message: RequestMessage })[] {
    const matches = this.#matcher('requests', filter)
    return this.entries.filter((entry): entry is ClientEntry & { readonly message: RequestMessage } => {
      if (entry.from !== 'client' || entry.message.type !== 'request') return false
      const { op } = entry.message
      return matches({ ...entry, op, paths: pathsOf(entry.message) })
    })
  }

  /** The replies that match, including lost ones. A path matches only while the request of the reply is kept, too. */
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

  /** The events of watches that match, including lost ones. */
  events(filter: Omit<HistoryFilter, 'op'> = {}): readonly (ServerEntry & { readonly message: EventMessage })[] {
    checkKeys('history.events', filter, KEYS.slice(1))
    const matches = matcher({ ...filter, op: 'event' }, this.#members)
    return this.entries.filter((entry): entry is ServerEntry & { readonly message: EventMessage } => {
      if (entry.from !== 'server' || entry.message.type !== 'event') return false
      return matches({ ...entry, op: 'event', paths: [entry.message.event.path ?? ''] })
    })
  }

  /** Drops all entries, and sets `dropped` to 0. */
  clear(): void {
    this.#entries = []
    this.#sizes = []
    this.#first = 0
    this.#bytes = 0
    this.dropped = 0
  }

  /** One line for each entry, without the data of nodes and without credentials. */
  toString(): string {
    return this.entries.map(describe).join('\n')
  }

  /** For logs: the lines of `toString`. */
  toJSON(): readonly string[] {
    return this.entries.map(describe)
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
    // Now the entry can be garbage-collected before the next compaction.
    this.#entries[this.#first] = undefined!
    this.#first++
    this.dropped++
    if (this.#first * 2 < this.#entries.length) return
    this.#entries = this.#entries.slice(this.#first)
    this.#sizes = this.#sizes.slice(this.#first)
    this.#first = 0
  }
}
