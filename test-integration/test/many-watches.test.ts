// 20,000 one-shot watches of all kinds, and 2,000 persistent ones, when the server that keeps them, the leader, is killed.
import { afterEach, expect, test } from 'vitest'
import { op, type Watched, type ZooKeeper } from '@zk/client'
import { until } from '../src/ensemble/index.ts'
import { caughtUp, newChroot, newClient, newProxy } from './support/clients.ts'
import { describeEnsemble } from './support/describe-ensemble.ts'
import { noWatches, serverWatches } from './support/server-watches.ts'
import { StreamLog } from './support/stream-log.ts'
import { noteOddities, WatchLog } from './support/watch-log.ts'
import { Stopwatch } from './support/stopwatch.ts'

const OF_EACH_KIND = 5_000
const PERSISTENT = 1_000
const BATCH = 500

type Change = (path: string) => ReturnType<typeof op.create | typeof op.setData | typeof op.delete>

interface Kind {
  readonly isThere: boolean
  readonly watch: (zk: ZooKeeper, path: string) => Promise<Watched>
  readonly change: Change
  /** The event that this change causes, once. */
  readonly notified: string
  /** Another watch that no caller waits for any more. */
  readonly changeAgain: Change
}

const kinds: Readonly<Record<string, Kind>> = {
  data: {
    isThere: true,
    watch: (zk, path) => zk.getDataAndWatch(path),
    change: (path) => op.setData(path, 'changed'),
    notified: 'NodeDataChanged',
    changeAgain: (path) => op.setData(path, 'changed again'),
  },
  there: {
    isThere: true,
    watch: (zk, path) => zk.existsAndWatch(path),
    change: (path) => op.delete(path),
    notified: 'NodeDeleted',
    changeAgain: (path) => op.create(path),
  },
  missing: {
    isThere: false,
    watch: (zk, path) => zk.existsAndWatch(path),
    change: (path) => op.create(path),
    notified: 'NodeCreated',
    changeAgain: (path) => op.delete(path),
  },
  children: {
    isThere: true,
    watch: (zk, path) => zk.getChildrenAndWatch(path),
    change: (path) => op.create(`${path}/one`),
    notified: 'NodeChildrenChanged',
    changeAgain: (path) => op.create(`${path}/other`),
  },
}

const singles = Object.entries(kinds).flatMap(([name, kind]) =>
  Array.from({ length: OF_EACH_KIND }, (_, index) => ({
    ...kind,
    path: `/${name}/${index}`,
    isEarly: index % 2 === 0,
  })),
)
const early = singles.filter(({ isEarly }) => isEarly)
const late = singles.filter(({ isEarly }) => !isEarly)

const persistent = Array.from({ length: 2 * PERSISTENT }, (_, index) => ({
  path: `/persistent/${index}`,
  recursive: index % 2 === 0,
}))

/** What servers keep of these: child watches of those that wait for such changes, and all persistent ones. */
const kept = {
  data: [...singles.filter(({ notified }) => notified !== 'NodeChildrenChanged'), ...persistent]
    .map(({ path }) => path)
    .sort(),
  children: OF_EACH_KIND + persistent.length,
}

const toldOf = (some: typeof singles) => some.map(({ notified, path }) => `${notified} ${path}`).sort()

describeEnsemble('many watches', (ensemble) => {
  afterEach(() => ensemble.mend())
  test(
    `ZooKeeper delivers each of ${singles.length} events once, before and after it has set its watches again (V01, V04)`,
    { timeout: 180_000 },
    async () => {
      const chroot = await newChroot(ensemble)
      const home = await ensemble.leader()
      const others = ensemble.nodes.filter((node) => node.id !== home.id)
      const ways = await Promise.all(others.map(newProxy))
      const sessionTimeout = 20 * ensemble.description.tickTime
      const zk = await newClient(ensemble, { chroot, servers: [home, ...ways], at: home, sessionTimeout })
      const { session } = zk
      const anomalies = noteOddities()
      await commit(
        zk,
        [...Object.keys(kinds), 'persistent'].map((name) => op.create(`/${name}`)),
      )
      await commit(
        zk,
        [...singles.filter(({ isThere }) => isThere), ...persistent].map(({ path }) => op.create(path)),
      )

      const log = new WatchLog()
      await watchAll(zk, log)
      const iterators = await Promise.all(persistent.map(({ path, recursive }) => zk.watch(path, { recursive })))
      const logs = iterators.map((events) => new StreamLog(events))
      expect(await serverWatches(ensemble, chroot)).toEqual(kept)

      for (const way of ways) way.freeze()
      await home.kill()
      await until('the loss', async () => session.connection === undefined)
      await ensemble.leader({ except: home })
      const other = await newClient(ensemble, { chroot, servers: others, sessionTimeout })
      await commit(
        other,
        early.map(({ change, path }) => change(path)),
      )
      expect(log.take()).toEqual([])
      const sinceThaw = new Stopwatch()
      for (const way of ways) {
        // Aborted attempts would move the session to their servers, one after the other.
        way.cut()
        way.thaw()
      }
      await caughtUp(zk)
      expect(log.take()).toEqual(toldOf(early))
      expect(sinceThaw.running).toBeLessThan(sessionTimeout)
      expect(zk.session).toBe(session)
      expect(logs.flatMap((each) => each.take())).toEqual(persistent.map(() => 'Gap reconnected'))

      const lateKept = new Set(
        late.filter(({ notified }) => notified !== 'NodeChildrenChanged').map(({ path }) => path),
      )
      const persistentKept = new Set(persistent.map(({ path }) => path))
      expect(await serverWatches(ensemble, chroot)).toEqual({
        data: kept.data.filter((path) => lateKept.has(path) || persistentKept.has(path)),
        children: OF_EACH_KIND / 2 + persistent.length,
      })

      await commit(
        other,
        early.map(({ changeAgain, path }) => changeAgain(path)),
      )
      await commit(
        other,
        late.map(({ change, path }) => change(path)),
      )
      await commit(
        other,
        persistent.map(({ path }) => op.setData(path, 'changed')),
      )
      await caughtUp(zk)
      expect(log.take()).toEqual(toldOf(late))
      expect(logs.map((each) => each.take())).toEqual(persistent.map(({ path }) => [`NodeDataChanged ${path}`]))
      expect((await serverWatches(ensemble, chroot)).data).toEqual([...persistentKept].sort())

      const watched = await watchAll(zk, log)
      expect(await serverWatches(ensemble, chroot)).toEqual(kept)
      await Promise.all(watched.map((each) => each.unwatch()))
      await Promise.all(iterators.map((events) => events.return()))
      await caughtUp(zk)
      expect(await serverWatches(ensemble, chroot)).toEqual(noWatches)
      expect(zk.session).toBe(session)
      expect(anomalies).toEqual([])
    },
  )
})

/** Requests in flight at once, as of one client. */
async function watchAll(zk: ZooKeeper, log: WatchLog): Promise<readonly Watched[]> {
  return Promise.all(singles.map(async ({ watch, path }) => log.note(await watch(zk, path))))
}

async function commit(zk: ZooKeeper, changes: readonly ReturnType<Change>[]): Promise<void> {
  for (let from = 0; from < changes.length; from += BATCH) await zk.multi(changes.slice(from, from + BATCH))
}
