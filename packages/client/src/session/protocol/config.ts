import type { ServerAddress } from '@zk/wire'
import type { Credential } from '../requests/credentials.ts'
import type { SessionCredentials } from './detached-session.ts'
import type { FlowLimits } from '../requests/flow.ts'
import type { HostProvider } from '../servers/static-host-provider.ts'

export interface SessionConfig {
  readonly servers: readonly ServerAddress[]
  /** The provider that chooses servers in place of our own list. */
  readonly hostProvider: HostProvider | undefined
  /** The session to go on with. */
  readonly resume: SessionCredentials | undefined
  /** Whether a server without a quorum will do. */
  readonly readOnly: boolean
  /** The T to request, in ms. */
  readonly sessionTimeout: number
  /** After how many T without a message the session counts as expired. */
  readonly localExpiry: number
  /** The longest reply, in bytes. */
  readonly maxResponseSize: number
  /** How many requests may wait, and be under way. */
  readonly limits: FlowLimits
  /** The client's credentials. Its sessions share the list. */
  readonly credentials: Credential[]
  /** Whether to prove the client's identity by SASL, on every connection. */
  readonly usesSasl?: boolean
  /** Whether no other session follows when this one has expired. */
  readonly isLast?: boolean
  /** Whether the driver looks up the name of a server before it dials. */
  readonly looksUpNames?: boolean
  /** The seed of the pauses, of the order of servers, and of the first xid of a resumed session that comes without its last one. */
  readonly seed: number
  /** When the first attempt is due. */
  readonly startAt: number
  /** When to give up finding a first server; Infinity for never. */
  readonly connectBy: number
}
