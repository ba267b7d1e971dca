// The program of a client that uses no recipe: plain calls, as data.
import type { ClientPlan } from '../../scenario/scenario.ts'

export interface CallingClient extends ClientPlan {
  readonly calls: CallPlan
}

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
 * One call. A read, a watch or a sync uses a node of its own, `/calls/<id>`. A write uses the node `/calls/<on>`, and writes its
 * own id. `addAuth` uses no node. So each request on the wire, and each transaction, can be assigned to its call.
 */
export interface Call {
  /** Its number in the scenario. */
  readonly id: number
  readonly op: CallOp
  /** Its own id, or that of another call. */
  readonly on: number
  /** The timeout in ms; T by default. */
  readonly timeout?: number
  /** The size of its data or, for a read, of its path, in bytes. @default a few */
  readonly bytes?: number
  /** Whether it has the signal of its turn. */
  readonly aborts?: true
  /** Whether it runs only in the first session of the client. */
  readonly pinned?: true
  /** How long after it was set a watch is taken back, in ms. By default it is when the client is done. */
  readonly leavesAfter?: number
}

/** Calls that are made together. */
export interface Turn {
  /** The pause before the turn, in ms. */
  readonly after: number
  /** Whether the client is closed first, and another one connects. */
  readonly renews?: true
  readonly calls: readonly Call[]
  /** When the signal of the turn aborts, in ms. */
  readonly abortAfter?: number
  /** Whether all calls settle before the next turn. */
  readonly waits: boolean
}

/** The whole program of a client. */
export interface CallPlan {
  /** The options of the client, if they are not the default. */
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
