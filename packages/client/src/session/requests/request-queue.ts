// Every request between its call and its answer: waiting to be sent, or sent and waiting for a reply. Replies come in the
// order of the requests, so the sent ones are one queue. A request that a timeout or an abort settles early stays in it as a
// tombstone, because its reply still comes. A request that a busy server has put off (ThrottledOp) waits again, before all
// others.
import { SendQueue } from './send-queue.ts'
import { Fifo } from './fifo.ts'
import { type Flow, type FlowLimits, hasRoom, NO_LIMITS } from './flow.ts'
import type { Request } from './request.ts'
import type { Segment } from './segment.ts'
import { Window } from './window.ts'

/** Java's ClientCnxn counts up to here and starts again at 1. */
export const LAST_XID = 2 ** 31 - 2

/** Requests that wait may keep so much memory besides their own bytes, and as much again as these. */
const SHARED_MEMORY = 2 ** 20

export interface Interrupted {
  /** Requests that were already settled. Their replies will not come. They are out of the queue. */
  readonly tombstones: readonly Request[]
  /** Writes that may have happened. They are out of the queue. */
  readonly unknown: readonly Request[]
  /** Whether any write, settled before or now, has no answer. */
  readonly hasUnansweredWrites: boolean
}

export class RequestQueue {
  readonly #limits: FlowLimits
  readonly #unsent = new SendQueue()
  readonly #sent = new Fifo<Request>()
  #sentBytes = 0
  readonly #window: Window
  /** Requests that a busy server has put off, in call order. They go first when nothing is held back any more. */
  readonly #putOff = new SendQueue()
  /** Nothing is sent before this time; -Infinity when nothing is held back. */
  #heldUntil = -Infinity
  #lastXid: number
  /** How many requests were ever queued. */
  #count = 0
  /** Requests up to this order already have memory of their own, if they wait. */
  #copied = 0
  /** What `taken` was at that time. */
  #copiedAt = 0
  /** No request times out before this. It may be earlier than the next timeout, never later. */
  #nextTimeout = Infinity

  constructor(firstXid = 1, limits: FlowLimits = NO_LIMITS) {
    this.#lastXid = firstXid - 1
    this.#limits = limits
    this.#window = new Window(limits.maxInFlight)
  }

  /** The xid of the last request that was sent; before the first one, that of the request before it. */
  get lastXid(): number {
    return this.#lastXid
  }

  /** Whether requests to a busy server are held back. */
  get isHeld(): boolean {
    return this.#heldUntil > -Infinity
  }

