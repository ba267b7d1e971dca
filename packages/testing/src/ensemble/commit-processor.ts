// Keeps the requests of each session in order, and all commits in order (CommitProcessor).
import { OpCode } from '@zk/wire'
import { isWrite } from '../database/index.ts'
import type { LoggedTxn } from '../server/txn.ts'
import type { Cancel } from './agenda.ts'
import type { Pending } from './pending.ts'
import type { Process } from './process.ts'

interface Commit {
  readonly sessionId: bigint
  readonly cxid: number
  /** A transaction, or a `sync` that the leader has answered. */
  readonly what: LoggedTxn | Pending
  readonly due: number
}

export interface CommitOptions {
  /** The time from the commit of a transaction until this server applies it, in ms. */
  readonly lag: () => number
  /** On a follower: handles the leader's answer to a `sync` that was finished too early by another commit (`#finish`). */
  readonly finishAgain?: (sync: Pending) => void
}

export class CommitProcessor {
  readonly #process: Process
  readonly #local: (pending: Pending) => void
  readonly #remote: (entry: LoggedTxn) => void
  readonly #again: CommitOptions['finishAgain']
  /** The requests of each session that waits for a commit: the one that waits, and all later ones. */
  readonly #sessions = new Map<bigint, Pending[]>()
  readonly #writes: Pending[] = []
  readonly #commits: Commit[] = []
  #isDraining = false
  readonly #lag: () => number
  #timer: Cancel | undefined

  /**
   * `local` finishes a request of this server; a write then has its entry. `remote` finishes a transaction that another
   * server requested.
   */
  constructor(
    process: Process,
    { lag, finishAgain }: CommitOptions,
    local: (pending: Pending) => void,
    remote: (entry: LoggedTxn) => void,
  ) {
    this.#process = process
    this.#again = finishAgain
    this.#lag = lag
    this.#local = local
    this.#remote = remote
  }

  submit(pending: Pending): void {
    const { sessionId } = pending.request
    const needsCommit = this.#needsCommit(pending)
    if (needsCommit) this.#writes.push(pending)
    const waiting = this.#sessions.get(sessionId)
    // Pings also wait for the writes of their session.
    if (waiting !== undefined) waiting.push(pending)
    else if (needsCommit) this.#sessions.set(sessionId, [pending])
    else this.#local(pending)
  }

  commit(entry: LoggedTxn): void {
    this.#committed(entry.header.sessionId, entry.header.cxid, entry)
  }

  commitSync(sync: Pending): void {
    const { sessionId, message } = sync.request
    this.#committed(sessionId, message.xid, sync)
  }

  catchUp(): void {
    this.#drain(Infinity)
  }

  /** Drops commits that are not applied yet. They stay in the log. */
  stop(): void {
    this.#commits.length = 0
    this.#timer?.cancel()
  }

  #committed(sessionId: bigint, cxid: number, what: Commit['what']): void {
    const last = this.#commits.at(-1)?.due ?? 0
    this.#commits.push({ sessionId, cxid, what, due: Math.max(last, this.#process.now + this.#lag()) })
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

  #finish({ sessionId, cxid, what }: Commit): void {
    const entry = 'txn' in what ? what : undefined
    const { request } = this.#writes[0] ?? {}
    // Commits come in the order of the requests. So this one is for the oldest of our requests, or for a request of another
    // server. As in ZooKeeper, only session and xid are compared. So a write of an earlier connection of the session, with
    // the same xid, finishes our request too early.
    if (request?.sessionId !== sessionId || request.message.xid !== cxid) {
      if ('txn' in what) this.#remote(what)
      else this.#again?.(what)
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

  #needsCommit({ request: { message }, isSkipped }: Pending): boolean {
    if (isSkipped) return false
    return isWrite(message.opCode) || (this.#again !== undefined && message.opCode === OpCode.sync)
  }
}
