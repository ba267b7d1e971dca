// The server of a follower for its clients: it answers reads, and sends writes to the leader (FollowerZooKeeperServer).
import { ErrorCode, OpCode } from '@zk/wire'
import { isWrite } from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { Client } from './clients.ts'
import { CommitProcessor } from './commit-processor.ts'
import type { Host } from './host.ts'
import type { LearnerPacket } from './packets.ts'
import type { Pending } from './pending.ts'
import { TouchTable } from './touch-table.ts'
import { ZooKeeperServer } from './zookeeper-server.ts'

export class FollowerServer extends ZooKeeperServer {
  readonly touches = new TouchTable()
  readonly commits: CommitProcessor
  readonly #send: (packet: LearnerPacket) => void
  readonly #ids
  /** Proposals that were accepted, but are not committed yet as far as the follower knows. */
  readonly #pendingTxns: LoggedTxn[]
  readonly #pendingSyncs: Pending[] = []
  readonly #pendingRevalidations = new Map<bigint, Client>()

  constructor(host: Host, send: (packet: LearnerPacket) => void) {
    super(host)
    this.#send = send
    this.#pendingTxns = host.database.log.unapplied()
    this.#ids = host.sessionIds()
    this.commits = new CommitProcessor(
      host.process,
      { lag: () => host.lag, finishAgain: (sync) => this.#finishAgain(sync) },
      (pending) => this.finish(pending),
      (entry) => this.finishRemote(entry),
    )
  }

  override shutdown(reason: string): void {
    this.commits.stop()
    super.shutdown(reason)
  }

  /** Takes a proposal. It must be on disk before it is acknowledged. */
  logged(entry: LoggedTxn): void {
    this.host.database.log.append(entry)
    this.#pendingTxns.push(entry)
  }

  committed(zxid: bigint): void {
    const entry = this.#pendingTxns.shift()
    if (entry?.header.zxid !== zxid) throw new Error(`0x${zxid.toString(16)} is not the next to be committed`)
    this.commits.commit(entry)
  }

  /** The leader has answered the oldest `sync`. Everything that was committed before it has arrived. */
  synced(): void {
    this.commits.commitSync(this.#pendingSyncs.shift()!)
  }

  revalidated(sessionId: bigint, isValid: boolean): void {
    const client = this.#pendingRevalidations.get(sessionId)
    this.#pendingRevalidations.delete(sessionId)
    if (client !== undefined) this.finishSessionInit(client, isValid)
  }

  protected override createSession(): bigint {
    return this.#ids.next()
  }

  /** Always true, because a follower does not know whether the session lives. */
  protected override touch(sessionId: bigint, timeOut: number): boolean {
    this.touches.touch(sessionId, timeOut)
    return true
  }

  protected override revalidate(client: Client): void {
    const { sessionId, timeOut } = client
    this.#pendingRevalidations.set(sessionId, client)
    this.#send({ type: 'revalidate', sessionId, timeOut })
  }

  protected override process(pending: Pending): void {
    // The request must wait here before it is sent, because the answer may come at once.
    this.commits.submit(pending)
    if (pending.isSkipped) return
    const { request } = pending
    const { opCode } = request.message
    if (opCode === OpCode.sync) this.#pendingSyncs.push(pending)
    if (opCode === OpCode.sync || isWrite(opCode)) {
      this.#send({ type: 'request', request: { ...request, connection: undefined } })
    }
  }

  #finishAgain(sync: Pending): void {
    sync.entry = undefined
    if (!this.host.settings.release.readsRequestsAgain) sync.refused = ErrorCode.MarshallingError
    this.finish(sync)
  }

  protected override applied({ header, txn }: LoggedTxn): void {
    // Each follower touches the new session, even if the client is connected to another member.
    if (txn.type === 'createSession') this.touches.touch(header.sessionId, txn.timeOut)
    else if (txn.type === 'closeSession') this.touches.remove(header.sessionId)
  }
}
