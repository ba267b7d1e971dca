// What was asked of the servers and what they answered: requests, credentials, watches. It outlives connections and
// ends with the session.
import { ErrorCode, errorName, OpCode, ProtocolError } from '@zk/wire'
import { KeeperError, type KeeperErrorCode, type KeeperErrorDetails } from '../errors.ts'
import { needsOf } from '../needs.ts'
import { Auths, type Credential } from './auths.ts'
import type { Flow, FlowLimits } from './flow.ts'
import type { Incoming } from './incoming.ts'
import { Ledger } from './ledger.ts'
import type { Output } from './output.ts'
import { syncRequest } from './own-requests.ts'
import { Refusal, type Request, type Whereabouts } from './request.ts'
import type { EndReason } from './states.ts'
import type { Watcher } from './watches.ts'
import { Watching } from './watching.ts'

type Reply = Extract<Incoming, { type: 'reply' }>

export interface FlowControl {
  readonly limits: FlowLimits
  /** How long to leave a server alone that was too busy for a request for the n-th time. */
  readonly pause: (times: number) => number
}

export class Exchange {
  readonly #ledger: Ledger
  /** Who waits for what to happen at the nodes. */
  readonly watching: Watching
  readonly #auths: Auths
  readonly #emit: (output: Output) => void
  readonly #whereabouts: () => Whereabouts
  readonly #pause: FlowControl['pause']
  /** Frames that overtake the queue: credentials and pings. */
  #urgent: Uint8Array[] = []
  #lastZxid = 0n
  /** A write was left without an answer: the next server must catch up before it is read. */
  #syncOwed = false
  /** Set once no more requests are taken. */
  #refusing: KeeperErrorCode | undefined

