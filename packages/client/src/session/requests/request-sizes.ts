// Finds out which requests are too long for the servers. A server closes the connection at a request over its jute.maxbuffer: as
// soon as it has read the length, and without an answer (NIOServerCnxn.readLength). The answers to the requests before it may be
// lost with the connection, and those behind it are not read. So such a request is recognized only where it is alone in flight:
//
// 1. A request over 32 KiB is sent alone, until one as long was answered on this connection. So it costs no other call its answer.
// 2. When a server closes the connection, requests that were not answered, and as long ones after them, are sent alone, too.
// 3. When a server closes the connection twice at requests of a size, the second time at one that was alone, those are too long.
//
// Limits differ between servers, and change when these are restarted. So what was answered counts for its connection only, and
// what is too long is tried again after a while.
import { BATCH_SIZE } from '../../operations/batch.ts'
import { deadlines, type Times } from '../protocol/deadlines.ts'
import type { Request } from './request.ts'

/** No loss is put down to a request up to this size, in bytes: nobody sets jute.maxbuffer so low. */
const LEAST_LIMIT = 4 * 1024

/** How a connection ended that a server has closed. */
export interface Closed {
  readonly at: number
  readonly times: Times
}

export class RequestSizes {
  /** The longest request that was answered on this connection. */
  #accepted = 0
  /** A connection was closed at a request whose size is in this range. */
  #suspected: { readonly from: number; readonly to: number } | undefined
  /** Requests of this size or more are not sent before this time. */
  #refused: { readonly size: number; readonly until: number } | undefined
  #batchSize = BATCH_SIZE

  /** The longest frame of a batch, in bytes. It is halved when a server closes the connection at a setWatches. */
  get batchSize(): number {
    return this.#batchSize
  }

  /** Whether a connection must be known to work before the next request is sent that may be too long. */
  get isSuspicious(): boolean {
    return this.#suspected !== undefined
  }

  /** Whether a request of this size must be the only one in flight. */
  mustBeAlone(size: number): boolean {
    return size > this.#accepted && (size > BATCH_SIZE || this.#isSuspected(size))
  }

  /** Whether a request of this size is not to be sent now: it is known to be too long. */
  refuses(size: number, now: number): boolean {
    return this.#refused !== undefined && size >= this.#refused.size && now < this.#refused.until
  }

  /** Whether the end of this connection may be the answer to a request of this size. */
  mayBeTooLong(size: number): boolean {
    return size > Math.max(this.#accepted, LEAST_LIMIT)
  }

  /** A request of this size was answered. */
  answered(size: number): void {
    if (size <= this.#accepted) return
    this.#accepted = size
    if (this.#suspected !== undefined && size >= this.#suspected.from) {
      const { to } = this.#suspected
      this.#suspected = size < to ? { from: size + 1, to } : undefined
    }
    if (this.#refused !== undefined && size >= this.#refused.size) this.#refused = undefined
  }

  /** A server has closed the connection while these were in flight. Returns the one that is too long, if that is certain by now. */
  closed(inFlight: readonly Request[], { at, times }: Closed): Request | undefined {
    // Servers close the connection as soon as they have read the length, so one that was sent long ago was not the reason.
    const recent = inFlight.filter(({ size, phase }) => {
      const sentAt = phase.name === 'sent' || phase.name === 'abandoned' ? phase.at : -Infinity
      return this.mayBeTooLong(size) && at - sentAt < deadlines.ping(times)
    })
    for (const { kind, op, size } of recent) {
      if (kind === 'connection' && op === 'setWatches') this.#shrinkBatches(size)
    }
    const suspects = recent.filter(({ kind }) => kind !== 'connection')
    const [first] = suspects
    // What the client sends for itself may follow one that is alone.
    const isAlone = first === inFlight[0] && inFlight.slice(1).every(({ kind }) => kind === 'connection')
    if (first !== undefined && isAlone && this.#isSuspected(first.size)) {
      this.#refused = { size: first.size, until: at + times.T }
      return first
    }
    for (const { size } of suspects) {
      const { from, to } = this.#suspected ?? { from: size, to: size }
      this.#suspected = { from: Math.min(from, size), to: Math.max(to, size) }
    }
    return undefined
  }

  /** The connection is gone. */
  interrupted(): void {
    this.#accepted = 0
  }

  #isSuspected(size: number): boolean {
    return this.#suspected !== undefined && size >= this.#suspected.from
  }

  #shrinkBatches(size: number): void {
    this.#batchSize = Math.max(LEAST_LIMIT, Math.min(this.#batchSize, Math.floor(size / 2)))
  }
}
