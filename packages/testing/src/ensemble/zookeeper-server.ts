// What a serving member does for its clients in every role (ZooKeeperServer, FinalRequestProcessor).
import { type ConnectRequest, ErrorCode, OpCode, type TypeOf } from '@zk/wire'
import { answerRead, answerWrite, isKnown, isWrite } from '../database/index.ts'
import type { Connection, ServerRequest } from '../server/request.ts'
import type { LoggedTxn } from '../server/txn.ts'
import { type Client, Clients } from './clients.ts'
import type { Host } from './host.ts'
import { Pending } from './pending.ts'
import { RequestThrottler } from './request-throttler.ts'
import { generatePasswd, isPasswd } from './session-ids.ts'
import type { Owner } from './session-tracker.ts'

export abstract class ZooKeeperServer {
  protected readonly host: Host
  /** The source of requests from the clients of this server. */
  readonly owner: Owner
  /** Whether the answer to a handshake has the flag readOnly. */
  readonly isReadOnly: boolean = false
  readonly #clients = new Clients()
  readonly #throttler: RequestThrottler

  constructor(host: Host) {
    this.host = host
    this.owner = { member: host.name }
    this.#throttler = new RequestThrottler(host.settings, {
      now: () => host.process.now,
      isStale: ({ request: { connection } }) => connection !== undefined && this.#clients.get(connection) === undefined,
      pass: (pending) => this.#submitNow(pending),
    })
  }

  connect(connection: Connection, { lastZxidSeen, timeOut, sessionId, passwd }: TypeOf<typeof ConnectRequest>): void {
    const { database, settings } = this.host
    // On this server a client that has seen a later zxid would go back in time.
    if (lastZxidSeen > database.tree.lastProcessedZxid) {
      return connection.close('the client has seen a zxid that the member has not')
    }
    const { minSessionTimeout, maxSessionTimeout } = { ...settings, ...settings.memberOptions[this.host.name] }
    const client = this.#clients.add(connection, Math.min(Math.max(timeOut, minSessionTimeout), maxSessionTimeout))
    if (sessionId === 0n) {
      this.#clients.setSession(client, this.createSession(client.timeOut))
      return this.submit(createSession(client))
    }
    // This is done before the password is checked.
    this.#drop(this.#clients.ofSession(sessionId), 'the session was resumed on another')
    this.#clients.setSession(client, sessionId)
    if (isPasswd(sessionId, passwd)) this.revalidate(client)
    else this.finishSessionInit(client, false)
  }

  submit(request: ServerRequest): void {
    const client = request.connection && this.#clients.get(request.connection)
    if (client !== undefined) this.#throttler.submit(new Pending(request, this.owner))
  }

  /** Touches the session of this connection, as for a request. */
  touchBy(connection: Connection): void {
    const client = this.#clients.get(connection)
    if (client !== undefined) this.touch(client.sessionId, client.timeOut)
  }

  disconnected(connection: Connection): void {
    const client = this.#clients.get(connection)
    if (client !== undefined) this.#forget(client)
  }

  /** The server does not serve any more. */
  shutdown(reason: string): void {
    for (const client of this.#clients.all()) this.#drop(client, reason)
  }

  // --- what depends on the role -----------------------------------------------------------------------------------

  /** Returns the id of a new session. The session exists when its request is committed. */
  protected abstract createSession(timeOut: number): bigint
  /** Returns false if the session has ended. */
  protected abstract touch(sessionId: bigint, timeOut: number): boolean
  /** Calls `finishSessionInit` when it knows whether the session lives. */
  protected abstract revalidate(client: Client): void
  /** Calls `finish` in the end. If the request has no connection here, `finishRemote` does the rest. */
  protected abstract process(pending: Pending): void
  /** The entry has been applied. */
  protected abstract applied(entry: LoggedTxn): void

  /**
   * Passes a request on. Each request restarts the timeout of its session, even if it will fail; the timeout is that of this
   * connection (submitRequestNow). auth and sasl are handled earlier, and touch no session.
   */
  #submitNow(pending: Pending): void {
    const { request } = pending
    const client = request.connection && this.#clients.get(request.connection)
    // If the session has ended, the request gets no answer: the connection is closed when the end is committed.
    if (client === undefined || !this.touch(client.sessionId, client.timeOut)) return this.#throttler.finished(pending)
    const { release } = this.host.settings
    if (release.readsWritesFirst && isUnreadableWrite(request)) pending.refused = ErrorCode.MarshallingError
    if (isKnown(request.message.opCode, release)) return this.process(pending)
    this.#throttler.finished(pending)
    client.connection.reply(request, -1n, ErrorCode.Unimplemented)
    this.#drop(client, `opcode ${request.message.opCode} is not known`)
  }

  // --- ends -------------------------------------------------------------------------------------------------------

  /** Answers a handshake, or a createSession of a client that already has a session: the answer is about that session. */
  protected finishSessionInit(client: Client, isValid: boolean, createSession?: ServerRequest): void {
    const { connection, sessionId, timeOut } = client
    if (this.#clients.get(connection) !== client) return
    const { isReadOnly: readOnly } = this
    if (isValid) {
      const session = { sessionId, timeOut, passwd: generatePasswd(sessionId), readOnly }
      return connection.established(session, createSession)
    }
    connection.established({ sessionId: 0n, timeOut: 0, passwd: new Uint8Array(16), readOnly }, createSession)
    this.#drop(client, 'the session has expired')
  }

  /** Finishes a transaction that another server requested, or that has no request. */
  protected finishRemote(entry: LoggedTxn): void {
    this.#apply(entry)
    if (entry.txn.type !== 'closeSession') return
    // Servers close sessions with xid 0. The xids of clients begin with 1.
    const reason = entry.header.cxid === 0 ? 'the session has expired' : 'the client closed the session elsewhere'
    this.dropSession(entry.header.sessionId, reason)
  }

  protected finish(pending: Pending): void {
    this.#finish(pending)
    this.#throttler.finished(pending)
  }

  #finish({ request, entry, refused }: Pending): void {
    const { connection } = request
    if (connection === undefined) {
      if (entry !== undefined) this.finishRemote(entry)
      return
    }
    const result = entry && this.#apply(entry)
    const client = this.#clients.get(connection)
    // The connection of an operator is not a client's, but gets its answer.
    if (client === undefined && request.sessionId !== 0n) return
    const err = result?.err ?? refused
    // A connection whose session has moved is closed without an answer (ZOOKEEPER-710).
    const isAnswered = request.message.op === 'multi' && this.host.settings.release.answersMovedMulti
    if (err === ErrorCode.SessionMoved && !isAnswered)
      return this.#drop(client, 'the session has moved to another member')
    if (entry?.txn.type === 'createSession' && client !== undefined) {
      return this.finishSessionInit(client, true, request)
    }
    const { tree } = this.host.database
    const answer =
      result !== undefined && request.message.opCode !== OpCode.sync
        ? answerWrite(request, result, tree.release)
        : err === ErrorCode.Ok
          ? answerRead(tree, request)
          : { err, response: undefined }
    if (answer === undefined) return
    connection.reply(request, tree.lastProcessedZxid, answer.err, answer.response)
    if (entry?.txn.type === 'closeSession') this.#drop(client, 'the client closed the session')
  }

  protected clientOf(connection: Connection): Client | undefined {
    return this.#clients.get(connection)
  }

  protected dropSession(sessionId: bigint, reason: string): void {
    this.#drop(this.#clients.ofSession(sessionId), reason)
  }

  #apply(entry: LoggedTxn) {
    const result = this.host.database.apply(entry)
    this.applied(entry)
    return result
  }

  #drop(client: Client | undefined, reason: string): void {
    if (client === undefined) return
    this.#forget(client)
    client.connection.close(reason)
  }

  #forget(client: Client): void {
    this.#clients.delete(client)
    this.host.database.tree.removeWatcher(client.connection)
  }
}

function createSession({ connection, sessionId, timeOut }: Client): ServerRequest {
  const rest = new Uint8Array(4)
  new DataView(rest.buffer).setInt32(0, timeOut)
  const message = { type: 'request', op: 'createSession', opCode: -10, xid: 0, request: undefined, rest } as const
  return { sessionId, message, authInfo: [], owner: '', connection }
}

/** A request of the server itself: no client waits for it. */
export function closeSession(sessionId: bigint, member: string): ServerRequest {
  const message = { type: 'request', op: 'closeSession', opCode: -11, xid: 0, request: undefined } as const
  return { sessionId, message, authInfo: [], owner: member, connection: undefined }
}

/** A multi is read later, as a transaction. */
function isUnreadableWrite({ isMalformed = false, message }: ServerRequest): boolean {
  return isMalformed && isWrite(message.opCode) && message.op !== 'multi'
}