  /** Before this time no request times out, and nothing that is held back is sent. */
  get nextTimeout(): number {
    return this.isHeld ? Math.min(this.#nextTimeout, this.#heldUntil) : this.#nextTimeout
  }

  get flow(): Flow {
    return {
      waiting: this.#unsent.count + this.#putOff.count,
      waitingBytes: this.#unsent.bytes + this.#putOff.bytes,
      inFlight: this.#sent.size,
      inFlightBytes: this.#sentBytes,
    }
  }

  /** Whether one more request may wait. */
  hasRoomFor({ frameSize }: Request): boolean {
    const unsent = this.#unsent
    const putOff = this.#putOff
    const { maxWaiting, maxWaitingBytes } = this.#limits
    return hasRoom(unsent.count + putOff.count, unsent.bytes + putOff.bytes, frameSize, maxWaiting, maxWaitingBytes)
  }

  /** When the oldest request without an answer was sent, tombstones included. */
  get oldestSentAt(): number | undefined {
    const phase = this.oldest?.phase
    return phase?.name === 'sent' || phase?.name === 'abandoned' ? phase.at : undefined
  }

  enqueue(request: Request): void {
    request.order = ++this.#count
    this.#unsent.add(request)
    this.#nextTimeout = Math.min(this.#nextTimeout, request.expiresAt)
  }

  /** Replaces a request that waits. False if it does not wait. */
  replace(request: Request, other: Request): boolean {
    other.order = request.order
    return this.#unsent.replace(request, other) || this.#putOff.replace(request, other)
  }

  /**
   * Bounds the memory of the requests that wait. `taken` is how much memory was ever taken for frames, in bytes. Shared memory
   * stays until the last of its requests is gone: a small request beside large ones that were aborted would keep 16 KiB. So
   * requests get memory of their own when more was taken while they wait than they may keep. While the queue moves on this is
   * rare.
   */
  copyWaiting(taken: number): void {
    const unsent = this.#unsent
    if (unsent.count > 0 && taken - this.#copiedAt <= unsent.bytes + SHARED_MEMORY) return
    for (let request = unsent.last; request !== undefined && request.order > this.#copied;) {
      request.copyFrame()
      request = request.previous
    }
    this.#copied = this.#count
    this.#copiedAt = taken
  }

  /** Puts requests before everything else that waits. */
  prepend(requests: readonly Request[]): void {
    this.#unsent.prepend(requests)
  }

  /** Releases what was held back until now. */
  resume(now: number): void {
    if (now < this.#heldUntil) return
    this.#heldUntil = -Infinity
    this.#unsent.prepend(this.#putOff.clear())
  }

  /**
   * Numbers the next requests, moves them to the sent ones and adds them to the segment, until `limit` bytes or the limits of
   * flow are reached, or none waits. The connection's own requests need no room. `sending` is called with each first, and
   * returns what must follow it immediately.
   */
  send(
    now: number,
    limit: number,
    segment: Segment,
    sending: (request: Request) => readonly Request[] = () => [],
  ): void {
    if (this.isHeld) this.resume(now)
    if (this.isHeld) return
    const end = segment.size + limit
    for (let { next } = this; next !== undefined && segment.size < end; { next } = this) {
      if (next.kind !== 'connection' && !this.#maySend(next)) break
      this.#unsent.delete(next)
      const behind = sending(next)
      this.#send(next, now, segment)
      this.sendNow(behind, now, segment)
    }
  }

  /** Numbers these requests and adds them to the sent ones, before all that wait. */
  sendNow(requests: readonly Request[], now: number, segment: Segment): void {
    for (const request of requests) this.#send(request, now, segment)
  }

  /** The first request that waits. */
  get next(): Request | undefined {
    return this.#unsent.first
  }

  /** The oldest sent request: the next reply must be its. */
  get oldest(): Request | undefined {
    return this.#sent.peek()
  }

  /** Whether there is such a request among all that wait to be sent, or for an answer. */
  has(isSuch: (request: Request) => boolean): boolean {
    return this.hasSent(isSuch) || [...this.#unsent, ...this.#putOff].some(isSuch)
  }

  /** Whether there is such a request among those without an answer. */
  hasSent(isSuch: (request: Request) => boolean): boolean {
    return [...this.#sent].some(isSuch)
  }

  /** Removes the oldest sent request: its reply has arrived. */
  answered(wasExecuted = true): void {
    this.#sentBytes -= this.#sent.shift()?.frameSize ?? 0
    if (wasExecuted) this.#window.done()
  }

  /**
   * The request that was just answered was not executed: it waits again, with all others, until this time. Requests that were
   * sent after it cannot be called back, but no other request overtakes it. If requests are already held back, their time
   * stays.
   */
  putOff(request: Request, until: number): void {
    request.unsend()
    this.#putOff.add(request)
    if (this.isHeld) return
    this.#heldUntil = until
    this.#window.tooBusy(this.#sent.size + 1)
  }

  /** Removes a sent request before its turn; undefined if there is no such request, or none before it. */
  takeOvertaking(xid: number): Request | undefined {
    const hasXid = ({ phase }: Request) => (phase.name === 'sent' || phase.name === 'abandoned') && phase.xid === xid
    const oldest = this.oldest
    const taken = oldest === undefined || hasXid(oldest) ? undefined : this.#sent.take(hasXid)
    this.#sentBytes -= taken?.frameSize ?? 0
    return taken
  }

  /**
   * Settles one request before its answer: an unsent one is removed from the queue, a sent one leaves a tombstone. False when
   * it was already settled.
   */
  abandon(request: Request): boolean {
    const { phase } = request
    if (phase.name === 'unsent') {
      if (!this.#unsent.delete(request)) this.#putOff.delete(request)
      request.settle()
      return true
    }
    if (phase.name !== 'sent') return false
    request.phase = { ...phase, name: 'abandoned' }
    return true
  }

  /** The requests that have timed out, in call order. They are still in the queue. */
  overdue(now: number): Request[] {
    if (now < this.#nextTimeout) return []
    const waiting = [...this.#sent, ...this.#putOff, ...this.#unsent].filter(({ phase }) => phase.name !== 'abandoned')
    const overdue = waiting.filter(({ expiresAt }) => expiresAt <= now)
    this.#nextTimeout = waiting.reduce(
      (next, { expiresAt }) => (expiresAt > now ? Math.min(next, expiresAt) : next),
      Infinity,
    )
    return overdue
  }

  /**
   * The connection is gone. Sent writes leave the queue with an unknown outcome. The other sent requests go back to the front
   * of the queue, in call order. Requests of the connection itself are dropped.
   */
  interrupted(): Interrupted {
    // Another server may have time for the requests that this one has put off.
    const putOff = this.#putOff.clear()
    this.#heldUntil = -Infinity
    this.#window.open()
    const sent = this.#dropSent()
    const alive = sent.filter(({ phase }) => phase.name === 'sent')
    const tombstones = sent.filter(({ phase }) => phase.name === 'abandoned')
    const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')
    const unknown = alive.filter(({ kind }) => kind === 'write')
    for (const request of sent) request.settle()
    for (const request of repeated) request.unsend()
    const waiting = [...putOff, ...repeated, ...this.#unsent.clear()].filter(({ kind }) => kind !== 'connection')
    this.#unsent.prepend(waiting.sort((one, other) => one.order - other.order))
    return { tombstones, unknown, hasUnansweredWrites: sent.some(({ kind }) => kind === 'write') }
  }

  /** Removes every unsettled request, sent ones first. `wasSent` says which were sent. */
  clear(): { request: Request; wasSent: boolean }[] {
    this.resume(Infinity)
    const sent = this.#dropSent().filter(({ phase }) => phase.name === 'sent')
    const all = [
      ...sent.map((request) => ({ request, wasSent: true })),
      ...this.#unsent.clear().map((request) => ({ request, wasSent: false })),
    ]
    this.#nextTimeout = Infinity
    for (const { request } of all) request.settle()
    return all
  }

  #send(request: Request, now: number, segment: Segment): void {
    this.#sent.push(request)
    this.#sentBytes += request.frameSize
    request.send(request.fixedXid ?? this.#takeXid(), now, segment)
  }

  #maySend({ frameSize }: Request): boolean {
    return hasRoom(this.#sent.size, this.#sentBytes, frameSize, this.#window.size, this.#limits.maxInFlightBytes)
  }

  #dropSent(): Request[] {
    this.#sentBytes = 0
    return this.#sent.drop()
  }

  #takeXid(): number {
    this.#lastXid = nextXid(this.#lastXid)
    return this.#lastXid
  }
}

export function nextXid(xid: number): number {
  return xid >= LAST_XID ? 1 : xid + 1
}
