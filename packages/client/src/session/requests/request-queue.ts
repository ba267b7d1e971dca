// All requests that have no reply yet: those that wait to be sent, and those that were sent. Replies come in the order of the
// requests, so the sent requests are one queue. A sent request that a timeout or an abort settles stays in that queue as a
// tombstone, because its reply still comes. A request that a busy server has put off (ThrottledOp) waits again, before all
// others.
import { SendQueue } from './send-queue.ts'
import { Fifo } from './fifo.ts'
import { type Flow, type FlowLimits, hasRoom, NO_LIMITS } from './flow.ts'
import type { Request } from './request.ts'
import { RequestSizes } from './request-sizes.ts'
import type { Segment } from './segment.ts'
import { Window } from './window.ts'

/** The last xid, after which Java's ClientCnxn starts again at 1. */
export const LAST_XID = 2 ** 31 - 2

/**
 * `copyWaiting` copies when the memory taken for frames exceeds the bytes of the waiting requests by more than this, in bytes.
 */
const SHARED_MEMORY = 2 ** 20

export interface Interrupted {
  /** Requests that were already settled. Their replies will not come. They were removed from the queue. */
  readonly tombstones: readonly Request[]
  /** Writes that the server may have executed. They were removed from the queue. */
  readonly unknown: readonly Request[]
  /** Whether any write was unanswered, tombstones included. */
  readonly hasUnansweredWrites: boolean
}

export class RequestQueue {
  readonly #limits: FlowLimits
  readonly #sizes: RequestSizes
  readonly #unsent = new SendQueue()
  readonly #sent = new Fifo<Request>()
  #sentBytes = 0
  readonly #window: Window
  /** Requests that a busy server has put off, in call order. They are sent first when the pause is over. */
  readonly #putOff = new SendQueue()
  /** The end of the pause in which no request is sent to a busy server; -Infinity if there is none. */
  #heldUntil = -Infinity
  #lastXid: number
  /** How many requests have ever been queued. */
  #count = 0
  /** Requests up to this order that still wait have memory of their own. */
  #copied = 0
  /** The value of `taken` at the last `copyWaiting` that copied requests. */
  #copiedAt = 0
  /** No request times out before this. It may be earlier than the next timeout, never later. */
  #nextTimeout = Infinity

  constructor(firstXid = 1, limits: FlowLimits = NO_LIMITS, sizes = new RequestSizes()) {
    this.#lastXid = firstXid - 1
    this.#limits = limits
    this.#sizes = sizes
    this.#window = new Window(limits.maxInFlight)
  }

  /** The xid of the last request that was sent; initially the xid before the first one. */
  get lastXid(): number {
    return this.#lastXid
  }

  /** Whether requests are held back because the server is busy. */
  get isHeld(): boolean {
    return this.#heldUntil > -Infinity
  }

  /** No request times out before this time, and no pause for a busy server ends. */
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

  /** Whether this request may wait, too. */
  hasRoomFor({ frameSize }: Request): boolean {
    const unsent = this.#unsent
    const putOff = this.#putOff
    const { maxWaiting, maxWaitingBytes } = this.#limits
    return hasRoom(unsent.count + putOff.count, unsent.bytes + putOff.bytes, frameSize, maxWaiting, maxWaitingBytes)
  }

