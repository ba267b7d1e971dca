// A short story of each recipe. Whatever happens at two of its moments, its promises hold.
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { KeeperError, type ZooKeeper } from '@zk/client'
import {
  type AcquireOptions,
  Counter,
  DoubleBarrier,
  Group,
  type Held,
  LeaderElection,
  Lock,
  Mirror,
  MultiLock,
  once,
  type QueuePlace,
  Semaphore,
  SharedLock,
  type WriteHeld,
  type OpenMirror,
} from '@zk/recipes'
import { type Story, type StoryWorld, T } from './story-world.ts'

const PATH = '/story'

const childrenOf = ({ model }: StoryWorld, path: string) =>
  (model.nodes.get(path)?.children ?? []).map((name) => `${path}/${name}`)

/** The record of `once`. */
const RECORD = `${PATH}/done`
const contendersOf = (world: StoryWorld) => childrenOf(world, PATH).filter((path) => path !== RECORD)

/** A recipe that acquires, holds for a while and releases. */
function holding(
  name: string,
  folders: readonly string[],
  acquire: (zk: ZooKeeper, options: StoryWorld['limits'] & Pick<AcquireOptions, 'onQueued'>) => Promise<Held>,
  during: (world: StoryWorld, held: Held) => Promise<Held | undefined> = async (_, held) => Promise.resolve(held),
): Story {
  const nodes = (world: StoryWorld) => folders.flatMap((folder) => childrenOf(world, folder))
  return {
    name,
    node: (world) => nodes(world)[0],
    async tell(world, zk) {
      // Stories are told one at a time. So every report is of this one.
      const ended = new Set<unknown>()
      const reports: readonly [string, (report: unknown) => void][] = [
        ['zk:released', (report) => ended.add((report as { node: string }).node)],
        ['zk:lost', (report) => ended.add((report as { node: string }).node)],
        [
          'zk:resumed',
          (report) => ended.has((report as { node: string }).node) && world.wrong.push('resumed after its end'),
        ],
      ]
      for (const [channel, take] of reports) subscribe(channel, take)
      try {
        // No other client acquires.
        const onQueued = ({ ahead }: QueuePlace) => world.wrong.push(`queued behind ${ahead.join(', ')}`)
        const first = await world.attempt(acquire(zk, { ...world.limits, onQueued }))
        if (first === undefined) return
        const held = await during(world, first)
        await Promise.race([world.released, world.pause(T)])
        if (held === undefined) return
        await world.attempt(held.release())
        if (held.isHeld()) world.wrong.push('held after the release')
      } finally {
        for (const [channel, take] of reports) unsubscribe(channel, take)
      }
    },
    errors: ['LostError', 'WaitTimeoutError'],
    left: nodes,
  }
}

const mirrors = new WeakMap<StoryWorld, { readonly mirror: OpenMirror; wasFresh: boolean }>()

/** A mirror that is fresh shows all that was committed before its connection began. */
function mirrorIsFresh(world: StoryWorld): string | undefined {
  const open = mirrors.get(world)
  if (open === undefined) return undefined
  const { mirror } = open
  if (mirror.isStale) {
    open.wasFresh = false
    return undefined
  }
  if (world.zk!.session.connection === undefined) return 'a mirror is fresh without a connection'
  if (open.wasFresh) return undefined
  open.wasFresh = true
  const handshake = world.model.history.entries.findLast(
    (each) => 'message' in each && each.message.type === 'connected',
  )
  for (const [path, { zxid, isThere }] of world.changesBy(handshake?.at ?? 0)) {
    const shown = mirror.get(path)
    const isOld = isThere ? (shown?.stat.mzxid ?? 0n) < zxid : shown !== undefined && shown.stat.czxid < zxid
    const isGoneSince = isThere && shown === undefined && world.model.nodes.get(path) === undefined
    if (isOld && !isGoneSince) return `a mirror is fresh, and shows ${path} as it was before its connection began`
  }
  return undefined
}

