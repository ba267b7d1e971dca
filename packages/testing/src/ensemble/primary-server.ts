// The server that decides about sessions and transactions: the server of a leader, or a standalone server.
import type { Connection } from '../server/request.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { Client } from './clients.ts'
import { removals } from './containers.ts'
import type { Host } from './host.ts'
import { type OperatorChange, type OperatorResult, operatorsRequest } from './operator.ts'
import { Pending } from './pending.ts'
import { Preparer } from './preparer.ts'
import { SessionTracker } from './session-tracker.ts'
import { closeSession, ZooKeeperServer } from './zookeeper-server.ts'

export abstract class PrimaryServer extends ZooKeeperServer {
  readonly tracker: SessionTracker
  readonly #preparer: Preparer
  readonly #ids
  /** The changes of operators that are not answered yet, each with the function that reports it as lost. */
  readonly #operators = new Map<Connection, () => void>()
  #isRunning = true

  /** `zxid` is the last zxid in use. The timeout of every session starts now. */
  constructor(host: Host, zxid: bigint) {
    super(host)
    const { database, process, settings } = host
    this.tracker = new SessionTracker(process, settings.tickTime, database.sessions, (id) => this.#close(id))
    this.#preparer = new Preparer(database, this.tracker, { ...settings, synced: () => this.syncedMembers }, zxid)
    this.#ids = host.sessionIds()
    this.#lookAtContainers()
  }

  override shutdown(reason: string): void {
    this.#isRunning = false
    this.tracker.stop()
    super.shutdown(reason)
    for (const lost of this.#operators.values()) lost()
    this.#operators.clear()
  }

  /** Ends a session as if it had not been touched for too long. */
  expire(sessionId: bigint): boolean {
    const session = this.tracker.get(sessionId)
    if (session === undefined || session.isClosing) return false
    this.tracker.setClosing(sessionId)
    this.#close(sessionId)
    return true
  }

  operate(change: OperatorChange, done: (result: OperatorResult) => void): void {
    const { request, txn } = operatorsRequest(change, this.host.name, (result) => {
      this.#operators.delete(request.connection)
      done(result)
    })
    this.#operators.set(request.connection, () => done({ type: 'lost' }))
    const pending = new Pending(request, undefined)
    this.#preparer.prepare(pending, txn)
    this.propose(pending)
  }

  /** The ids of leader and followers; undefined for a standalone server. */
  protected abstract get syncedMembers(): ReadonlySet<number> | undefined

  /** Takes a prepared request. If it is a write, it has its entry. */
  protected abstract propose(pending: Pending): void

  override process(pending: Pending): void {
    this.#preparer.prepare(pending)
    this.propose(pending)
  }

  protected override createSession(timeOut: number): bigint {
    const id = this.#ids.next()
    this.tracker.track(id, timeOut)
    return id
  }

  protected override touch(sessionId: bigint, timeOut: number): boolean {
    return this.tracker.touch(sessionId, timeOut)
  }

  protected override revalidate(client: Client): void {
    const { sessionId, timeOut } = client
    const isValid = this.tracker.touch(sessionId, timeOut)
    this.finishSessionInit(client, isValid)
    if (isValid) this.tracker.setOwner(sessionId, this.owner)
  }

  protected override applied({ header, txn }: LoggedTxn): void {
    this.#preparer.applied(header.zxid)
    if (txn.type === 'closeSession') this.tracker.remove(header.sessionId)
  }

  #close(sessionId: bigint): void {
    this.process(new Pending(closeSession(sessionId, this.host.name), undefined))
  }

  #lookAtContainers(): void {
    const { database, name, process, settings } = this.host
    process.at(process.now + settings.containerCheckInterval, () => {
      if (!this.#isRunning) return
      const requests = removals(database.tree, name, settings.wallNow())
      for (const request of requests) this.process(new Pending(request, undefined))
      this.#lookAtContainers()
    })
  }
}
