// Code of packages/recipes/README.md, and of docs/recipes.md.
import {
  type Barrier,
  type Counter,
  type DoubleBarrier,
  Group,
  type Held,
  type LeaderElection,
  type Lock,
  type Membership,
  Mirror,
  type MultiHeld,
  MultiLock,
  once,
  type Semaphore,
  ServiceDiscovery,
  type SharedLock,
  uriOf,
  type ZooKeeper,
} from '@zk/recipes'

export {
  encodeShard,
  followSettings,
  followWorkers,
  importTogether,
  joinWorkers,
  lead,
  migrate,
  searchAndRebuild,
  sendReport,
  serveOrders,
  takeTicket,
  transfer,
  urisOfOrders,
  writeInParts,
}

// #region acquire
async function writeInParts(lock: Lock, writePart: (held: Held) => Promise<'more' | 'done'>): Promise<void> {
  const held = await lock.acquire({ timeout: 5_000 })
  try {
    while ((await writePart(held)) === 'more') held.throwIfLost()
  } finally {
    await held.release()
  }
}
// #endregion

// #region terms
/** Does `work` whenever this process leads, until `stopping` aborts or the work fails. */
async function lead(election: LeaderElection, work: (held: Held) => Promise<void>, stopping: AbortSignal) {
  for await (const held of election.terms({ signal: stopping })) {
    try {
      await work(held) // ends, or rejects, when held.signal aborts
    } catch (error) {
      if (held.isHeld()) throw error // the work failed: the loop resigns, and throws
      console.warn('the term was lost', error)
    }
  } // the end of the body resigns, and the process campaigns again
}
// #endregion

// #region once
/** Each host calls this, with the date for which the report is due. One of them sends it. */
async function sendReport(zk: ZooKeeper, date: string, send: (held: Held) => Promise<void>): Promise<string> {
  const call = await once(zk, '/jobs/report', { slot: date, label: 'host-1' }, send)
  if (call.ran) return 'sent'
  return call.why === 'done' ? `sent by ${call.run.label}` : `${call.blocker?.label} is ahead`
}
// #endregion

// #region counter
/** Takes one of the tickets that are left. Resolves with its number. */
async function takeTicket(tickets: Counter): Promise<bigint> {
  const left = await tickets.update((left) => {
    if (left === 0n) throw new Error('sold out')
    return left - 1n
  })
  return left + 1n
}
// #endregion

// #region barrier
/** Workers call `await barrier.wait()` before each piece of work. They do none while this runs. */
async function migrate(barrier: Barrier, steps: () => Promise<void>): Promise<void> {
  await barrier.set()
  await steps() // if it fails, or this process dies, the barrier stays closed
  await barrier.remove()
}
// #endregion

// #region double-barrier
/** Imports one part. All importers begin when all are present, and go on when all are done. */
async function importTogether(barrier: DoubleBarrier, importPart: (signal: AbortSignal) => Promise<void>) {
  const entry = await barrier.enter({ timeout: 60_000 })
  try {
    await importPart(entry.signal)
  } finally {
    await entry.leave({ timeout: 60_000 })
  }
}
// #endregion

// #region group
async function joinWorkers(zk: ZooKeeper, address: string): Promise<Membership> {
  const group = new Group(zk, '/workers')
  const me = await group.join({ name: 'host-1', data: address })
  me.signal.addEventListener('abort', () => console.warn('no longer a member', me.signal.reason))
  return me // me.update('…') changes the data, me.release() ends it
}

async function followWorkers(zk: ZooKeeper, use: (addresses: string[]) => void, signal: AbortSignal): Promise<void> {
  for await (const members of new Group(zk, '/workers').watchMembers({ signal })) {
    use(members.map(({ text }) => text))
  }
}
// #endregion

// #region mirror
/** Calls `use` with the settings now, and with each later change of one, until the signal aborts. */
async function followSettings(zk: ZooKeeper, use: (path: string, value?: string) => void, signal: AbortSignal) {
  const mirror = await new Mirror(zk, '/settings').open({ signal })
  for await (const change of mirror.watchChanges()) {
    if (change.type === 'Ready') console.log(`${mirror.size} settings, as of ${mirror.zxid}`)
    else if (change.type === 'Removed') use(change.path)
    else use(change.path, change.node.text)
  }
}
// #endregion

// #region services
async function serveOrders(zk: ZooKeeper, address: string, port: number) {
  const services = new ServiceDiscovery(zk, '/services')
  return services.register({ name: 'orders', address, port, uriSpec: '{scheme}://{address}:{port}' })
}

async function urisOfOrders(zk: ZooKeeper): Promise<string[]> {
  const instances = await new ServiceDiscovery(zk, '/services').instances('orders')
  return instances.filter(({ enabled }) => enabled).map((instance) => uriOf(instance))
}
// #endregion

// #region shared-lock
/** Searches run at the same time. A rebuild waits for them, and later ones wait for the rebuild. */
async function searchAndRebuild(index: SharedLock, search: () => Promise<void>, rebuild: () => Promise<void>) {
  await Promise.all([index.read.run(search), index.read.run(search), index.write.run(rebuild)])
}
// #endregion

// #region multi-lock
/** Moves money between two accounts. Two transfers in opposite directions do not deadlock. */
async function transfer(zk: ZooKeeper, from: string, to: string, move: (held: MultiHeld) => Promise<void>) {
  const both = new MultiLock(zk, [`/locks/accounts/${from}`, `/locks/accounts/${to}`])
  await both.run(move, { timeout: 10_000 })
}
// #endregion

// #region semaphore
/** One of the semaphore's permits stands for one shard. No other holder works on it meanwhile. */
async function encodeShard(semaphore: Semaphore, encode: (shard: number, held: Held) => Promise<void>): Promise<void> {
  await semaphore.run((held) => encode(held.permit, held))
}
// #endregion
