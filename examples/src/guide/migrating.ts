// Code of docs/guide/migrating.md.
import {
  connect,
  ConnectError,
  type Held,
  isTransient,
  KeeperError,
  type LeaderElection,
  sleep,
  type ZooKeeper,
} from '@zk/recipes'

export { connectWithRetry, followChildren, latch, onExpired }

interface LeaderLatchListener {
  isLeader(held: Held): void
  notLeader(): void
}

// #region connect
/** Retries until a server answers. */
async function connectWithRetry(servers: string, signal: AbortSignal): Promise<ZooKeeper> {
  for (;;) {
    try {
      return await connect(servers, { signal })
    } catch (error) {
      if (!ConnectError.is(error)) throw error
      console.warn(error.message)
    }
  }
}
// #endregion

// #region follow
/** Calls `use` with the children now and after each change, until this client is closed. */
async function followChildren(zk: ZooKeeper, path: string, use: (children: readonly string[]) => void): Promise<void> {
  for (;;) {
    try {
      const { children, changed } = await zk.getChildrenAndWatch(path)
      use(children)
      await changed // an event; or SessionEnded, after which the read waits for the next session
    } catch (error) {
      if (KeeperError.is(error, 'Closed')) return // also if `close` deletes a child of ours first, and so wakes us
      if (!isTransient(error)) throw error
      await sleep(zk.runtime, 500)
    }
  }
}
// #endregion

// #region expired
/** Calls `expired` when the present session ends, as `on('expired', …)` does. */
function onExpired({ session }: ZooKeeper, expired: (error: unknown) => void): void {
  session.signal.addEventListener('abort', () => expired(session.signal.reason), { once: true })
}
// #endregion

// #region latch
/** Campaigns again after each loss, as a `LeaderLatch` does after a reconnection. Returns when `closing` aborts. */
async function latch(election: LeaderElection, listener: LeaderLatchListener, closing: AbortSignal): Promise<void> {
  for await (const held of election.terms({ signal: closing })) {
    listener.isLeader(held) // hasLeadership() is now held.isHeld()
    const ended = AbortSignal.any([held.signal, closing])
    if (!ended.aborted) await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }))
    listener.notLeader()
  }
}
// #endregion
