import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { onTestFinished } from 'vitest'
import type { Watched } from '@zk/client'

/** Events in the order in which they were received, as `NodeDeleted /path`. */
export class WatchLog {
  readonly #notified: string[] = []

  note<W extends Watched>(watched: W): W {
    void watched.changed.then(({ type, path }) => this.#notified.push(`${type} ${path}`))
    return watched
  }

  /** The events since the last call, sorted: events of different paths have no order. */
  take(): string[] {
    return this.#notified.splice(0).sort()
  }
}

/** Protocol anomalies from now to the end of the test: an event without a watch, for instance. */
export function noteOddities(): readonly unknown[] {
  const anomalies: unknown[] = []
  const note = (anomaly: unknown): void => void anomalies.push(anomaly)
  subscribe('zk:anomaly', note)
  onTestFinished(() => void unsubscribe('zk:anomaly', note))
  return anomalies
}
