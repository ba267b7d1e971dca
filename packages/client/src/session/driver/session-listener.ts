// The interfaces between the client and the driver of a session: listener, limits of calls, options of the driver.
import type { SaslMechanism } from '../../sasl/mechanism.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { ClientEvents } from '../client-event.ts'
import type { EndReason } from '../protocol/states.ts'

/** Gets the events of a session for the client. */
export interface SessionListener {
  connected(): void
  /** Looks a name up, unless a look-up is under way. The answer goes to the driver of the current session. */
  lookUp(host: string): void
  ended(reason: EndReason): void
  /** Gets all events of the client, for telemetry only. */
  readonly events: ClientEvents
}

/** The limits of a call. */
export interface CallLimits {
  readonly signal?: AbortSignal | undefined
  /** The longest wait, in ms from now. */
  readonly timeout?: number | undefined
  readonly repeatThrottled?: boolean | undefined
  /** See `Request.isOwn`. */
  readonly isOwn?: boolean | undefined
}

export interface DriverConfig {
  readonly tls?: TlsSource | undefined
  readonly sasl?: SaslMechanism | undefined
}
