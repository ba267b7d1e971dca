// What every serving member does for its clients, whatever its part in the quorum (ZooKeeperServer, FinalRequestProcessor).
import { type ConnectRequest, ErrorCode, OpCode, type TypeOf } from '@zk/wire'
import { answerRead, answerWrite, isKnown } from '../database/index.ts'
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
  /** Of requests that come in here. */
  readonly owner: Owner
  /** Whether it says so in the answer to a handshake. */
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
    // A client that has seen more than this server would go back in time.
    if (lastZxidSeen > database.tree.lastProcessedZxid) {
      return connection.close('the client has seen a zxid that the member has not')
    }
    const { minSessionTimeout, maxSessionTimeout } = { ...settings, ...settings.memberOptions[this.host.name] }
    const client = this.#clients.add(connection, Math.min(Math.max(timeOut, minSessionTimeout), maxSessionTimeout))
    if (sessionId === 0n) {
      this.#clients.setSession(client, this.createSession(client.timeOut))
      return this.submit(createSession(client))
    }
    // Before the password is checked.
    this.#drop(this.#clients.ofSession(sessionId), 'the session was resumed on another')
    this.#clients.setSession(client, sessionId)
    if (isPasswd(sessionId, passwd)) this.revalidate(client)
    else this.finishSessionInit(client, false)
  }

  submit(request: ServerRequest): void {
    const client = request.connection && this.#clients.get(request.connection)
    if (client !== undefined) this.#throttler.submit(new Pending(request, this.owner))
  }

  /** As if the connection had asked for something that was refused. */
  touchBy(connection: Connection): void {
    const client = this.#clients.get(connection)
    if (client !== undefined) this.touch(client.sessionId, client.timeOut)
  }

  disconnected(connection: Connection): void {
    const client = this.#clients.get(connection)
    if (client !== undefined) this.#forget(client)
  }

  /** It does not serve any more. */
  shutdown(reason: string): void {
    for (const client of this.#clients.all()) this.#drop(client, reason)
  }

  // --- what depends on the part in the quorum ---------------------------------------------------------------------

  /** The id of a new session, which lives once its request is committed. */
  protected abstract createSession(timeOut: number): bigint
  /** False for a session that has ended. */
  protected abstract touch(sessionId: bigint, timeOut: number): boolean
  /** Ends in `finishSessionInit`. */
  protected abstract revalidate(client: Client): void
  /** Ends in `finish`, or `finishRemote` where the request has no connection here. */
  protected abstract process(pending: Pending): void
  /** The entry is in the tree. */
  protected abstract applied(entry: LoggedTxn): void

  /**
   * Its turn has come. Whatever it asks for, and whatever becomes of that, the session is touched: with the timeout of this
   * connection (submitRequestNow). What proves the client's identity never comes this far, and touches nothing.
   */
  #submitNow(pending: Pending): void {
    const { request } = pending
    const client = request.connection && this.#clients.get(request.connection)
    // A request whose session has ended is not answered: its connection will be closed when that is committed.
    if (client === undefined || !this.touch(client.sessionId, client.timeOut)) return this.#throttler.finished(pending)
    if (isKnown(request.message.opCode, this.host.settings.version)) return this.process(pending)
    this.#throttler.finished(pending)
    client.connection.reply(request, -1n, ErrorCode.Unimplemented)
    this.#drop(client, `opcode ${request.message.opCode} is not known`)
  }

  // --- ends -------------------------------------------------------------------------------------------------------

  /** A createSession ends here too, also that of a client that has a session: it tells of the one there is. */
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

  /** A transaction that another server was asked for, or none. */
  protected finishRemote(entry: LoggedTxn): void {
    this.#apply(entry)
    if (entry.txn.type !== 'closeSession') return
    // Servers end one without a xid, clients count theirs from 1.
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
    // Also where an operator waits, which is no client.
    if (client === undefined && request.sessionId !== 0n) return
    const err = result?.err ?? refused
    // A connection that its session has left is closed without an answer (ZOOKEEPER-710).
    if (err === ErrorCode.SessionMoved) return this.#drop(client, 'the session has moved to another member')
    if (entry?.txn.type === 'createSession' && client !== undefined) {
      return this.finishSessionInit(client, true, request)
    }
    const { tree } = this.host.database
    const answer =
      result !== undefined && request.message.opCode !== OpCode.sync
        ? answerWrite(request, result)
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

/** What a server asks of itself: no client waits for it. */
export function closeSession(sessionId: bigint, member: string): ServerRequest {
  const message = { type: 'request', op: 'closeSession', opCode: -11, xid: 0, request: undefined } as const
  return { sessionId, message, authInfo: [], owner: member, connection: undefined }
}