  /** When the oldest request without an answer was sent, tombstones included. */
  get oldestSentAt(): number | undefined {
    return this.oldest?.sentAt
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
   * Bounds the memory of the requests that wait. `taken` is how much memory was ever taken for frames, in bytes. Requests share
   * memory, which stays until the last of them is gone: a small request beside large ones that were aborted would keep 16 KiB.
   * So when too much memory was taken while requests wait, they are copied into memory of their own. This is rare while
   * requests are sent.
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

  /** If the pause for a busy server is over, the requests that were put off are sent next. */
  resume(now: number): void {
    if (!this.isHeld || now < this.#heldUntil) return
    this.#heldUntil = -Infinity
    this.#unsent.prepend(this.#putOff.clear())
  }

  /**
   * Gives the next requests their xids, moves them to the sent ones, and adds their frames to the segment. This ends when the
   * segment has `limit` more bytes, when `maxInFlight` or `maxInFlightBytes` is reached (not counted for requests of the
   * connection itself), when a request must be alone (`RequestSizes`), or when none waits. `sending` is called before each, and
   * returns requests that must follow immediately.
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
      if (next.kind !== 'connection' && !this.#maySend(next, now)) break
      this.#unsent.delete(next)
      const following = sending(next)
      this.#send(next, now, segment)
      this.sendNow(following, now, segment)
    }
  }

  /** Sends these requests now, before all waiting requests. */
  sendNow(requests: readonly Request[], now: number, segment: Segment): void {
    for (const request of requests) this.#send(request, now, segment)
  }

  /** The first request that waits. */
  get next(): Request | undefined {
    return this.#unsent.first
  }

  /** The oldest sent request, to which the next reply belongs. */
  get oldest(): Request | undefined {
    return this.#sent.peek()
  }

  /** The sent requests, oldest first. */
  get sent(): readonly Request[] {
    return [...this.#sent]
  }

  /** The requests that wait to be sent. */
  get waiting(): readonly Request[] {
    return [...this.#putOff, ...this.#unsent]
  }

  /** Whether any request, sent or not, fulfils the condition. */
  has(isSuch: (request: Request) => boolean): boolean {
    return this.hasSent(isSuch) || this.waiting.some(isSuch)
  }

  /** Whether any sent request fulfils the condition. */
  hasSent(isSuch: (request: Request) => boolean): boolean {
    return [...this.#sent].some(isSuch)
  }

  /** Removes the oldest sent request: its reply has arrived. */
  answered(wasExecuted = true): void {
    const request = this.#sent.shift()
    if (request !== undefined) {
      this.#sentBytes -= request.frameSize
      this.#sizes.answered(request.size)
    }
    if (wasExecuted) this.#window.executed()
  }

  /**
   * Puts off the request that was just answered and was not executed. It and all requests that wait are held back until this
   * time. Requests that were already sent after it may be executed before it, but no others. If requests are already held
   * back, the end of that pause stays.
   */
  putOff(request: Request, until: number): void {
    request.unsend()
    this.#putOff.add(request)
    if (this.isHeld) return
    this.#heldUntil = until
    this.#window.tooBusy(this.#sent.size + 1)
  }

  /** Removes and returns the sent request with this xid if it is not the oldest; undefined otherwise. */
  takeOvertaking(xid: number): Request | undefined {
    const hasXid = (request: Request) => request.xid === xid
    const oldest = this.oldest
    const taken = oldest === undefined || hasXid(oldest) ? undefined : this.#sent.take(hasXid)
    this.#sentBytes -= taken?.frameSize ?? 0
    return taken
  }

  /**
   * Settles a request before its answer comes. An unsent request is removed from the queue, a sent one stays as a tombstone.
   * False if it was already settled.
   */
  abandon(request: Request): boolean {
    if (request.phase === 'unsent') {
      if (!this.#unsent.delete(request)) this.#putOff.delete(request)
      request.settle()
      return true
    }
    if (request.phase !== 'sent') return false
    request.phase = 'abandoned'
    return true
  }

  /** The requests that have timed out, in call order. They are still in the queue. */
  overdue(now: number): Request[] {
    if (now < this.#nextTimeout) return []
    const waiting = [...this.#sent, ...this.#putOff, ...this.#unsent].filter(({ phase }) => phase !== 'abandoned')
    const overdue = waiting.filter(({ expiresAt }) => expiresAt <= now)
    this.#nextTimeout = waiting.reduce(
      (next, { expiresAt }) => (expiresAt > now ? Math.min(next, expiresAt) : next),
      Infinity,
    )
    return overdue
  }

  /**
   * The connection is gone. Reads, and requests that are `neither`, will be sent again, in call order with those that wait. Writes
   * are removed from the queue, with an unknown outcome. Tombstones and requests of the connection itself are removed, too.
   */
  interrupted(): Interrupted {
    // The next server may not be busy, so the requests that were put off need not wait.
    const putOff = this.#putOff.clear()
    this.#heldUntil = -Infinity
    this.#window.open()
    const sent = this.#dropSent()
    const alive = sent.filter(({ phase }) => phase === 'sent')
    const tombstones = sent.filter(({ phase }) => phase === 'abandoned')
    const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')
    const unknown = alive.filter(({ kind }) => kind === 'write')
    for (const request of sent) request.settle()
    for (const request of repeated) request.unsend()
    const waiting = [...putOff, ...repeated, ...this.#unsent.clear()].filter(({ kind }) => kind !== 'connection')
    this.#unsent.prepend(waiting.sort((one, other) => one.order - other.order))
    return { tombstones, unknown, hasUnansweredWrites: sent.some(({ kind }) => kind === 'write') }
  }

  /** Removes, settles and returns all requests that are not settled, sent ones first. */
  clear(): { request: Request; wasSent: boolean }[] {
    this.resume(Infinity)
    const sent = this.#dropSent().filter(({ phase }) => phase === 'sent')
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

  #maySend({ size, frameSize }: Request, now: number): boolean {
    const { oldest } = this
    const sizes = this.#sizes
    if (oldest !== undefined && (sizes.mustBeAlone(size, now) || sizes.mustBeAlone(oldest.size, now))) return false
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
