import type { ServerAddress } from '@zk/wire'
import type { Credential } from '../requests/credentials.ts'
import type { SessionCredentials } from './detached-session.ts'
import type { FlowLimits } from '../requests/flow.ts'
import type { HostProvider } from '../servers/static-host-provider.ts'

export interface SessionConfig {
  readonly servers: readonly ServerAddress[]
  /** Whose word counts in place of a list of our own. */
  readonly hostProvider: HostProvider | undefined
  /** A session that exists already. */
  readonly resume: SessionCredentials | undefined
  /** Whether a server without a quorum will do. */
  readonly readOnly: boolean
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
  /** Whether to prove the client's identity by SASL, on every connection. */
  readonly usesSasl?: boolean
  /** Where the random pauses come from. */
  readonly seed: number
  /** When the first attempt is due. */
  readonly startAt: number
  /** When to give up finding a first server; Infinity for never. */
  readonly connectBy: number
}