  constructor(
    credentials: Credential[],
    { limits, pause }: FlowControl,
    emit: (output: Output) => void,
    whereabouts: () => Whereabouts,
  ) {
    this.#ledger = new Ledger(1, limits)
    this.#pause = pause
    this.#auths = new Auths(credentials)
    this.watching = new Watching(emit, () => this.#lastZxid)
    this.#emit = emit
    this.#whereabouts = whereabouts
  }

  /** The latest transaction the caller may have seen; a server behind it refuses the session. */
  get lastZxid(): bigint {
    return this.#lastZxid
  }

  /** When the oldest request without an answer was sent. */
  get oldestSentAt(): number | undefined {
    return this.#ledger.oldestSentAt
  }

  get flow(): Flow {
    return this.#ledger.flow
  }

  get awaitsAuth(): boolean {
    return this.#auths.awaitsAnswer
  }

  get nextTimeout(): number {
    return Math.min(this.#ledger.nextTimeout, this.#auths.nextTimeout)
  }

  // --- the caller's side ----------------------------------------------------------------------------------------

  submit(request: Request): void {
    if (this.#refusing !== undefined) return this.#reject(request, this.#refusing)
    // A removal is taken all the same: its watch would stay at the server.
    const isRefused = request.opCode !== OpCode.removeWatches && !this.#ledger.hasRoomFor(request)
    if (isRefused) return this.#reject(request, 'QueueFull')
    this.#ledger.enqueue(request)
    this.watching.add(request)
  }

  authenticate(credential: Credential, request: Request, connected: boolean): void {
    if (this.#refusing !== undefined) return this.#reject(request, this.#refusing)
    this.#auths.add(credential, request)
    if (connected) this.#urgent.push(...this.#auths.frames([credential]))
  }

  /** Takes one last request, and none after it. */
  finish(request: Request): void {
    this.#ledger.enqueue(request)
    this.#refusing = 'Closed'
  }

  /** The caller no longer waits. False when the request was settled already. */
  abandon(request: Request): boolean {
    if (this.#auths.takeCallers((caller) => caller === request).length > 0) return true
    const wasUnsent = request.phase.name === 'unsent'
    const abandoned = this.#ledger.abandon(request)
    if (!abandoned) return false
    if (wasUnsent && request.watcher !== undefined) this.#giveUp(request.watcher)
    this.watching.unsubscribe(request.persistent)
    return true
  }

  /** Settles the requests whose time is up, and lets go on what was held back until now. */
  settleOverdue(now: number): void {
    this.#ledger.resume(now)
    const callers = this.#auths.takeCallers(({ expiresAt }) => expiresAt <= now)
    for (const request of [...callers, ...this.#ledger.overdue(now)]) {
      const outcomeUnknown = request.kind === 'write' && request.phase.name === 'sent'
      this.abandon(request)
      const cause = request.timesThrottled > 0 ? this.#error(request, 'ThrottledOp') : undefined
      this.#reject(request, 'RequestTimeout', { outcomeUnknown, cause })
    }
  }

  // --- the connection's side ------------------------------------------------------------------------------------

  /** A connection stands: before what waits go credentials, watches, and a sync if one is owed. */
  connected(): void {
    this.#urgent = this.#auths.frames()
    const first = this.watching.connected()
    if (this.#syncOwed) first.push(syncRequest(() => (this.#syncOwed = false)))
    this.#ledger.prepend(first)
  }

  /** The connection is gone. */
  interrupted(cause: Error): void {
    const { tombstones, unknown, leftWrites } = this.#ledger.interrupted()
    if (leftWrites) this.#syncOwed = true
    for (const request of tombstones) this.watching.remove(request)
    this.watching.interrupted()
    this.#auths.interrupted()
    this.#urgent = []
    for (const request of unknown) this.#reject(request, 'ConnectionLoss', { outcomeUnknown: true, cause })
  }

  /** A frame that goes before everything that waits. */
  urgent(frame: Uint8Array): void {
    this.#urgent.push(frame)
  }

  /** The frames to send now, about `limit` bytes of them. */
  send(now: number, limit: number): Uint8Array[] {
    const frames = [...this.#urgent, ...this.#ledger.send(now, limit, (request) => this.watching.sending(request))]
    this.#urgent = []
    // Behind the end of the session nothing is asked for.
    if (this.#refusing === undefined) frames.push(...this.#ledger.sendNow(this.watching.due(), now))
    return frames
  }

  /** Takes in what a server said; returns the reason when that ends the session. */
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

  /** A reply so long that it cannot be taken in: repeating the request would repeat that. */
  refuseReply(cause: Error): void {
    const request = this.#ledger.oldest
    if (request?.phase.name !== 'sent') return
    this.#ledger.answered()
    this.#rejectUnread(request, 'ResponseTooLarge', cause)
  }

  /** The session is over: everything that waits is told. */
  end(code: KeeperErrorCode): void {
    this.#refusing = code
    for (const { request, wasSent } of this.#ledger.clear()) {
      this.#reject(request, code, { outcomeUnknown: wasSent && request.kind === 'write' })
    }
    for (const request of this.#auths.takeCallers(() => true)) this.#reject(request, code)
    this.watching.end()
  }

  // --- frames ---------------------------------------------------------------------------------------------------

  #authReply(err: number): EndReason | undefined {
    if (err !== ErrorCode.Ok) return 'AuthFailed'
    const request = this.#auths.answered()
    if (request !== undefined) this.#emit({ type: 'resolve', request, value: undefined })
    return undefined
  }

  #event({ event, path, zxid }: Extract<Incoming, { type: 'event' }>): undefined {
    if (event === undefined || event === 'None' || event === 'PersistentWatchRemoved') {
      this.#emit({ type: 'oddity', what: `event of type ${event ?? 'unknown'} for ${path}` })
      return undefined
    }
    this.watching.event(event, path, zxid)
    return undefined
  }

  #reply(reply: Reply, now: number): EndReason | undefined {
    if (reply.err === ErrorCode.Unimplemented && this.#overtaken(reply)) return undefined
    const request = this.#ledger.oldest
    const phase = request?.phase
    if (request === undefined || (phase?.name !== 'sent' && phase?.name !== 'abandoned') || phase.xid !== reply.xid) {
      throw new ProtocolError(`a reply with xid ${reply.xid}, which is not that of the oldest request`)
    }
    // The session lives on with another server; what this one was asked it may have passed on.
    if (reply.err === ErrorCode.SessionMoved) throw new ProtocolError('the session has moved to another server')
    // A caller is told himself. Of what is our own nobody would be: the session would try for ever.
    if (reply.err === ErrorCode.SessionClosedRequireSaslAuth && request.kind === 'connection') return 'AuthFailed'
    // Never from events, pings or auth replies: what they show may be delivered only in part. Nor from setWatches: the
    // events of its later chunks are still to come.
    if (reply.zxid > this.#lastZxid && !setsWatches(request)) this.#lastZxid = reply.zxid
    this.#ledger.answered()
    if (phase.name === 'abandoned') this.#abandonedReply(request, reply)
    else if (reply.err === ErrorCode.ThrottledOp) this.#throttled(request, reply, now)
    else this.#settle(request, reply)
    if (reply.err === ErrorCode.SessionExpired) return 'SessionExpired'
    const isClosed = request.opCode === OpCode.closeSession && request.phase.name !== 'unsent'
    return isClosed ? 'Closed' : undefined
  }

  /**
   * Not executed. Watches set again, or a sync that is owed, would now come behind what relies on them: those cost the
   * connection, as when they are refused for another reason. So does a change of watches with others behind it: what was set
   * meanwhile would be taken off, or missed. The next connection sets all of them anew.
   */
  #throttled(request: Request, reply: Reply, now: number): void {
    request.timesThrottled++
    this.#emit({ type: 'throttled', request })
    const { kind, opCode, repeatThrottled } = request
    const mustComeFirst = kind === 'connection' && opCode !== OpCode.removeWatches
    if (mustComeFirst || !repeatThrottled) return this.#settle(request, reply)
    this.#ledger.putOff(request, now + this.#pause(request.timesThrottled))
    const changesWatches = opCode === OpCode.removeWatches || opCode === OpCode.addWatch
    if (changesWatches && this.#ledger.hasSent(changesOrSetsWatches)) {
      throw new ProtocolError(`${request.op} was not executed, and watches were set behind it`)
    }
  }

  /** What a server does not know it refuses ahead of all that was asked before, and closes the connection then. */
  #overtaken(reply: Reply): boolean {
    const request = this.#ledger.takeOvertaking(reply.xid)
    if (request?.phase.name === 'sent') this.#settle(request, reply)
    else if (request !== undefined) this.#abandonedReply(request, reply)
    return request !== undefined
  }

  #settle(request: Request, { err, body }: Reply): void {
    request.phase = { name: 'settled' }
    try {
      this.#take(request, err === ErrorCode.Ok ? request.result(body, this.#whereabouts) : new Refusal(err))
    } catch (error) {
      // What the caller's own code throws is the caller's.
      if (!(error instanceof ProtocolError)) return this.#emit({ type: 'reject', request, error: error as Error })
      this.#rejectUnread(request, 'InvalidResponse', error)
      throw error
    }
    if (request.watcher?.phase === 'set' && request.watcher.kind === 'exist' && err === ErrorCode.Ok) {
      request.watcher.kind = 'data'
    }
  }

  #take(request: Request, answer: unknown): void {
    if (!(answer instanceof Refusal)) return this.#resolve(request, answer)
    const forgiven = forgivenResult(request, answer.code)
    if (forgiven === undefined) this.#refuse(request, answer)
    else this.#resolve(request, forgiven())
  }

  #resolve(request: Request, value: unknown): void {
    this.watching.answered(request)
    this.#emit({ type: 'resolve', request, value })
  }

  #refuse(request: Request, { code, multi }: Refusal): void {
    if (request.opCode === OpCode.removeWatches && request.kind === 'connection') {
      return this.#emit({
        type: 'oddity',
        what: `a watch on ${request.path} stays: its removal was refused with ${code}`,
      })
    }
    const known = errorName(code)
    if (setsWatches(request) && known === 'Unimplemented') {
      const details = { op: 'watch', needs: needsOf(OpCode.addWatch), ...this.#whereabouts() }
      this.watching.refused(new KeeperError(known, details))
    }
    // Without its watches, or a sync it owes, a connection would keep less than is promised.
    if (request.kind === 'connection') throw new ProtocolError(`${request.op} was refused with code ${code}`)
    if (request.watcher !== undefined) this.#giveUp(request.watcher)
    const name = known === undefined || known === 'Ok' ? 'Unknown' : known
    const needs = code === ErrorCode.Unimplemented ? needsOf(request.opCode) : undefined
    this.#reject(request, name, { number: code, needs, ...multi })
  }

  /** Nobody waits for this reply; a watch that it set is taken off the server again. */
  #abandonedReply({ watcher }: Request, { err }: Reply): void {
    if (watcher === undefined) return
    const isSet = err === ErrorCode.Ok || (watcher.kind === 'exist' && err === ErrorCode.NoNode)
    this.#giveUp(watcher, isSet || watcher.inherits)
  }

  /** A watcher that is not to be told: what the server keeps on its behalf goes when nobody else waits for it. */
  #giveUp(watcher: Watcher, isSet?: boolean): void {
    const drop = this.watching.giveUp(watcher, isSet)
    if (drop !== undefined) this.#ledger.enqueue(drop)
  }

