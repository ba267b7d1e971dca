// How much may wait, and how much may be under way.

export interface FlowLimits {
  /** Requests that may wait to be sent. */
  readonly maxWaiting: number
  /** Bytes of them. */
  readonly maxWaitingBytes: number
  /** Requests that may be sent and not answered. */
  readonly maxInFlight: number
  /** Bytes of them. */
  readonly maxInFlightBytes: number
}

/** The load now. */
export interface Flow {
  readonly waiting: number
  readonly waitingBytes: number
  readonly inFlight: number
  readonly inFlightBytes: number
}

export const NO_LIMITS: FlowLimits = {
  maxWaiting: Infinity,
  maxWaitingBytes: Infinity,
  maxInFlight: Infinity,
  maxInFlightBytes: Infinity,
}

/** One request always has room, however long it is. */
export function mayWait({ waiting, waitingBytes }: Flow, size: number, limits: FlowLimits): boolean {
  return waiting === 0 || (waiting < limits.maxWaiting && waitingBytes + size <= limits.maxWaitingBytes)
}

export function mayFly({ inFlight, inFlightBytes }: Flow, size: number, limits: FlowLimits): boolean {
  return inFlight === 0 || (inFlight < limits.maxInFlight && inFlightBytes + size <= limits.maxInFlightBytes)
}
