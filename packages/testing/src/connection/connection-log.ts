import type { ClientMessage, OperationName, ServerMessage } from '@zk/wire'
import type { FaultRule } from './fault-rule.ts'
import type { History } from './history.ts'
import { ConnectionStats, type ServerStats, lastOp } from './stats.ts'
import { weight } from './weight.ts'

/** The connection that the log is about. */
interface Subject {
  readonly id: number
  readonly sessionId: bigint
}

/** A request that was answered. A handshake counts as a createSession, as in ZooKeeper. */
interface Answered {
  readonly op: OperationName | undefined
  readonly opCode: number
  readonly xid: number
  readonly err: number
  /** The zxid of the reply. */
  readonly zxid: bigint
  readonly takenAt: number
}

/** The member of the connection, and the history. */
interface LoggedAt {
  readonly name: string
  readonly stats: ServerStats
  readonly host: { readonly now: number; readonly history: History }
}

/** Writes the events of one connection into the history, and into the counters of its member. */
export class ConnectionLog {
  readonly stats = new ConnectionStats()
  readonly #of: Subject
  readonly #at: LoggedAt

  constructor(of: Subject, at: LoggedAt) {
    this.#of = of
    this.#at = at
  }

  received(message: ClientMessage, size: number, rule?: FaultRule): void {
    this.stats.received++
    this.#at.stats.received++
    const { history } = this.#at.host
    if (!history.isKept) return
    const fault = rule?.strikesRequest ? rule.fault.type : undefined
    const { id: connection, sessionId: session } = this.#of
    const { name: member } = this.#at
    history.add(
      { at: this.#at.host.now, member, connection, session, from: 'client', message, fault },
      weight(message, size),
    )
  }

  sent(message: ServerMessage, size: number, rule?: FaultRule): void {
    this.stats.sent++
    this.#at.stats.sent++
    const { history } = this.#at.host
    if (!history.isKept) return
    const fault = rule === undefined || rule.strikesRequest ? undefined : rule.fault.type
    const { id: connection, sessionId: session } = this.#of
    const { name: member } = this.#at
    history.add(
      { at: this.#at.host.now, member, connection, session, from: 'server', message, fault },
      weight(message, size),
    )
  }

  connection(what: 'opened' | 'closed', reason = ''): void {
    const { history, now: at } = this.#at.host
    const { id: connection, sessionId: session } = this.#of
    if (history.isKept)
      history.add({ at, member: this.#at.name, connection, session, from: 'connection', what, reason })
  }

  answered({ op, opCode, xid, err, zxid, takenAt }: Answered): void {
    const { stats } = this
    const { now } = this.#at.host
    const took = now - takenAt
    if (xid >= 0) stats.lastCxid = xid
    stats.lastZxid = zxid
    stats.lastOp = lastOp(op, opCode, err)
    stats.lastResponseTime = now
    stats.lastLatency = took
    stats.latency.add(took)
    this.#at.stats.latency.add(took)
  }
}
