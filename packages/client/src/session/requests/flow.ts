// How much may wait, and how much may be under way.

/** About how many bytes leave at once, at most. */
export const SEGMENT_SIZE = 256 * 1024

export interface FlowLimits {
  /** Bytes of one request. */
  readonly maxRequestSize: number
  /** Requests that may wait to be sent. */
  readonly maxWaiting: number
  /** Bytes of them. */
  readonly maxWaitingBytes: number
  /** Requests that may be sent and not answered. */
  readonly maxInFlight: number
  /** Bytes of them. */
  readonly maxInFlightBytes: number
}

/** The load now: calls, those of all views of the client, and the client's own requests. */
export interface Flow {
  /** Requests that wait to be sent, see `maxWaiting`. */
  readonly waiting: number
  /** Bytes of them. */
  readonly waitingBytes: number
  /** Requests that were sent and are not answered, see `maxInFlight`. */
  readonly inFlight: number
  /** Bytes of them. */
  readonly inFlightBytes: number
}

export const NO_LIMITS: FlowLimits = {
  maxRequestSize: Infinity,
  maxWaiting: Infinity,
  maxWaitingBytes: Infinity,
  maxInFlight: Infinity,
  maxInFlightBytes: Infinity,
}

/** Whether one more of this size has room beside `count` of `bytes`. One always has, however long it is. */
export function hasRoom(count: number, bytes: number, size: number, maxCount: number, maxBytes: number): boolean {
  return count === 0 || (count < maxCount && bytes + size <= maxBytes)
}
