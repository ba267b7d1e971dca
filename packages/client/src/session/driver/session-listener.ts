// What the client gives a session: its listener, how calls wait, what its driver needs to know.
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { SaslMechanism } from '../../sasl/mechanism.ts'
import type { TlsSource } from '../../runtime/tls.ts'
import type { EndReason } from '../protocol/states.ts'

/** What the session does beyond its own calls; the client listens. */
export interface SessionListener {
  connected(): void
  ended(reason: EndReason): void
  /** Told of all, decides nothing. */
  readonly telemetry: Telemetry
}

/** How a call waits. */
export interface WaitOptions {
  readonly signal?: AbortSignal | undefined
  /** ms from now. */
  readonly timeout?: number | undefined
  readonly repeatThrottled?: boolean | undefined
}

export interface DriverConfig {
  readonly tls?: TlsSource | undefined
  readonly sasl?: SaslMechanism | undefined
}
