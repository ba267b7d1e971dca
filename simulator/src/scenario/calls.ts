// What a client does that uses no recipe: plain calls, as data.

export const callOps = [
  'create',
  'createBelow',
  'setData',
  'delete',
  'multi',
  'getData',
  'exists',
  'getChildren',
  'sync',
  'getDataAndWatch',
  'existsAndWatch',
  'getChildrenAndWatch',
  'watch',
  'addAuth',
] as const
export type CallOp = (typeof callOps)[number]

/**
 * One call. What reads, watches or syncs does it at a node of its own, `/calls/<id>`; what writes does it at the node `on` of
 * that call or another, and writes its own id. So each request on the wire, and each transaction, says whose it is.
 */
export interface Call {
  /** Its number in the scenario. */
  readonly id: number
  readonly op: CallOp
  readonly on: number
  /** In ms; T where it says nothing. */
  readonly timeout?: number
  /** With the signal of its turn. */
  readonly aborts?: true
  /** Runs in the session that the client had first, or not at all. */
  readonly pinned?: true
  /** Of a watch: it is taken back so long after it was set, in ms; else when the client is done. */
  readonly leavesAfter?: number
}

/** Calls that are made at once. */
export interface Turn {
  /** Pause before it, in ms. */
  readonly after: number
  /** The client is closed, and another connects, before anything is called. */
  readonly renews?: true
  readonly calls: readonly Call[]
  /** When the signal of those that have it aborts, in ms. */
  readonly abortAfter?: number
  /** Whether all of them are settled before the next turn. */
  readonly waits: boolean
}

/** The whole program of a client. */
export interface CallPlan {
  /** Options of the client, where it does not take the default. */
  readonly maxWaiting?: number
  readonly maxInFlight?: number
  readonly maxWaitingBytes?: number
  readonly maxInFlightBytes?: number
  /** Whether it connects with a credential. */
  readonly hasCredential: boolean
  readonly turns: readonly Turn[]
}

export const isWrite = (op: CallOp): boolean => writes.includes(op)
export const watchesOnce = (op: CallOp): boolean => op.endsWith('AndWatch')

const writes: readonly CallOp[] = ['create', 'createBelow', 'setData', 'delete', 'multi']
