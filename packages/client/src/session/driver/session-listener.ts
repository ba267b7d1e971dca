// The interfaces between the client and a session: its listener, the limits of calls, the options of its driver.
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { SaslMechanism } from '../../sasl/mechanism.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { EndReason } from '../protocol/states.ts'

/** The events of a session for the client. */
export interface SessionListener {
  connected(): void
  ended(reason: EndReason): void
  /** It gets all events, and decides nothing. */
  readonly telemetry: Telemetry
}

/** The limits of a call. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** The longest wait, in ms from now. */
  readonly timeout?: number | undefined
  readonly repeatThrottled?: boolean | undefined
}

export interface DriverConfig {
  readonly tls?: TlsSource | undefined
  readonly sasl?: SaslMechanism | undefined
}
