// The order of a session's requests, and of all commits (CommitProcessor).
import { OpCode } from '@zk/wire'
import { isWrite } from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { Cancel } from './agenda.ts'
import type { Pending } from './pending.ts'
import type { Process } from './process.ts'

interface Commit {
  readonly sessionId: bigint
  readonly cxid: number
  /** undefined for the answer to a `sync`. */
  readonly entry: LoggedTxn | undefined
  readonly due: number
}

export class CommitProcessor {
  readonly #process: Process
  /** A follower's `sync` waits for the leader; the leader itself answers one like a read. */
  readonly #matchSyncs: boolean
  readonly #local: (pending: Pending) => void
  readonly #remote: (entry: LoggedTxn) => void
  /** Of sessions that wait for a commit all that came since. */
  readonly #sessions = new Map<bigint, Pending[]>()
  readonly #writes: Pending[] = []
  readonly #commits: Commit[] = []
  #isDraining = false
  #lag: number
  #timer: Cancel | undefined

  /** `local` finishes a request of this server's, in a write with its entry; `remote` what another server was asked for. */
  constructor(
    process: Process,
    { matchSyncs, lag }: { readonly matchSyncs: boolean; readonly lag: number },
    local: (pending: Pending) => void,
    remote: (entry: LoggedTxn) => void,
  ) {
    this.#process = process
    this.#matchSyncs = matchSyncs
    this.#lag = lag
    this.#local = local
    this.#remote = remote
  }

  submit(pending: Pending): void {
    const { sessionId } = pending.request
    const needsCommit = this.#needsCommit(pending)
    if (needsCommit) this.#writes.push(pending)
    const waiting = this.#sessions.get(sessionId)
    // Also a ping queues behind the writes of its session.
    if (waiting !== undefined) waiting.push(pending)
    else if (needsCommit) this.#sessions.set(sessionId, [pending])
    else this.#local(pending)
  }

  commit(entry: LoggedTxn): void {
    this.#committed(entry.header.sessionId, entry.header.cxid, entry)
  }

  commitSync({ request }: Pending): void {
    this.#committed(request.sessionId, request.message.xid, undefined)
  }

  /** For commits from now on, in ms. */
  set lag(ms: number) {
    this.#lag = ms
  }

  catchUp(): void {
    this.#drain(Infinity)
  }

  /** What is committed and not applied stays in the log only. */
  stop(): void {
    this.#commits.length = 0
    this.#timer?.cancel()
  }

  #committed(sessionId: bigint, cxid: number, entry: LoggedTxn | undefined): void {
    const last = this.#commits.at(-1)?.due ?? 0
    this.#commits.push({ sessionId, cxid, entry, due: Math.max(last, this.#process.now + this.#lag) })
    this.#drain(this.#process.now)
  }

  #drain(until: number): void {
    if (this.#isDraining) return
    this.#isDraining = true
    while (this.#commits.length > 0 && this.#commits[0]!.due <= until) this.#finish(this.#commits.shift()!)
    this.#isDraining = false
    this.#timer?.cancel()
    this.#timer = undefined
    const due = this.#commits[0]?.due ?? Infinity
    if (due !== Infinity) this.#timer = this.#process.at(due, () => this.#drain(due))
  }

  #finish({ sessionId, cxid, entry }: Commit): void {
    const { request } = this.#writes[0] ?? {}
    // Commits come in the order of the requests: either this one is for the oldest of ours, or for none of them.
    if (request?.sessionId !== sessionId || request.message.xid !== cxid) {
      if (entry !== undefined) this.#remote(entry)
      return
    }
    const pending = this.#writes.shift()!
    const waiting = this.#sessions.get(sessionId)!
    waiting.shift()
    pending.entry = entry
    this.#local(pending)
    while (waiting.length > 0 && !this.#needsCommit(waiting[0]!)) this.#local(waiting.shift()!)
    if (waiting.length === 0) this.#sessions.delete(sessionId)
  }

  #needsCommit({ request: { message }, isThrottled }: Pending): boolean {
    if (isThrottled) return false
    return isWrite(message.opCode) || (this.#matchSyncs && message.opCode === OpCode.sync)
  }
}