  /** Its answer came and cannot be read: a write may have happened, as if the answer had been lost. */
  #rejectUnread(request: Request, code: KeeperErrorCode, cause: Error): void {
    const outcomeUnknown = request.kind === 'write'
    if (outcomeUnknown) this.#syncOwed = true
    this.#reject(request, code, { outcomeUnknown, cause })
  }

  #reject(request: Request, code: KeeperErrorCode, details: KeeperErrorDetails = {}): void {
    // A tombstone keeps its watcher until the reply tells whether the watch is set.
    if (request.phase.name !== 'abandoned') this.watching.remove(request)
    this.#emit({ type: 'reject', request, error: this.#error(request, code, details) })
  }

  #error({ op, path }: Request, code: KeeperErrorCode, details: KeeperErrorDetails = {}): KeeperError {
    return new KeeperError(code, { op, path, ...this.#whereabouts(), ...details })
  }
}

function setsWatches({ opCode }: Request): boolean {
  return opCode === OpCode.setWatches || opCode === OpCode.setWatches2
}

function changesOrSetsWatches({ watcher, opCode }: Request): boolean {
  return (
    watcher !== undefined || opCode === OpCode.addWatch || opCode === OpCode.setWatches || opCode === OpCode.setWatches2
  )
}

function forgivenResult(request: Request, code: number): (() => unknown) | undefined {
  const name = errorName(code)
  return name === undefined ? undefined : request.forgives[name]
}
