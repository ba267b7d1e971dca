// The server of a member without a leader, in read-only mode (ReadOnlyZooKeeperServer, ReadOnlyRequestProcessor).
import { type ConnectRequest, ErrorCode, OpCode, type TypeOf } from '@zk/wire'
import { goesToLeader } from '../database/index.ts'
import type { Connection, ServerRequest } from '../server/request.ts'
import type { Client } from './clients.ts'
import type { Host } from './host.ts'
import type { Pending } from './pending.ts'
import { SessionTracker } from './session-tracker.ts'
import { ZooKeeperServer } from './zookeeper-server.ts'

/**
 * It opens sessions that no other member knows, as with localSessionsEnabled. Sessions of the ensemble are refused, or tracked
 * with them. Its tree has all transactions in its log, even those that were never committed.
 */
export class ReadOnlyServer extends ZooKeeperServer {
  override readonly isReadOnly = true
  readonly #tracker: SessionTracker
  readonly #ids

  constructor(host: Host) {
    super(host)
    host.database.fastForward()
    const { database, process, settings } = host
    const known = settings.release.refusesSessionsReadOnly ? new Map() : database.sessions
    this.#tracker = new SessionTracker(process, settings.tickTime, known, (id) => this.#expire(id))
    this.#ids = host.sessionIds()
  }

  override connect(connection: Connection, request: TypeOf<typeof ConnectRequest>): void {
    if (!request.readOnly) return connection.close('the member is read-only, and the client did not agree to that')
    const { database, settings } = this.host
    if (settings.release.refusesSessionsReadOnly && database.sessions.has(request.sessionId)) {
      return connection.close('the member is read-only, and the session is one of the ensemble')
    }
    super.connect(connection, request)
  }

  override shutdown(reason: string): void {
    this.#tracker.stop()
    super.shutdown(reason)
  }

  protected override createSession(timeOut: number): bigint {
    const id = this.#ids.next()
    this.#tracker.track(id, timeOut)
    return id
  }

  protected override touch(sessionId: bigint, timeOut: number): boolean {
    return this.#tracker.touch(sessionId, timeOut)
  }

  protected override revalidate(client: Client): void {
    this.finishSessionInit(client, this.#tracker.touch(client.sessionId, client.timeOut))
  }

  protected override process(pending: Pending): void {
    const { request } = pending
    const { opCode } = request.message
    if (opCode === OpCode.createSession) return this.#established(request)
    if (opCode === OpCode.closeSession) return this.#close(pending)
    pending.refused = goesToLeader(opCode) ? ErrorCode.NotReadOnly : this.#tracker.check(request.sessionId, this.owner)
    this.finish(pending)
  }

  /** Does nothing, because a read-only server commits nothing. */
  protected override applied(): void {}

  #established(createSession: ServerRequest): void {
    const client = createSession.connection && this.clientOf(createSession.connection)
    if (client !== undefined) this.finishSessionInit(client, true, createSession)
  }

  #close({ request }: Pending): void {
    this.#tracker.remove(request.sessionId)
    request.connection?.reply(request, this.host.database.tree.lastProcessedZxid, ErrorCode.Ok)
  }

  #expire(sessionId: bigint): void {
    this.#tracker.remove(sessionId)
    this.dropSession(sessionId, 'the session has expired')
  }
}
