// Code of docs/guide/production.md.
import { hostname } from 'node:os'
import { connect, fencingText, Lock, type ZooKeeper } from '@zk/recipes'

export { billOnce, connected, reportUntil }

/** Stands for a database. */
export interface Store {
  /** Takes the fence, and then reads. */
  customers(options: { fence: string; signal: AbortSignal }): Promise<readonly string[]>
  bill(customer: string, options: { fence: string }): Promise<void>
}

// #region connect
async function connected(): Promise<ZooKeeper> {
  return await connect('zk1:2181,zk2:2181,zk3:2181/billing', {
    sessionTimeout: 15_000, // default: 12_000
    connectTimeout: 30_000, // default: 10_000. The servers may start at the same time as this program
  })
}
// #endregion

// #region work
/** One process at a time. Rejects with a `LostError` when the lock was lost meanwhile. */
async function billOnce(zk: ZooKeeper, store: Store, signal: AbortSignal): Promise<void> {
  const lock = new Lock(zk, '/locks/billing', { label: hostname() })
  await lock.run(
    async (held) => {
      const fence = fencingText(held.fencingToken)
      for (const customer of await store.customers({ fence, signal: held.signal })) {
        held.throwIfLost() // after every await, before acting
        await store.bill(customer, { fence })
      }
    },
    { signal, timeout: 60_000 },
  )
}
// #endregion

// #region stop
async function reportUntil(stopping: AbortSignal, lock: Lock, report: (signal: AbortSignal) => Promise<void>) {
  await lock.run((held) => report(AbortSignal.any([held.signal, stopping])), { signal: stopping })
} // now close the client
// #endregion
