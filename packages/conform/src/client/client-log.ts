// What a client has sent and was sent, connection by connection: made from the history of an ensemble of @zk/testing, over TCP
// or in virtual time alike.
import type { HistoryEntry } from '@zk/testing'
import type { ConnectedMessage, ConnectMessage, EventMessage, ReplyMessage, RequestMessage } from '@zk/wire'

/**
 * Whether the client has received a frame. 'maybe': it was sent shortly before the connection broke, so the client may have
 * closed it without reading the frame.
 */
export type Arrival = 'yes' | 'maybe' | 'no'

export interface LoggedRequest {
  readonly at: number
  readonly message: RequestMessage
}

export interface LoggedReply {
  readonly at: number
  readonly message: ReplyMessage
  readonly arrival: Arrival
  /** The fault that struck it. */
  readonly fault: string | undefined
}

export interface LoggedEvent {
  readonly at: number
  readonly message: EventMessage
  readonly arrival: Arrival
}

export type LoggedFrame =
  | ({ readonly type: 'request' } & LoggedRequest)
  | ({ readonly type: 'reply' } & LoggedReply)
  | ({ readonly type: 'event' } & LoggedEvent)

export interface LoggedConnection {
  /** Its number in the history. */
  readonly number: number
  readonly member: string
  readonly openedAt: number
  /** The end of the log if it was still open. */
  readonly closedAt: number
  readonly closedBy: 'client' | 'server' | undefined
  readonly reason: string
  /** When the test began to lose what the server sends. */
  readonly silentSince: number | undefined
  readonly handshake:
    | { readonly at: number; readonly request: ConnectMessage['request']; readonly fault: string | undefined }
    | undefined
  readonly answer:
    | { readonly at: number; readonly response: ConnectedMessage['response']; readonly arrival: Arrival }
    | undefined
  /** Whether its first frame was no handshake that a server can read. */
  readonly isUnreadable: boolean
  /** Everything after the handshake, in order. */
  readonly frames: readonly LoggedFrame[]
}

export interface ClientLog {
  readonly connections: readonly LoggedConnection[]
  /** When the log ends. */
  readonly endsAt: number
  /** When the client was told to end; undefined if it never was. */
  readonly closeAt: number | undefined
  /** Whether it was told to close its session then: a program that gets a signal may just end. */
  readonly isToClose: boolean
  /** Times between which the test kept the client from using any server. `isRefusing`: attempts to connect do not show. */
  readonly outages: readonly { readonly from: number; readonly to: number; readonly isRefusing: boolean }[]
  /** Which garbage came in place of replies, from when on. */
  readonly garbage: readonly { readonly from: number; readonly kind: 'length' | 'xid' }[]
}

/** A frame that was sent this long before the client closed the connection has been read, in ms. */
const READ_WITHIN = 200

export interface LogFacts {
  readonly endsAt: number
  readonly closeAt?: number | undefined
  readonly isToClose?: boolean
  readonly outages?: ClientLog['outages']
  readonly garbage?: ClientLog['garbage']
  /** Sessions that are not the client's. */
  readonly operators?: ReadonlySet<bigint>
}

/** Connections that have sent four-letter words are left out: they are no clients. */
export function clientLogOf(history: Iterable<HistoryEntry>, facts: LogFacts): ClientLog {
  const drafts = new Map<number, Draft>()
  for (const entry of history) {
    if (entry.from === 'member') continue
    if (entry.from === 'control') {
      const [, number] = /^#(\d+)\.(?:halfOpen\((?:both|replies)\)|freeze\(\))$/.exec(entry.what) ?? []
      const draft = drafts.get(Number(number))
      if (draft !== undefined) draft.silentSince ??= entry.at
      continue
    }
    let draft = drafts.get(entry.connection)
    if (draft === undefined) drafts.set(entry.connection, (draft = new Draft(entry.connection, entry.member, entry.at)))
    draft.add(entry)
  }
  const { endsAt, closeAt, isToClose = false, outages = [], garbage = [], operators = new Set<bigint>() } = facts
  const connections = [...drafts.values()]
    .filter(({ isText }) => !isText)
    .map((draft) => draft.finish(endsAt))
    .filter((connection) => !operators.has(sessionOf(connection) ?? 0n))
  return { connections, endsAt, closeAt, isToClose, outages, garbage }
}

type ConnectionHistory = Exclude<HistoryEntry, { readonly from: 'member' | 'control' }>

