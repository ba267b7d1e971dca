// The requests, credentials and watches of a session, and the replies to them. They outlive connections and end with the session.
import { ErrorCode, errorName, OpCode, ProtocolError } from '@zk/wire'
import { KeeperError, type KeeperErrorCode, type KeeperErrorDetails } from '../../base/errors.ts'
import { ErrorReply } from '../../operations/error-reply.ts'
import { needsOfAnswer, needsOfLater, needsOfSize } from '../../operations/needs.ts'
import type { ErrorContext } from '../../operations/operation.ts'
import { Credentials } from './credentials.ts'
import type { SessionConfig } from '../protocol/config.ts'
import type { Flow } from './flow.ts'
import type { Incoming } from '../protocol/incoming.ts'
import { LAST_XID, RequestQueue, nextXid } from './request-queue.ts'
import type { Output } from '../protocol/output.ts'
import { removalRequest, syncRequest } from './internal-requests.ts'
import { explainRefusal, RequestSizes, type ServerClose } from './request-sizes.ts'
import type { Removal, Request } from './request.ts'
import type { Segment } from './segment.ts'
import type { EndReason } from '../protocol/states.ts'
import type { OneShotWatcher } from '../watches/watchers.ts'
import { WatchManager } from '../watches/watch-manager.ts'
import { changesWatches, reliesOn, setsWatches } from '../watches/watch-requests.ts'

type Reply = Extract<Incoming, { type: 'reply' }>

/** What the pipeline needs from the session. */
interface PipelineContext {
  /** The pause after a server was too busy for the same request for the n-th time, in ms. */
  readonly pause: (times: number) => number
  readonly emit: (output: Output) => void
  /** The code with which new requests are rejected; undefined while they are accepted. */
  readonly refusal: () => KeeperErrorCode | undefined
  readonly errorContext: () => ErrorContext
}

export class RequestPipeline {
  readonly #queue: RequestQueue
  readonly #sizes = new RequestSizes()
  /** The watches of the session. */
  readonly watches: WatchManager
  readonly #credentials: Credentials
  readonly #context: PipelineContext
  /** Frames that are sent before the queue: pings. */
  #urgent: Uint8Array[] = []
  #lastZxid: bigint
  readonly #sending = (request: Request) => this.watches.sending(request)
  /** The opcodes that a server has answered, so it knows them. */
  readonly #answeredOps = new Set<number>()
  /** Whether a write had no reply, or an unreadable one. Then a sync is sent before reads on the next connection. */
  #isSyncPending = false
  /** The request whose answer ends the session. */
  #finalRequest: Request | undefined

