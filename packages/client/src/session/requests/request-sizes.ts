// Finds out which requests are too large for the servers. A server closes the connection when it gets a request over its
// jute.maxbuffer: as soon as it has read the length, and without an answer (NIOServerCnxn.readLength). The answers to the
// requests before it may be lost with the connection, and requests after it are not read. So such a request can be recognized
// only when it is alone in flight:
//
// 1. A request over 32 KiB, and over twice the size of the longest one answered on this connection, is sent alone. So it costs
//    no other call its answer. From 32 KiB to 1 MiB there are at most five of these, so a backlog in ascending order is not sent
//    one request per round trip.
// 2. When a server closes the connection, requests that were not answered, and longer ones, are sent alone for T.
// 3. When a server closes the connection while one request is alone in flight, and has closed another within T, that request is
//    too large, whatever the size of the earlier one. Up to 32 KiB, or up to the longest size answered before, the third loss
//    decides: limits that low are rare, and two network failures are not.
// 4. For T no request of that size or more is sent. From the fourth loss on, requests over half its size are refused, too,
//    unless one of that length was answered. So a program that makes its data shorter step by step loses a connection each time
//    the size is halved, not at each step, and a single request that is too large does not cause shorter ones to be refused.
//
// Limits differ between servers, and change when these are restarted. So what was answered counts for its connection only
// (except in rules 3 and 4), and what is too large is tried again after a while.
import { BATCH_SIZE } from '../../operations/batch.ts'
import { deadlines, type Times } from '../protocol/deadlines.ts'
import type { Request } from './request.ts'

/** No loss is blamed on a request of up to this size, in bytes: nobody sets jute.maxbuffer that low. */
const LEAST_LIMIT = 4 * 1024

/** After more losses than this, shorter requests are not tried one by one: there are many sizes that are too large. */
const FEW_LOSSES = 3

/** When a server closed the connection, and the times that applied. */
export interface ServerClose {
  readonly at: number
  readonly times: Times
}

/** Connections were closed at requests of these sizes. */
interface Suspicion {
  readonly from: number
  readonly to: number
  /** How many connections. */
  readonly losses: number
  readonly until: number
}

/** Why a request is not sent. */
interface Refusal {
  /** Requests of this size or more are not sent before `until`. */
  readonly from: number
  readonly until: number
  /** The size of the last request that was too large. */
  readonly size: number
}

/** Why a request of this many bytes was not sent. */
export function explainRefusal(bytes: number, { size, from, until }: Refusal, now: number): string {
  const after = Math.ceil(until - now)
  return (
    `it has ${bytes} bytes and was not sent; sizes from ${from} on are tried again after ${after} ms, ` +
    `because the last one that was refused had ${size} bytes`
  )
}

export class RequestSizes {
  /** The longest request that was answered on this connection. */
  #accepted = 0
  /** The longest that any server of the session has answered. */
  #longest = 0
  #suspicion: Suspicion | undefined
  #refusal: Refusal | undefined
  #batchSize = BATCH_SIZE

  /** The longest frame of a batch, in bytes. It is halved when a server closes the connection at a setWatches. */
  get batchSize(): number {
    return this.#batchSize
  }

  /** Whether the connection must be known to work before the next request that may be too large is sent. */
  isSuspicious(now: number): boolean {
    return this.#suspected(now) !== undefined
  }

  /** Whether a request of this size must be the only one in flight. */
  mustBeAlone(size: number, now: number): boolean {
    if (size <= this.#accepted) return false
    const suspicion = this.#suspected(now)
    return (suspicion !== undefined && size >= suspicion.from) || (size > BATCH_SIZE && size > 2 * this.#accepted)
  }

  /** Why a request of this size is not to be sent now; undefined if it may be. */
  refusal(size: number, now: number): Refusal | undefined {
    const refusal = this.#refusal
    return refusal !== undefined && size >= refusal.from && now < refusal.until ? refusal : undefined
  }

  /** Whether a request of this size may be the reason why the connection ended. */
  mayBeTooLarge(size: number): boolean {
    return size > Math.max(this.#accepted, LEAST_LIMIT)
  }

  /** A request of this size was answered. */
  answered(size: number): void {
    if (size <= this.#accepted) return
    this.#accepted = size
    this.#longest = Math.max(this.#longest, size)
    if (this.#suspicion !== undefined && size >= this.#suspicion.from) {
      this.#suspicion = size < this.#suspicion.to ? { ...this.#suspicion, from: size + 1 } : undefined
    }
    if (this.#refusal !== undefined && size >= this.#refusal.from) this.#refusal = undefined
  }

  /**
   * A server has closed the connection while these were in flight. Returns the request that is too large, if that is certain by
   * now.
   */
  closed(inFlight: readonly Request[], { at, times }: ServerClose): Request | undefined {
    // Servers close the connection as soon as they have read the length, so a request that was sent long ago was not the reason.
    const recent = inFlight.filter(
      ({ size, sentAt = -Infinity }) => this.mayBeTooLarge(size) && at - sentAt < deadlines.ping(times),
    )
    for (const { kind, op, size } of recent) {
      if (kind === 'connection' && op === 'setWatches') this.#shrinkBatches(size)
    }
    const suspects = recent.filter(({ kind }) => kind !== 'connection')
    const [first] = suspects
    if (first === undefined) return undefined
    // The client's internal requests may follow a request that is sent alone.
    const isAlone = first === inFlight[0] && inFlight.slice(1).every(({ kind }) => kind === 'connection')
    const until = at + times.T
    const losses = this.#suspect(suspects, at, until)
    if (!isAlone || losses < this.#lossesNeeded(first.size)) return undefined
    this.#refuse(first.size, losses, until)
    return first
  }

  /** The connection is gone. */
  interrupted(): void {
    this.#accepted = 0
  }

  #suspected(now: number): Suspicion | undefined {
    return this.#suspicion !== undefined && now < this.#suspicion.until ? this.#suspicion : undefined
  }

  /** Returns how many connections have been lost since the suspicion began. */
  #suspect(suspects: readonly Request[], now: number, until: number): number {
    const { from, to, losses } = this.#suspected(now) ?? { from: Infinity, to: 0, losses: 0 }
    const sizes = suspects.map(({ size }) => size)
    this.#suspicion = {
      from: sizes.reduce((least, size) => Math.min(least, size), from),
      to: sizes.reduce((most, size) => Math.max(most, size), to),
      losses: losses + 1,
      until,
    }
    return this.#suspicion.losses
  }

  /** How many losses show that a request of this size is too large. */
  #lossesNeeded(size: number): number {
    return size > Math.max(BATCH_SIZE, this.#longest) ? 2 : 3
  }

  #refuse(size: number, losses: number, until: number): void {
    // If a longer one was answered, that was by another server, or before a restart.
    if (size <= this.#longest) this.#longest = 0
    const accepted = losses > FEW_LOSSES ? Math.max(this.#longest, Math.floor(size / 2), LEAST_LIMIT) : size
    const from = Math.min(size, accepted + 1)
    this.#refusal = { from, until, size }
  }

  #shrinkBatches(size: number): void {
    this.#batchSize = Math.max(LEAST_LIMIT, Math.min(this.#batchSize, Math.floor(size / 2)))
  }
}
