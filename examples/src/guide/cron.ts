// Code of docs/guide/cron.md.

// #region every
import { hostname } from 'node:os'
import { type Held, Lock, once, sleep, type ZooKeeper } from '@zk/recipes'

/** Each process of a service calls this at its start. In every period one of them does the work. */
async function doEvery(zk: ZooKeeper, every: number, work: (held: Held) => Promise<void>, stopping: AbortSignal) {
  while (!stopping.aborted) {
    try {
      await once(zk, '/jobs/clean-up', { every, label: hostname(), signal: stopping }, work)
    } catch (error) {
      if (!stopping.aborted) console.warn('the job was not done', error) // the next call retries it
    }
    await sleep(zk.runtime, every / 10, { signal: stopping }).catch(() => {})
  }
}
// #endregion

// #region try
/** Does nothing if another process refreshes the cache at this moment. */
async function refresh(zk: ZooKeeper, work: (held: Held) => Promise<void>): Promise<boolean> {
  const { ran } = await new Lock(zk, '/jobs/refresh').tryRun(work)
  return ran
}
// #endregion

export { doEvery, refresh }
