// What an answer means: to the request, to those who wait for it, to the watches it was about. Also what those are told
// who get none.
import { ErrorCode, errorName, OpCode, ProtocolError } from '@zk/wire'
import { KeeperError, type KeeperErrorCode, type KeeperErrorDetails } from '../../errors.ts'
import { needsOf } from '../../operations/needs.ts'
import type { Incoming } from '../protocol/incoming.ts'
import type { RequestQueue } from './request-queue.ts'
import type { Output } from '../protocol/output.ts'
import { ErrorReply, type Request, type ErrorContext } from './request.ts'
import type { Watcher } from '../watches/one-shot-watches.ts'
import { setsWatches, type WatchManager } from '../watches/watch-manager.ts'

export type Reply = Extract<Incoming, { type: 'reply' }>

interface ReplyHandlerParts {
  readonly watches: WatchManager
  readonly queue: RequestQueue
  readonly emit: (output: Output) => void
  readonly errorContext: () => ErrorContext
  /** A write was answered, and nobody knows what. */
  readonly lostAnswer: () => void
}

export class ReplyHandler {
  readonly #of: ReplyHandlerParts

  constructor(of: ReplyHandlerParts) {
    this.#of = of
  }

  take(request: Request, reply: Reply): void {
    if (request.phase.name === 'abandoned') this.#abandonedReply(request, reply)
    else this.#settle(request, reply)
  }

  #settle(request: Request, { err, body }: Reply): void {
    request.phase = { name: 'settled' }
    try {
      this.#heard(request, err === ErrorCode.Ok ? request.result(body, this.#of.errorContext) : new ErrorReply(err))
    } catch (error) {
      // What the caller's own code throws is the caller's.
      if (!(error instanceof ProtocolError)) return this.#of.emit({ type: 'reject', request, error: error as Error })
      this.rejectUnread(request, 'InvalidResponse', error)
      throw error
    }
    if (request.watcher?.phase === 'set' && request.watcher.kind === 'exist' && err === ErrorCode.Ok) {
      request.watcher.kind = 'data'
    }
  }

  #heard(request: Request, answer: unknown): void {
    if (!(answer instanceof ErrorReply)) return this.#resolve(request, answer)
    const forgiven = request.forgiven(answer.code)
    if (forgiven === undefined) this.#refuse(request, answer)
    else this.#resolve(request, forgiven())
  }

  #resolve(request: Request, value: unknown): void {
    this.#of.watches.done(request)
    this.#of.watches.answered(request)
    this.#of.emit({ type: 'resolve', request, value })
  }

  #refuse(request: Request, { code, multi }: ErrorReply): void {
    if (request.opCode === OpCode.removeWatches && request.kind === 'connection') {
      return this.#of.emit({
        type: 'anomaly',
        what: `a watch on ${request.path} stays: its removal was refused with ${code}`,
      })
    }
    const known = errorName(code)
    if (setsWatches(request) && known === 'Unimplemented') {
      const details = { op: 'watch', needs: needsOf(OpCode.addWatch), ...this.#of.errorContext() }
      this.#of.watches.refused(new KeeperError(known, details))
    }
    // A read-only server cannot: it stays owed to the next.
    if (request.kind === 'connection' && code === ErrorCode.NotReadOnly) return undefined
    // Without its watches, or a sync it owes, a connection would keep less than is promised.
    if (request.kind === 'connection') throw new ProtocolError(`${request.op} was refused with code ${code}`)
    if (request.watcher !== undefined) this.giveUp(request.watcher)
    const name = known === undefined || known === 'Ok' ? 'Unknown' : known
    const needs = code === ErrorCode.Unimplemented ? needsOf(request.opCode) : undefined
    this.reject(request, name, { number: code, needs, ...multi })
  }

  /** Nobody waits for this reply; a watch that it set is taken off the server again. */
  #abandonedReply(request: Request, { err }: Reply): void {
    const { watcher } = request
    if (err === ErrorCode.Ok || request.forgiven(err) !== undefined) this.#of.watches.done(request)
    if (watcher === undefined) return
    const isSet = err === ErrorCode.Ok || (watcher.kind === 'exist' && err === ErrorCode.NoNode)
    this.giveUp(watcher, isSet || watcher.inherits)
  }

  /** A watcher that is not to be told: what the server keeps on its behalf goes when nobody else waits for it. */
  giveUp(watcher: Watcher, isSet?: boolean): void {
    const drop = this.#of.watches.giveUp(watcher, isSet)
    if (drop !== undefined) this.#of.queue.enqueue(drop)
  }

  /** Its answer came and cannot be read: a write may have happened, as if the answer had been lost. */
  rejectUnread(request: Request, code: KeeperErrorCode, cause: Error): void {
    const outcomeUnknown = request.kind === 'write'
    if (outcomeUnknown) this.#of.lostAnswer()
    this.reject(request, code, { outcomeUnknown, cause })
  }

  reject(request: Request, code: KeeperErrorCode, details: KeeperErrorDetails = {}): void {
    // A tombstone keeps its watcher until the reply tells whether the watch is set.
    if (request.phase.name !== 'abandoned') this.#of.watches.remove(request)
    this.#of.emit({ type: 'reject', request, error: this.error(request, code, details) })
  }

  error({ op, path }: Request, code: KeeperErrorCode, details: KeeperErrorDetails = {}): KeeperError {
    return new KeeperError(code, { op, path, ...this.#of.errorContext(), ...details })
  }
}