export const stories: readonly Story[] = [
  holding('Lock', [PATH], (zk, options) => new Lock(zk, PATH).acquire(options)),
  holding('LeaderElection', [PATH], (zk, options) => new LeaderElection(zk, PATH).campaign(options)),
  holding(
    'SharedLock',
    [PATH],
    (zk, options) => new SharedLock(zk, PATH).write.acquire(options),
    (world, held) => world.attempt((held as WriteHeld).downgrade(world.limits)),
  ),
  holding('MultiLock', [`${PATH}/a`, `${PATH}/b`], (zk, options) =>
    new MultiLock(zk, [`${PATH}/a`, `${PATH}/b`]).acquire(options),
  ),
  holding('Semaphore', [`${PATH}/leases`, `${PATH}/locks`], (zk, options) =>
    new Semaphore(zk, PATH, { permits: 2 }).acquire({ ...options, count: 2 }),
  ),
  {
    name: 'Semaphore.resize',
    node: () => PATH,
    async tell(world, zk) {
      const semaphore = new Semaphore(zk, PATH, { permits: 2 })
      for (const permits of [2, 3]) {
        const resizing = semaphore.resize(permits, world.limits).then(() => true)
        let isRefused = false
        const isDone = await world.attempt(resizing, (error) => {
          isRefused = KeeperError.is(error, 'RequestTimeout') && !error.outcomeUnknown
        })
        const isStored = world.log.some(({ txn }) => 'data' in txn && txn.path === PATH && txn.data?.at(-1) === permits)
        if (isRefused && isStored) world.wrong.push('resize says that it was not sent, and its number is stored')
        // If an answer was lost, another change may have come after this one.
        if (isDone && !isStored && world.connections === 1) world.wrong.push('resize resolved, and stored nothing')
      }
    },
  },
  {
    name: 'Counter',
    node: () => PATH,
    async tell(world, zk) {
      const counter = new Counter(zk, PATH)
      const options = world.limits
      const [one, other] = await Promise.all([
        world.attempt(counter.add(1n, options)),
        world.attempt(counter.update((value) => value + 4n, options)),
      ])
      if (one !== undefined && one === other) world.wrong.push('two changes have one result')
    },
    left: (world) => childrenOf(world, PATH),
  },
  {
    name: 'once',
    node: (world) => contendersOf(world)[0],
    async tell(world, zk) {
      let runs = 0
      let isOpen = false
      const body = async () => {
        runs++
        await Promise.race([world.released, world.pause(T / 2)])
      }
      const call = await world.attempt(once(zk, PATH, { slot: 'a', ...world.limits }, body), (error) => {
        isOpen = KeeperError.is(error) && error.outcomeUnknown
      })
      const isRecorded = world.model.nodes.get(RECORD) !== undefined
      if (call?.ran === true && !isRecorded) world.wrong.push('once says that it ran, and nothing is recorded')
      if (call === undefined && isRecorded && !isOpen) world.wrong.push('once rejected, and its run is recorded')
      if (runs > 1) world.wrong.push('once ran its body twice')
    },
    errors: ['LostError', 'WaitTimeoutError'],
    left: contendersOf,
  },
  {
    name: 'Group',
    node: () => `${PATH}/me`,
    beside: (nth) => `${PATH}/other-${nth}`,
    async tell(world, zk) {
      const joining = new Group(zk, PATH).join({ name: 'me', data: 'a', ...world.limits })
      const membership = await world.attempt(joining)
      if (membership === undefined) return
      await world.attempt(membership.update('b'))
      await Promise.race([world.released, world.pause(T / 2)])
      await world.attempt(membership.release())
    },
    errors: ['LostError', 'WaitTimeoutError'],
    left: (world) => childrenOf(world, PATH).filter((path) => path.endsWith('/me')),
  },
  {
    name: 'DoubleBarrier',
    node: (world) => childrenOf(world, PATH)[0],
    async tell(world, zk) {
      const barrier = new DoubleBarrier(zk, PATH, { size: 1 })
      const entry = await world.attempt(barrier.enter({ timeout: 4 * T, ...world.limits }))
      if (entry === undefined) return
      await Promise.race([world.released, world.pause(T / 2)])
      await world.attempt(entry.leave({ timeout: 4 * T }))
    },
    errors: ['WaitTimeoutError'],
    left: (world) => childrenOf(world, PATH).filter((path) => !path.endsWith('/ready')),
  },
  {
    name: 'Mirror',
    node: () => `${PATH}/a`,
    beside: (nth) => `${PATH}/b${nth}`,
    async tell(world, zk) {
      world.model.nodes.create(`${PATH}/a`)
      const mirror = await world.attempt(new Mirror(zk, PATH).open({ signal: world.limits.signal }))
      if (mirror === undefined) return
      mirrors.set(world, { mirror, wasFresh: false })
      await Promise.race([world.released, world.pause(3 * T)])
      mirrors.delete(world)
      await world.attempt(mirror.close())
    },
    look: mirrorIsFresh,
  },
]