  constructor(
    { credentials, limits, resume, seed }: Pick<SessionConfig, 'credentials' | 'limits' | 'resume' | 'seed'>,
    context: PipelineContext,
  ) {
    this.#queue = new RequestQueue(firstXid(resume, seed), limits, this.#sizes)
    this.#context = context
    this.#lastZxid = resume?.lastZxid ?? 0n
    this.#credentials = new Credentials(credentials)
    this.watches = new WatchManager({
      emit: context.emit,
      lastZxid: () => this.#lastZxid,
      batchSize: () => Math.min(limits.maxRequestSize, this.#sizes.batchSize),
      // After `close` no more removals are sent, and servers delete the ephemeral nodes, which may cause events.
      isUnsettled: (path) =>
        context.refusal() !== undefined ||
        this.#queue.has(({ effect }) => effect.type === 'remove' && effect.path === path) ||
        this.#queue.hasSent(setsWatches),
    })
  }

  /** The zxid of the latest transaction that the caller may have seen. A server that has not applied it refuses the session. */
  get lastZxid(): bigint {
    return this.#lastZxid
  }

  /** The xid of the last request that was sent. */
  get lastXid(): number {
    return this.#queue.lastXid
  }

  /** When the oldest request without an answer was sent. */
  get oldestSentAt(): number | undefined {
    return this.#queue.oldestSentAt
  }

  get flow(): Flow {
    return this.#queue.flow
  }

  get nextTimeout(): number {
    return Math.min(this.#queue.nextTimeout, this.#credentials.nextTimeout)
  }

  // --- calls of the caller --------------------------------------------------------------------------------------

  submit(request: Request): void {
    const refusal = this.#context.refusal()
    if (refusal !== undefined) return this.#refuseAtOnce(request, refusal)
    const { effect, size, calledAt = Infinity } = request
    if (effect.type === 'addAuth') return this.#credentials.add(effect.credential, request)
    const needs = this.#refusalOf(size, calledAt)
    if (needs !== undefined) return this.#refuseAtOnce(request, 'RequestTooLarge', { needs })
    // A removal of watches is always accepted: otherwise the watches would stay on the server.
    const mayWait = request.isOwn || effect.type === 'remove' || this.#queue.hasRoomFor(request)
    if (!mayWait) return this.#refuseAtOnce(request, 'QueueFull')
    this.#queue.enqueue(request)
    this.watches.add(request)
  }

  /** Accepts one last request, and none after it. */
  finish(request: Request): void {
    this.#finalRequest = request
    this.#queue.enqueue(request)
  }

  /** The caller no longer waits. False if the request was already settled. */
  abandon(request: Request): boolean {
    if (this.#credentials.takeCallers((caller) => caller === request).length > 0) return true
    const { effect } = request
    const wasUnsent = request.phase === 'unsent'
    if (wasUnsent && effect.type === 'remove') this.#removeWithoutCaller(request, effect)
    const abandoned = this.#queue.abandon(request)
    if (!abandoned) return false
    if (wasUnsent && effect.type === 'watch') this.#giveUp(effect.watcher)
    if (effect.type === 'addWatch') this.watches.unsubscribe(effect.watcher)
    return true
  }

  /**
   * Removes the watches without the caller, because their watchers were already notified. The new request takes the place of
   * the caller's request, since it must not remove the watches of later requests.
   */
  #removeWithoutCaller(request: Request, { path, watches }: Removal): void {
    const own = removalRequest(path, watches)
    if (!this.#queue.replace(request, own)) this.#queue.enqueue(own)
  }

  /** Rejects the requests that have timed out, and releases those that were held back until now. */
  settleOverdue(now: number): void {
    this.#queue.resume(now)
    const callers = this.#credentials.takeCallers(({ expiresAt }) => expiresAt <= now)
    for (const request of [...callers, ...this.#queue.overdue(now)]) {
      const outcomeUnknown = request.kind === 'write' && request.phase === 'sent'
      this.abandon(request)
      const cause = request.timesThrottled > 0 ? this.#error(request, 'ThrottledOp') : undefined
      this.#reject(request, 'RequestTimeout', { outcomeUnknown, cause })
    }
  }

  // --- events of the connection ---------------------------------------------------------------------------------

  /** A connection is established: credentials, watches and a pending sync go before the queue. */
  connected(now: number): void {
    const first = this.watches.connected()
    // The answer to a sync also shows that the connection works, before a request that may be too large is sent.
    if (this.#sizes.isSuspicious(now)) this.#isSyncPending = true
    if (this.#isSyncPending) first.push(syncRequest(() => (this.#isSyncPending = false)))
    this.#queue.prepend(first)
  }

  /** The connection is gone. `closed` is given if a server has closed it. */
  interrupted(cause: Error, closed?: ServerClose): void {
    const tooLarge = closed && this.#sizes.closed(this.#queue.sent, closed)
    const { tombstones, unknown, hasUnansweredWrites } = this.#queue.interrupted()
    if (hasUnansweredWrites) this.#isSyncPending = true
    for (const request of tombstones) this.watches.remove(request)
    this.watches.interrupted()
    this.#credentials.interrupted()
    this.#urgent = []
    for (const request of unknown) {
      const code = request === tooLarge ? 'RequestTooLarge' : 'ConnectionLoss'
      const needs = closed && this.#suspicion(request)
      this.#reject(request, code, { outcomeUnknown: true, needs, cause })
    }
    this.#sizes.interrupted()
    if (tooLarge !== undefined) this.#refuseWaiting(closed!.at, cause)
  }

  /** Rejects waiting requests that are too large: each would cost another connection. */
  #refuseWaiting(now: number, cause: Error): void {
    for (const request of this.#queue.waiting) {
      const needs = this.#refusalOf(request.size, now)
      if (needs === undefined) continue
      this.abandon(request)
      this.#reject(request, 'RequestTooLarge', { needs, cause })
    }
  }

  /** Why a request of this size is not sent now; undefined if it is. */
  #refusalOf(size: number, now: number): string | undefined {
    const refusal = this.#sizes.refusal(size, now)
    return refusal && explainRefusal(size, refusal, now)
  }

  /** What a server may lack if it closes the connection after this request; undefined if it has answered such requests. */
  #suspicion({ size, opCode }: Request): string | undefined {
    if (this.#sizes.mayBeTooLarge(size)) return needsOfSize(size)
    return this.#answeredOps.has(opCode) ? undefined : needsOfLater(opCode)
  }

  /** Takes frames to send before all requests that wait. */
  urgent(frames: readonly Uint8Array[]): void {
    this.#urgent.push(...frames)
  }

  /** Adds the credentials that have not been sent on this connection yet. They are sent first, and do not touch the session. */
  sendCredentials(segment: Segment): void {
    for (const frame of this.#credentials.frames()) segment.add(frame)
  }

  sendUrgent(segment: Segment): void {
    if (this.#urgent.length === 0) return
    for (const frame of this.#urgent) segment.add(frame)
    this.#urgent = []
  }

  /** Adds the frames to send now, about `limit` bytes. Credentials must be added before. */
  send(now: number, limit: number, segment: Segment): void {
    this.sendUrgent(segment)
    this.#queue.send(now, limit, segment, this.#sending)
    // No change to watches is sent after `close`, or while requests to a busy server are held back.
    if (this.#context.refusal() !== undefined || this.#queue.isHeld) return
    // These changes wait while a setWatches is still queued.
    const { next } = this.#queue
    if (next !== undefined && setsWatches(next)) return
    this.#queue.sendNow(this.watches.due(), now, segment)
  }

  /** See `RequestQueue.copyWaiting`. */
  copyWaiting(taken: number): void {
    this.#queue.copyWaiting(taken)
  }

  /** Takes a message from the server. If the message ends the session, returns the reason. */
  incoming(incoming: Exclude<Incoming, { type: 'ping' }>, now: number): EndReason | undefined {
    switch (incoming.type) {
      case 'auth':
        return this.#authReply(incoming.err)
      case 'event':
        return this.#event(incoming)
      case 'reply':
        return this.#reply(incoming, now)
    }
  }

  /** The session is over. Rejects all requests, and ends all watches. */
  end(code: KeeperErrorCode): void {
    for (const { request, wasSent } of this.#queue.clear()) {
      this.#reject(request, code, { outcomeUnknown: wasSent && request.kind === 'write' })
    }
    for (const request of this.#credentials.takeCallers(() => true)) this.#reject(request, code)
    this.watches.end()
  }

  // --- frames ---------------------------------------------------------------------------------------------------

  #authReply(err: number): EndReason | undefined {
    if (err !== ErrorCode.Ok) return 'AuthFailed'
    const request = this.#credentials.answered()
    if (request !== undefined) this.#context.emit({ type: 'resolve', request, value: undefined })
    return undefined
  }

  #event({ event, path, zxid }: Extract<Incoming, { type: 'event' }>): undefined {
    if (event === undefined || event === 'None' || event === 'PersistentWatchRemoved') {
      this.#context.emit({ type: 'anomaly', what: `event of type ${event ?? 'unknown'} for ${path}` })
      return undefined
    }
    this.watches.event(event, path, zxid)
    return undefined
  }

  #reply(reply: Reply, now: number): EndReason | undefined {
    if (reply.err === ErrorCode.Unimplemented && this.#overtaken(reply)) return undefined
    const request = this.#queue.oldest
    if (request === undefined || request.xid !== reply.xid) {
      // If the frame is too large as well, it is not a reply at all.
      throw (
        reply.tooLarge ?? new ProtocolError(`a reply with xid ${reply.xid}, which is not that of the oldest request`)
      )
    }
    // The session lives on at another server. The outcome of the request is unknown: this server may have forwarded it.
    if (reply.err === ErrorCode.SessionMoved) throw new ProtocolError('the session has moved to another server')
    // A caller would get this error. An internal request has no caller, and the session would repeat it forever.
    if (reply.err === ErrorCode.SessionClosedRequireSaslAuth && request.kind === 'connection') return 'AuthFailed'
    // The zxids of events, pings and auth replies do not count: not all events up to them may have come. The zxid of a
    // setWatches does not count either: the events for its later chunks are still to come.
    if (reply.zxid > this.#lastZxid && !setsWatches(request)) this.#lastZxid = reply.zxid
    if (reply.err !== ErrorCode.Unimplemented) this.#answeredOps.add(request.opCode)
    this.#queue.answered(reply.err !== ErrorCode.ThrottledOp)
    if (reply.err === ErrorCode.ThrottledOp) this.#throttled(request, reply, now)
    else this.#take(request, reply)
    if (reply.err === ErrorCode.SessionExpired) return 'SessionExpired'
    if (reply.err !== ErrorCode.Ok && request.answerFor(reply.err) === undefined) this.#notExecuted(request)
    return request === this.#finalRequest && request.phase !== 'unsent' ? 'Closed' : undefined
  }

  /**
   * The server was too busy to execute the request. Usually the request is repeated after a pause. But a setWatches or a
   * pending sync would then come after the requests that rely on it. So the connection is closed, as if it had been refused.
   */
  #throttled(request: Request, reply: Reply, now: number): void {
    const { kind, effect, phase } = request
    const hasCaller = phase === 'sent'
    request.timesThrottled++
    if (hasCaller) this.#context.emit({ type: 'throttled', request })
    const mustComeFirst = kind === 'connection' && effect.type !== 'remove'
    const isRepeated = hasCaller && !mustComeFirst && request.repeatThrottled
    if (!isRepeated) this.#take(request, reply)
    // A removal is always repeated: its watchers were already notified, even if no caller waits.
    const removal = effect.type === 'remove' ? removalRequest(effect.path, effect.watches) : undefined
    const again = isRepeated ? request : removal
    if (again !== undefined) this.#queue.putOff(again, now + this.#context.pause(request.timesThrottled))
  }

  /**
   * A request failed. If it changes watches, and requests that rely on the change were already sent, the connection is closed:
   * watches that were set meanwhile would be removed, or missing. All watches are set again on the next connection.
   */
  #notExecuted(request: Request): void {
    if (changesWatches(request) && this.#queue.hasSent((each) => reliesOn(each, request))) {
      throw new ProtocolError(`${request.op} was not executed, and watches were set after it`)
    }
    this.watches.notExecuted(request)
  }

  /**
   * Takes the reply to an unknown operation before its turn, and returns whether it did. A server refuses such an operation
   * before it answers earlier requests, and then closes the connection.
   */
  #overtaken(reply: Reply): boolean {
    const request = this.#queue.takeOvertaking(reply.xid)
    if (request !== undefined) this.#take(request, reply)
    return request !== undefined
  }

  // --- replies --------------------------------------------------------------------------------------------------

  #take(request: Request, reply: Reply): void {
    if (request.phase === 'abandoned') this.#abandonedReply(request, reply)
    else this.#settle(request, reply)
  }

  #settle(request: Request, { err, body, tooLarge }: Reply): void {
    request.settle()
    if (tooLarge !== undefined && err === ErrorCode.Ok) return this.#refuseReply(request, tooLarge)
    try {
      this.#settled(
        request,
        err === ErrorCode.Ok ? request.result(body, this.#context.errorContext) : new ErrorReply(err),
      )
    } catch (error) {
      // An error that is not a `ProtocolError` comes from the caller's code, so the caller gets it.
      if (!(error instanceof ProtocolError))
        return this.#context.emit({ type: 'reject', request, error: error as Error })
      this.#rejectUnread(request, 'InvalidResponse', error)
      throw error
    }
    const { effect } = request
    if (effect.type === 'watch' && err === ErrorCode.Ok) {
      const { watcher } = effect
      if (watcher.phase === 'set' && watcher.kind === 'exist') watcher.kind = 'data'
    }
  }

  /** The reply is too large. The request is rejected: if it were repeated, its reply would be the same. */
  #refuseReply(request: Request, cause: ProtocolError): void {
    // The server has set the watch of a read, and no watcher is left for it.
    if (request.effect.type === 'watch') this.#giveUp(request.effect.watcher, true)
    this.#rejectUnread(request, 'ResponseTooLarge', cause)
    // The replies to these requests are short, so a long one is a protocol error.
    if (request.kind === 'connection' || changesWatches(request)) throw cause
  }

  #settled(request: Request, answer: unknown): void {
    if (!(answer instanceof ErrorReply)) return this.#resolve(request, answer)
    const makeResult = request.answerFor(answer.code)
    if (makeResult === undefined) this.#refuse(request, answer)
    else this.#resolve(request, makeResult())
  }

  #resolve(request: Request, value: unknown): void {
    this.watches.executed(request)
    this.watches.answered(request)
    this.#context.emit({ type: 'resolve', request, value })
  }

