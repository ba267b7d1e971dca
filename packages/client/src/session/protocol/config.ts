import type { Credential } from '../../operations/add-auth.ts'
import type { SessionCredentials } from './detached-session.ts'
import type { FlowLimits } from '../requests/flow.ts'
import type { Names } from '../servers/names.ts'
import type { ServerLists } from '../servers/server-lists.ts'
import type { HostProvider } from '../servers/static-host-provider.ts'

export interface SessionConfig {
  /** The servers. The client's sessions share the lists. */
  readonly servers: ServerLists
  /** The last known addresses of host names. The client's sessions share them. */
  readonly names: Names
  /** Chooses servers. @default a `StaticHostProvider` of `servers`, and after it the fallbacks of `servers` */
  readonly hostProvider: HostProvider | undefined
  /** The session to resume; undefined to begin a new one. */
  readonly resume: SessionCredentials | undefined
  /** Whether to accept a read-only server, which has no quorum. */
  readonly readOnly: boolean
  /** The T to request, in ms. */
  readonly sessionTimeout: number
  /** After how many ms without a message from a server the session counts as expired; T at least. @default 4/3 T */
  readonly localExpiry: number | undefined
  /** The longest reply, in bytes. */
  readonly maxResponseSize: number
  /** How many requests may wait to be sent, and how many may be in flight. */
  readonly limits: FlowLimits
  /** The client's credentials. Its sessions share the list. */
  readonly credentials: Credential[]
  /** Whether to prove the client's identity by SASL, on every connection. */
  readonly usesSasl?: boolean
  /** Whether the client opens no other session when this one has expired. */
  readonly isLast?: boolean
  /** Whether the driver looks up the host name of a server before it dials. */
  readonly looksUpNames?: boolean
  /** The seed of random pauses and of the order of servers; and of the first xid, if a resumed session has no `lastXid`. */
  readonly seed: number
  /** When the first attempt to connect is due. */
  readonly startAt: number
  /** When to give up if no server has accepted the session yet; Infinity for never. */
  readonly connectBy: number
}
