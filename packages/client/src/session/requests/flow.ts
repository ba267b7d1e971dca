// How many requests may wait to be sent, and how many may be in flight (sent and not answered).

/** A segment ends when it has this many bytes. */
export const SEGMENT_SIZE = 256 * 1024

export interface FlowLimits {
  /** The longest request, in bytes. */
  readonly maxRequestSize: number
  /** How many requests may wait to be sent. */
  readonly maxWaiting: number
  /** How many bytes these requests may have. */
  readonly maxWaitingBytes: number
  /** How many requests may be in flight. */
  readonly maxInFlight: number
  /** How many bytes these requests may have. */
  readonly maxInFlightBytes: number
}

/** How many requests wait and are in flight now: the calls of all views of the client, and internal requests. */
export interface Flow {
  /** How many requests wait to be sent: see `maxWaiting`. */
  readonly waiting: number
  /** The bytes of the requests that wait. */
  readonly waitingBytes: number
  /** How many requests were sent and are not answered: see `maxInFlight`. */
  readonly inFlight: number
  /** The bytes of the requests in flight. */
  readonly inFlightBytes: number
}

export const NO_LIMITS: FlowLimits = {
  maxRequestSize: Infinity,
  maxWaiting: Infinity,
  maxWaitingBytes: Infinity,
  maxInFlight: Infinity,
  maxInFlightBytes: Infinity,
}

/**
 * Whether there is room for a request of `size` bytes in addition to `count` others of `bytes` bytes in total. A single request
 * always has room.
 */
export function hasRoom(count: number, bytes: number, size: number, maxCount: number, maxBytes: number): boolean {
  return count === 0 || (count < maxCount && bytes + size <= maxBytes)
}
