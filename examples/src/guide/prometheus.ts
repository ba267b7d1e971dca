// Code of docs/guide/prometheus.md.

// #region metrics
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientMessages, RequestMessage } from '@zk/client'
import type { RecipeMessages } from '@zk/recipes'
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const reasons = ['LeaseLost', 'NodeGone', 'SessionExpired', 'Disconnected', 'Closed', 'Refused']

/** Collects metrics of all clients of the process, and of their locks. Call it before the first `connect`. */
function collectMetrics(registry: Registry): () => void {
  const registers = [registry]
  const clients = new Map<string, ClientMessages['zk:client']['zk']>()
  const connected: Gauge = new Gauge({
    name: 'zk_connected',
    help: '1 while the client has a session and a connection',
    labelNames: ['client'],
    registers,
    collect: () => {
      for (const [client, zk] of clients) {
        const { name } = zk.state
        // After `close` an alert on a 0 would never clear.
        if (name === 'closed' && zk.stats().connections.established > 0) connected.remove({ client })
        else connected.set({ client }, name === 'connected' ? 1 : 0)
      }
    },
  })
  const calls = new Histogram({
    name: 'zk_call_duration_seconds',
    help: 'From a call to its answer',
    labelNames: ['client', 'op', 'code'],
    registers,
  })
  const expired = new Counter({
    name: 'zk_sessions_expired_total',
    help: 'Sessions that expired',
    labelNames: ['client'],
    registers,
  })
  const held = new Gauge({ name: 'zk_locks_held', help: 'Locks held now', labelNames: ['client', 'kind'], registers })
  const lost = new Counter({
    name: 'zk_locks_lost_total',
    help: 'Locks that were lost',
    labelNames: ['client', 'reason'],
    registers,
  })

  const subscribers = {
    // Series that alerts need begin with 0: Prometheus does not see the increase to the first value of a series.
    'zk:client': ({ client, zk }: ClientMessages['zk:client']) => {
      clients.set(client, zk)
      expired.inc({ client }, 0)
      for (const reason of reasons) lost.inc({ client, reason }, 0)
    },
    'zk:session': ({ client, event }: ClientMessages['zk:session']) => {
      if (event === 'expired') expired.inc({ client })
    },
    'tracing:zk:request:asyncEnd': ({ client, op, code, duration = 0 }: RequestMessage) =>
      calls.observe({ client, op, code: String(code) }, duration / 1_000),
    'zk:acquired': ({ client, kind }: RecipeMessages['zk:acquired']) => held.inc({ client, kind }),
    'zk:released': ({ client, kind }: RecipeMessages['zk:released']) => held.dec({ client, kind }),
    'zk:lost': ({ client, kind, reason }: RecipeMessages['zk:lost']) => {
      held.dec({ client, kind })
      // A writer that becomes a reader loses nothing.
      if (reasons.includes(reason)) lost.inc({ client, reason })
    },
  }
  const all = Object.entries(subscribers) as [channel: string, subscriber: (message: unknown) => void][]
  for (const [channel, subscriber] of all) subscribe(channel, subscriber)
  return () => all.forEach(([channel, subscriber]) => unsubscribe(channel, subscriber))
}
// #endregion

export { collectMetrics }
