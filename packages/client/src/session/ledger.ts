// Every request between its call and its answer: waiting to be sent, or sent and waiting for a reply. Replies come in
// the order of the requests, so the sent ones are one queue; what a timeout or an abort settles early stays in it as a
// tombstone, because its reply still comes.
import { Fifo } from './fifo.ts'
import type { Request } from './request.ts'

/** Java's ClientCnxn counts up to here and starts again at 1. */
const LAST_XID = 2 ** 31 - 2

export interface Interrupted {
  /** Settled before; their replies will not come. They are out of the ledger. */
  readonly tombstones: readonly Request[]
  /** Writes that may have happened; they are out of the ledger. */
  readonly unknown: readonly Request[]
  /** Whether any write, settled before or now, was left without an answer. */
  readonly leftWrites: boolean
}

export class Ledger {
  #unsent = new Set<Request>()
  readonly #sent = new Fifo<Request>()
  #nextXid: number
  /** No request's time is up before this; it may be earlier than the truth, never later. */
  #nextTimeout = Infinity

  constructor(firstXid = 1) {
    this.#nextXid = firstXid
  }

  get nextTimeout(): number {
    return this.#nextTimeout
  }

  /** When the oldest request without an answer was sent, tombstones included. */
  get oldestSentAt(): number | undefined {
    const phase = this.#sent.peek()?.phase
    return phase?.name === 'sent' || phase?.name === 'abandoned' ? phase.at : undefined
  }

  enqueue(request: Request): void {
    this.#unsent.add(request)
    this.#nextTimeout = Math.min(this.#nextTimeout, request.expiresAt)
  }

  /** Puts requests before everything else that waits. */
  prepend(requests: readonly Request[]): void {
    this.#unsent = new Set([...requests, ...this.#unsent])
  }

  /**
   * Numbers the next requests and moves them to the sent ones, until `limit` bytes are reached or none waits. Each is
   * first handed to `sending`, which says what must go right behind it.
   */
  send(now: number, limit: number, sending: (request: Request) => Request[] = () => []): Uint8Array[] {
    const frames: Uint8Array[] = []
    let size = 0
    for (const request of this.#unsent) {
      if (size >= limit) break
      this.#unsent.delete(request)
      const behind = sending(request)
      const bytes = this.sendNow([request, ...behind], now)
      size += bytes.reduce((sum, { byteLength }) => sum + byteLength, 0)
      frames.push(...bytes)
    }
    return frames
  }

  /** Numbers these requests and puts them to the sent ones, ahead of all that waits. */
  sendNow(requests: readonly Request[], now: number): Uint8Array[] {
    return requests.map((request) => {
      const xid = request.fixedXid ?? this.#takeXid()
      this.#sent.push(request)
      request.phase = { name: 'sent', xid, at: now }
      return request.bytes(xid)
    })
  }

  /** The oldest sent request: the one the next reply must be about. */
  get oldest(): Request | undefined {
    return this.#sent.peek()
  }

  /** Takes the oldest sent request out: its reply is here. */
  answered(): void {
    this.#sent.shift()
  }

  /** Takes a sent request out ahead of others before it; undefined where there is no such request, or none before it. */
  takeOvertaking(xid: number): Request | undefined {
    const hasXid = ({ phase }: Request) => (phase.name === 'sent' || phase.name === 'abandoned') && phase.xid === xid
    const oldest = this.oldest
    return oldest === undefined || hasXid(oldest) ? undefined : this.#sent.take(hasXid)
  }

  /**
   * Settles one request before its answer: an unsent one is taken from the queue, a sent one leaves a tombstone. False
   * when it was settled already.
   */
  abandon(request: Request): boolean {
    const { phase } = request
    if (phase.name === 'unsent') {
      this.#unsent.delete(request)
      request.phase = { name: 'settled' }
      return true
    }
    if (phase.name !== 'sent') return false
    request.phase = { ...phase, name: 'abandoned' }
    return true
  }

  /** The requests whose time is up, in call order. They are still in the ledger. */
  overdue(now: number): Request[] {
    if (now < this.#nextTimeout) return []
    const waiting = [...this.#sent, ...this.#unsent].filter(({ phase }) => phase.name !== 'abandoned')
    const overdue = waiting.filter(({ expiresAt }) => expiresAt <= now)
    this.#nextTimeout = waiting.reduce(
      (next, { expiresAt }) => (expiresAt > now ? Math.min(next, expiresAt) : next),
      Infinity,
    )
    return overdue
  }

  /**
   * The connection is gone. Sent writes leave with an unknown outcome; the rest of what was sent goes back to the front
   * of the queue, in call order; what was the connection's own is forgotten.
   */
  interrupted(): Interrupted {
    const sent = this.#sent.drop()
    const alive = sent.filter(({ phase }) => phase.name === 'sent')
    const tombstones = sent.filter(({ phase }) => phase.name === 'abandoned')
    const repeated = alive.filter(({ kind }) => kind === 'read' || kind === 'neither')
    const unknown = alive.filter(({ kind }) => kind === 'write')
    for (const request of sent) request.phase = { name: 'settled' }
    for (const request of repeated) request.phase = { name: 'unsent' }
    const waiting = [...this.#unsent].filter(({ kind }) => kind !== 'connection')
    this.#unsent = new Set([...repeated, ...waiting])
    return { tombstones, unknown, leftWrites: sent.some(({ kind }) => kind === 'write') }
  }

  /** Takes out every request that waits for a settlement, sent ones first. `wasSent` tells which had left. */
  clear(): { request: Request; wasSent: boolean }[] {
    const sent = this.#sent.drop().filter(({ phase }) => phase.name === 'sent')
    const all = [
      ...sent.map((request) => ({ request, wasSent: true })),
      ...[...this.#unsent].map((request) => ({ request, wasSent: false })),
    ]
    this.#unsent = new Set()
    this.#nextTimeout = Infinity
    for (const { request } of all) request.phase = { name: 'settled' }
    return all
  }

  #takeXid(): number {
    const xid = this.#nextXid
    this.#nextXid = xid >= LAST_XID ? 1 : xid + 1
    return xid
  }
}
