// The limits of what may wait, and of what may be in flight.

/** About how many bytes are sent at once, at most. */
export const SEGMENT_SIZE = 256 * 1024

export interface FlowLimits {
  /** The longest request, in bytes. */
  readonly maxRequestSize: number
  /** How many requests may wait to be sent. */
  readonly maxWaiting: number
  /** The bytes of these. */
  readonly maxWaitingBytes: number
  /** How many requests may be sent and not answered. */
  readonly maxInFlight: number
  /** The bytes of these. */
  readonly maxInFlightBytes: number
}

/** The present load: calls of all views of the client, and internal requests. */
export interface Flow {
  /** How many requests wait to be sent: see `maxWaiting`. */
  readonly waiting: number
  /** The bytes of these. */
  readonly waitingBytes: number
  /** How many requests were sent and are not answered: see `maxInFlight`. */
  readonly inFlight: number
  /** The bytes of these. */
  readonly inFlightBytes: number
}

export const NO_LIMITS: FlowLimits = {
  maxRequestSize: Infinity,
  maxWaiting: Infinity,
  maxWaitingBytes: Infinity,
  maxInFlight: Infinity,
  maxInFlightBytes: Infinity,
}

/** Whether one more request of this size has room beside `count` of `bytes`. A single request always has. */
export function hasRoom(count: number, bytes: number, size: number, maxCount: number, maxBytes: number): boolean {
  return count === 0 || (count < maxCount && bytes + size <= maxBytes)
}
