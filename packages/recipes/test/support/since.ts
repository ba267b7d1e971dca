import { EventType } from '@zk/wire'
import type { History, HistoryEntry } from '@zk/testing'

/** One request as a server saw it. Pings and handshakes are left out. */
export interface Asked {
  readonly at: number
  /** Name of the server. */
  readonly member: string
  readonly session: bigint
  readonly op: string | undefined
  /** Empty for a request for several paths. */
  readonly path: string
  /** All its paths. */
  readonly paths: readonly string[]
  /** What struck it. */
  readonly fault: string | undefined
}

/** One event of a watch. */
export interface Told {
  readonly session: bigint
  readonly type: string
  readonly path: string
}

/** What the servers were asked, and the events they sent, from now on. */
export class Since {
  readonly #history: History
  readonly #first: number

  constructor(history: History) {
    this.#history = history
    this.#first = history.length
  }

  get asked(): Asked[] {
    return this.#entries.flatMap(asAsked)
  }

  get notified(): Told[] {
    return this.#entries.flatMap(asTold)
  }

  /** What was asked: by one session, or by all. */
  ops(session?: bigint): (string | undefined)[] {
    return this.asked.filter((each) => (session ?? each.session) === each.session).map(({ op }) => op)
  }

  get #entries(): readonly HistoryEntry[] {
    return this.#history.entries.slice(this.#first)
  }
}

function asAsked(entry: HistoryEntry): Asked[] {
  if (entry.from !== 'client' || entry.message.type !== 'request' || entry.message.op === 'ping') return []
  const { at, member, session, message, fault } = entry
  const { path = '' } = (message.request ?? {}) as { path?: string }
  const parts = Array.isArray(message.request) ? (message.request as { request: { path: string } }[]) : undefined
  const paths = parts?.map(({ request }) => request.path) ?? [path]
  return [{ at, member, session, op: message.op, path, paths, fault }]
}

function asTold(entry: HistoryEntry): Told[] {
  if (entry.from !== 'server' || entry.message.type !== 'event') return []
  const { type, path } = entry.message.event
  const name = Object.entries(EventType).find(([, number]) => number === type)?.[0] ?? ''
  return [{ session: entry.session, type: name, path: path ?? '' }]
}