class Draft {
  silentSince: number | undefined
  isText = false
  readonly #number: number
  readonly #member: string
  readonly #openedAt: number
  readonly #entries: Exclude<ConnectionHistory, { readonly from: 'connection' }>[] = []
  #closed: { readonly at: number; readonly reason: string } | undefined

  constructor(number: number, member: string, openedAt: number) {
    this.#number = number
    this.#member = member
    this.#openedAt = openedAt
  }

  add(entry: ConnectionHistory): void {
    if (entry.from !== 'connection') {
      // Text in place of a frame is a four-letter word if the server has answered it.
      if (entry.from === 'server' && entry.message.type === 'text') this.isText = true
      this.#entries.push(entry)
    } else if (entry.what === 'closed') this.#closed = { at: entry.at, reason: entry.reason }
  }

  finish(endsAt: number): LoggedConnection {
    const { at: closedAt = endsAt, reason = '' } = this.#closed ?? {}
    const closedBy = this.#closed === undefined ? undefined : reason === 'the client closed it' ? 'client' : 'server'
    const arrivalOf = (at: number, fault: string | undefined): Arrival => {
      if (fault === 'loseReply' || fault === 'garbage') return 'no'
      if (this.silentSince !== undefined && at >= this.silentSince) return 'no'
      const isCut = reason.includes('reset') || reason.includes('killed') || closedBy === 'client'
      const isDelayed = fault === 'delayReply' || fault === 'split' || fault === 'merge'
      return (isCut || isDelayed) && closedAt - at < READ_WITHIN ? 'maybe' : 'yes'
    }
    let handshake: LoggedConnection['handshake']
    let answer: LoggedConnection['answer']
    let isUnreadable = false
    const frames: LoggedFrame[] = []
    for (const { at, message, fault } of this.#entries) {
      if (message.type === 'connect') handshake ??= { at, request: message.request, fault }
      else if (message.type === 'connected')
        answer ??= { at, response: message.response, arrival: arrivalOf(at, fault) }
      else if (message.type === 'request') frames.push({ type: 'request', at, message })
      else if (message.type === 'reply')
        frames.push({ type: 'reply', at, message, fault, arrival: arrivalOf(at, fault) })
      else if (message.type === 'event') frames.push({ type: 'event', at, message, arrival: arrivalOf(at, fault) })
      else isUnreadable = true
    }
    return {
      number: this.#number,
      member: this.#member,
      openedAt: this.#openedAt,
      closedAt,
      closedBy,
      reason,
      silentSince: this.silentSince,
      handshake,
      answer,
      isUnreadable:
        isUnreadable ||
        (handshake === undefined &&
          reason !== 'the client closed it' &&
          /length|text|malformed|Reader|record/i.test(reason)),
      frames,
    }
  }
}

// --- reading a log --------------------------------------------------------------------------------------------------

/** The session that a connection has; undefined if the client never got one on it. */
export function sessionOf({ answer }: LoggedConnection): bigint | undefined {
  if (answer === undefined || answer.response.timeOut <= 0) return undefined
  return answer.response.sessionId
}

/** The connections of each session, in order. */
export function sessionsOf({ connections }: ClientLog): ReadonlyMap<bigint, readonly LoggedConnection[]> {
  const sessions = new Map<bigint, LoggedConnection[]>()
  for (const connection of connections) {
    const session = sessionOf(connection)
    if (session === undefined) continue
    const all = sessions.get(session) ?? []
    sessions.set(session, [...all, connection])
  }
  return sessions
}

export function requestsOf({ frames }: LoggedConnection): readonly LoggedRequest[] {
  return frames.filter((frame) => frame.type === 'request')
}

/** The granted session timeout. */
export function timeoutOf({ answer }: LoggedConnection): number {
  return answer?.response.timeOut ?? 0
}

/** When the client last received something: never after the test has silenced the server. */
export function lastHeard({ answer, frames }: LoggedConnection): number | undefined {
  const heard = frames.filter((frame) => frame.type !== 'request' && frame.arrival === 'yes').map(({ at }) => at)
  return heard.at(-1) ?? (answer?.arrival === 'yes' ? answer.at : undefined)
}

export function replyTo(connection: LoggedConnection, request: LoggedRequest): LoggedReply | undefined {
  return connection.frames.find(
    (frame): frame is Extract<LoggedFrame, { type: 'reply' }> =>
      frame.type === 'reply' && frame.message.xid === request.message.xid && frame.at >= request.at,
  )
}