  #refuse(request: Request, { code, multi }: ErrorReply): void {
    if (request.effect.type === 'remove' && request.kind === 'connection') {
      return this.#context.emit({
        type: 'anomaly',
        what: `a watch on ${request.path} stays: its removal was refused with ${code}`,
      })
    }
    const known = errorName(code)
    if (setsWatches(request) && (known === 'Unimplemented' || known === 'MarshallingError')) {
      const details = { op: 'watch', needs: needsOfAnswer(OpCode.addWatch, code), ...this.#context.errorContext() }
      this.watches.refused(known, details)
    }
    // A read-only server cannot sync. The sync stays pending for the next server.
    if (request.kind === 'connection' && code === ErrorCode.NotReadOnly) return undefined
    // Without its watches or its sync, a connection would miss events or read old data.
    if (request.kind === 'connection') throw new ProtocolError(`${request.op} was refused with code ${code}`)
    if (request.effect.type === 'watch') this.#giveUp(request.effect.watcher)
    const name = known === undefined || known === 'Ok' ? 'Unknown' : known
    const needs = needsOfAnswer(request.opCode, code)
    this.#reject(request, name, { number: code, needs, ...multi })
  }

  /** Takes a reply for which no caller waits. If the request has set a watch, the watch is removed from the server. */
  #abandonedReply(request: Request, { err }: Reply): void {
    const { effect } = request
    if (err === ErrorCode.Ok || request.answerFor(err) !== undefined) this.watches.executed(request)
    if (effect.type !== 'watch') return
    const { watcher } = effect
    const isAtServer = err === ErrorCode.Ok || (watcher.kind === 'exist' && err === ErrorCode.NoNode)
    this.#giveUp(watcher, isAtServer || watcher.sharesWatch)
  }

  /** Drops a watcher without notifying it. Removes its watch from the server, unless another watcher needs the watch. */
  #giveUp(watcher: OneShotWatcher, isAtServer?: boolean): void {
    const drop = this.watches.giveUp(watcher, isAtServer)
    if (drop !== undefined) this.#queue.enqueue(drop)
  }

  /** Rejects a request whose reply cannot be read. A write may have been executed, as if the reply had been lost. */
  #rejectUnread(request: Request, code: KeeperErrorCode, cause: Error): void {
    const outcomeUnknown = request.kind === 'write'
    if (outcomeUnknown) this.#isSyncPending = true
    this.#reject(request, code, { outcomeUnknown, cause })
  }

  #reject(request: Request, code: KeeperErrorCode, details: KeeperErrorDetails = {}): void {
    // The watcher of an abandoned request stays until the reply shows whether the watch is set.
    if (request.phase !== 'abandoned') this.watches.remove(request)
    this.#context.emit({ type: 'reject', request, error: this.#error(request, code, details) })
  }

  /** It is never queued. It is settled, so an abort does not reject it a second time. */
  #refuseAtOnce(request: Request, code: KeeperErrorCode, details?: KeeperErrorDetails): void {
    request.settle()
    this.#reject(request, code, details)
  }

  #error(
    { op, path, chroot: { shown: chroot }, size }: Request,
    code: KeeperErrorCode,
    details: KeeperErrorDetails = {},
  ): KeeperError {
    const needs = code === 'RequestTooLarge' ? needsOfSize(size) : undefined
    return new KeeperError(code, { op, path, chroot, needs, ...this.#context.errorContext(), ...details })
  }
}

/** The first xid: 1 for a new session. A resumed session may still have writes under way whose xids must not be used again. */
function firstXid(resume: SessionConfig['resume'], seed: number): number {
  if (resume === undefined) return 1
  const { lastXid = 0 } = resume
  return nextXid(lastXid > 0 ? lastXid : seed % LAST_XID)
}
