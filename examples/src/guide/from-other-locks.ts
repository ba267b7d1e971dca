// Code of docs/guide/from-other-locks.md.
import { hostname } from 'node:os'
import { type Held, LeaderElection, Lock, MultiLock, type ZooKeeper } from '@zk/recipes'

export { control, importOrders, rebuildCache, reportUnlessRunning, settle }

// #region redlock
async function settle(zk: ZooKeeper, book: (signal: AbortSignal, token: bigint) => Promise<void>): Promise<void> {
  const both = new MultiLock(zk, ['/locks/invoices', '/locks/orders'])
  await both.run((held) => book(held.signal, held.fencingToken), { timeout: 2_000 })
}
// #endregion

// #region proper-lockfile
async function rebuildCache(zk: ZooKeeper, rebuild: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const held = await new Lock(zk, '/locks/cache').acquire({ timeout: 10_000 })
  try {
    await rebuild(held.signal)
    held.throwIfLost()
  } finally {
    await held.release()
  }
}
// #endregion

// #region etcd3
async function reportUnlessRunning(zk: ZooKeeper, report: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  const { ran } = await new Lock(zk, '/locks/report').tryRun((held) => report(held.signal))
  return ran // false: another process has it
}
// #endregion

// #region consul
async function importOrders(zk: ZooKeeper, read: (signal: AbortSignal) => Promise<void>): Promise<void> {
  await new Lock(zk, '/locks/import', { label: hostname() }).run((held) => read(held.signal))
}
// #endregion

// #region kubernetes
async function control(zk: ZooKeeper, work: (held: Held) => Promise<void>, stopping: AbortSignal): Promise<void> {
  const election = new LeaderElection(zk, '/leaders/controller', { label: hostname() })
  for await (const held of election.terms({ signal: stopping })) {
    await work(held).catch((error: unknown) => {
      if (held.isHeld()) throw error // the work failed. Otherwise the term was lost: campaign again
    })
  }
}
// #endregion
