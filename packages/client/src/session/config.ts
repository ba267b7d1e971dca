import type { ServerAddress } from '@zk/wire'
import type { Credential } from './auths.ts'
import type { FlowLimits } from './flow.ts'

export interface SessionConfig {
  readonly servers: readonly ServerAddress[]
  /** The T to ask for, in ms. */
  readonly sessionTimeout: number
  /** After how many T without a word the session counts as expired. */
  readonly localExpiry: number
  /** Longest reply accepted, in bytes. */
  readonly maxResponseSize: number
  /** How many requests may wait, and be under way. */
  readonly limits: FlowLimits
  /** The client's credentials; the list is shared with its other sessions. */
  readonly credentials: Credential[]
  /** Whether to prove by SASL who we are, on every connection. */
  readonly usesSasl?: boolean
  /** Where the random pauses come from. */
  readonly seed: number
  /** When the first attempt is due. */
  readonly startAt: number
  /** When to give up finding a first server; Infinity for never. */
  readonly connectBy: number
}
