// Every recipe: how tests make it, acquire it, wait for it and leave it. Tests of what recipes have in common run over these
// lists, so a new recipe is one more row in each list that concerns it:
//
// - `everyRecipe`, all of them: the options in README.md, two copies of the packages, JSON
// - `calls`, every call that takes options: a closed client, signals of other realms, the options in README.md
// - `creators`, the calls that create the path: missing parents
// - `looking`, the calls that wait for servers only: outages, timeouts, aborts
// - `waits`, the calls that wait for other programs: a timeout of 0, and the JSON of its error
// - `holdings`, what is acquired and held: aborts, losses, leaks, cost, and all else in `test/every-recipe`
import type * as recipes from '../../src/index.ts'
import {
  type Acquirable,
  Barrier,
  Counter,
  DoubleBarrier,
  Group,
  type Held,
  type HoldOptions,
  LeaderElection,
  Lock,
  Mirror,
  MultiLock,
  once,
  Semaphore,
  ServiceDiscovery,
  SharedLock,
  type ZooKeeper,
} from '../../src/index.ts'

export const PATH = '/locks/report'
/** The second path of a `MultiLock`. */
export const OTHER_PATH = '/locks/other'

/** What is acquired and held: a recipe, or one mode of it. */
export interface Holding {
  readonly name: string
  /** The call that waits until granted. */
  readonly call: CallName
  readonly make: (zk: ZooKeeper, options?: HoldOptions) => Pick<Acquirable<Held>, 'acquire'>
  /** Acquires what it waits for. */
  readonly block: (zk: ZooKeeper) => Promise<Held>
  /** Whether there is never a second holder. */
  readonly isExclusive: boolean
  /** If its contenders queue at the path, each with one node: the kind in messages, and the end of the name. */
  readonly contenders?: { readonly kind: string; readonly marker: string }
}

interface AcquirableHolding extends Holding {
  readonly make: (zk: ZooKeeper, options?: HoldOptions) => Acquirable<Held>
}

/** Those with `acquire`, `tryAcquire` and `run`. */
export const acquirables: readonly AcquirableHolding[] = [
  {
    name: 'Lock',
    call: 'Lock.acquire',
    make: (zk, options) => new Lock(zk, PATH, options),
    block: (zk) => new Lock(zk, PATH).acquire(),
    isExclusive: true,
    contenders: { kind: 'lock', marker: 'lock-' },
  },
  {
    name: 'SharedLock.read',
    call: 'SharedLock.read.acquire',
    make: (zk, options) => new SharedLock(zk, PATH, options).read,
    block: (zk) => new SharedLock(zk, PATH).write.acquire(),
    isExclusive: false,
    contenders: { kind: 'read', marker: '__READ__' },
  },
  {
    name: 'SharedLock.write',
    call: 'SharedLock.write.acquire',
    make: (zk, options) => new SharedLock(zk, PATH, options).write,
    block: (zk) => new SharedLock(zk, PATH).write.acquire(),
    isExclusive: true,
    contenders: { kind: 'write', marker: '__WRIT__' },
  },
  {
    name: 'MultiLock',
    call: 'MultiLock.acquire',
    make: (zk, options) => new MultiLock(zk, [PATH, OTHER_PATH], options),
    block: (zk) => new Lock(zk, OTHER_PATH).acquire(),
    isExclusive: true,
  },
  {
    name: 'Semaphore',
    call: 'Semaphore.acquire',
    make: (zk, options) => new Semaphore(zk, PATH, { permits: 1, ...options }),
    block: (zk) => new Semaphore(zk, PATH, { permits: 1 }).acquire(),
    isExclusive: true,
  },
]

export const holdings: readonly Holding[] = [
  ...acquirables,
  {
    name: 'LeaderElection',
    call: 'LeaderElection.campaign',
    make: (zk, options) => {
      const election = new LeaderElection(zk, PATH, options)
      return { acquire: (acquire) => election.campaign(acquire) }
    },
    block: (zk) => new LeaderElection(zk, PATH).campaign(),
    isExclusive: true,
    contenders: { kind: 'latch', marker: 'latch-' },
  },
]

/** Those whose contenders queue at the path. */
export const queued = holdings.flatMap(({ contenders, ...holding }) => (contenders ? [{ ...holding, contenders }] : []))

type Recipes = typeof recipes

/** A recipe of one copy of the packages. */
export interface Recipe {
  readonly make: (recipes: Recipes, zk: ZooKeeper, options?: object) => object
  /** Uses it once, and leaves nothing. Resolves with whether it did what it is for. */
  readonly use: (recipes: Recipes, zk: ZooKeeper) => Promise<boolean>
}

/** Every recipe, by the name of its class or function. */
export const everyRecipe: Readonly<Record<string, Recipe>> = {
  Lock: {
    make: ({ Lock }, zk, options) => new Lock(zk, PATH, options),
    use: ({ Lock }, zk) => new Lock(zk, PATH).run((held) => held.isHeld()),
  },
  SharedLock: {
    make: ({ SharedLock }, zk, options) => new SharedLock(zk, PATH, options),
    use: async ({ SharedLock }, zk) => {
      const held = await new SharedLock(zk, PATH).write.acquire()
      await (await held.downgrade()).release()
      return true
    },
  },
  MultiLock: {
    make: ({ MultiLock }, zk, options) => new MultiLock(zk, [PATH, OTHER_PATH], options),
    use: ({ MultiLock }, zk) => new MultiLock(zk, [PATH, OTHER_PATH]).run((held) => held.isHeld()),
  },
  Semaphore: {
    make: ({ Semaphore }, zk, options) => new Semaphore(zk, PATH, options),
    use: ({ Semaphore }, zk) => new Semaphore(zk, PATH, { permits: 2 }).run((held) => held.isHeld()),
  },
  LeaderElection: {
    make: ({ LeaderElection }, zk, options) => new LeaderElection(zk, PATH, options),
    use: async ({ LeaderElection }, zk) => {
      const term = await new LeaderElection(zk, PATH).campaign()
      await term.release()
      return true
    },
  },
  Group: {
    make: ({ Group }, zk, options) => new Group(zk, PATH, options),
    use: async ({ Group }, zk) => {
      const member = await new Group(zk, PATH).join({ name: 'a' })
      const { length } = await new Group(zk, PATH).members()
      await member.release()
      return length === 1
    },
  },
  ServiceDiscovery: {
    make: ({ ServiceDiscovery }, zk, options) => new ServiceDiscovery(zk, PATH, options),
    use: async ({ ServiceDiscovery }, zk) => {
      const services = new ServiceDiscovery(zk, PATH)
      const registration = await services.register({ name: 's', port: 1 })
      const { length } = await services.instances('s')
      await registration.release()
      return length === 1
    },
  },
  Mirror: {
    make: ({ Mirror }, zk, options) => new Mirror(zk, PATH, options).open(),
    use: async ({ Mirror }, zk) => {
      await zk.create('/mirrored', '1')
      const mirror = await new Mirror(zk, '/mirrored').open()
      await zk.setData('/mirrored', '2')
      await mirror.synced()
      const { text } = mirror.get('/mirrored')!
      await mirror.close()
      return text === '2'
    },
  },
  once: {
    make: ({ once }, zk, options) => once(zk, PATH, { slot: 'a', ...options }, () => {}),
    use: async ({ once }, zk) => {
      const first = await once(zk, PATH, { slot: 'b' }, () => 3)
      const { ran } = await once(zk, PATH, { slot: 'b' }, () => 4)
      return first.ran && first.result === 3 && !ran
    },
  },
  Counter: {
    make: ({ Counter }, zk, options) => new Counter(zk, PATH, options),
    use: async ({ Counter }, zk) => (await new Counter(zk, PATH).add(3n)) === 3n,
  },
  Barrier: {
    make: ({ Barrier }, zk, options) => new Barrier(zk, PATH, options),
    use: async ({ Barrier }, zk) => {
      const barrier = new Barrier(zk, PATH)
      await barrier.set()
      const waiting = barrier.wait()
      await barrier.remove()
      await waiting
      return true
    },
  },
  DoubleBarrier: {
    make: ({ DoubleBarrier }, zk, options) => new DoubleBarrier(zk, PATH, { size: 2, ...options }),
    use: async ({ DoubleBarrier }, zk) => {
      const entry = await new DoubleBarrier(zk, PATH, { size: 1 }).enter()
      await entry.leave()
      return true
    },
  },
}

const STRIDES: Readonly<Record<string, number>> = { Lock: 2, MultiLock: 3, Semaphore: 3 }

/** For `atEveryMoment`: most hops of `Lock`. The other recipes with a queue are the same beneath. */
export const strideOf = (name: string) => ({ stride: STRIDES[name.split('.')[0]!] ?? 4 })

export interface CallOptions {
  readonly timeout?: number | undefined
  readonly signal?: AbortSignal | undefined
}

type Call = (zk: ZooKeeper, options?: CallOptions) => Promise<unknown>

async function all(iterated: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of iterated);
}

/** Iterators resolve when their signal aborts. */
const named = {
  'Lock.acquire': (zk, options) => new Lock(zk, PATH).acquire(options),
  'Lock.tryAcquire': (zk, options) => new Lock(zk, PATH).tryAcquire(options),
  'Lock.run': (zk, options) => new Lock(zk, PATH).run(() => {}, options),
  'Lock.tryRun': (zk, options) => new Lock(zk, PATH).tryRun(() => {}, options),
  'Lock.contenders': (zk, options) => new Lock(zk, PATH).contenders(options),
  'SharedLock.read.acquire': (zk, options) => new SharedLock(zk, PATH).read.acquire(options),
  'SharedLock.read.tryAcquire': (zk, options) => new SharedLock(zk, PATH).read.tryAcquire(options),
  'SharedLock.read.run': (zk, options) => new SharedLock(zk, PATH).read.run(() => {}, options),
  'SharedLock.read.contenders': (zk, options) => new SharedLock(zk, PATH).read.contenders(options),
  'SharedLock.write.acquire': (zk, options) => new SharedLock(zk, PATH).write.acquire(options),
  'SharedLock.write.tryAcquire': (zk, options) => new SharedLock(zk, PATH).write.tryAcquire(options),
  'SharedLock.contenders': (zk, options) => new SharedLock(zk, PATH).contenders(options),
  'MultiLock.acquire': (zk, options) => new MultiLock(zk, [PATH, OTHER_PATH]).acquire(options),
  'Semaphore.acquire': (zk, options) => new Semaphore(zk, PATH, { permits: 1 }).acquire(options),
  'Semaphore.holders': (zk, options) => new Semaphore(zk, PATH, { permits: 1 }).holders(options),
  'LeaderElection.campaign': (zk, options) => new LeaderElection(zk, PATH).campaign(options),
  'LeaderElection.terms': (zk, options) => all(new LeaderElection(zk, PATH).terms(options)),
  'LeaderElection.leader': (zk, options) => new LeaderElection(zk, PATH).leader(options),
  'LeaderElection.contenders': (zk, options) => new LeaderElection(zk, PATH).contenders(options),
  'LeaderElection.watchLeader': (zk, options) => all(new LeaderElection(zk, PATH).watchLeader(options)),
  'Group.join': (zk, options) => new Group(zk, PATH).join({ name: 'one', ...options }),
  'Group.members': (zk, options) => new Group(zk, PATH).members(options),
  'Group.watchMembers': (zk, options) => all(new Group(zk, PATH).watchMembers(options)),
  'ServiceDiscovery.register': (zk, options) => new ServiceDiscovery(zk, PATH).register({ name: 's' }, options),
  'ServiceDiscovery.instances': (zk, options) => new ServiceDiscovery(zk, PATH).instances('s', options),
  'ServiceDiscovery.names': (zk, options) => new ServiceDiscovery(zk, PATH).names(options),
  'ServiceDiscovery.watchInstances': (zk, options) => all(new ServiceDiscovery(zk, PATH).watchInstances('s', options)),
  'Mirror.open': (zk, options) => new Mirror(zk, PATH).open(options),
  'Counter.add': (zk, options) => new Counter(zk, PATH).add(1n, options),
  'Counter.update': (zk, options) => new Counter(zk, PATH).update((value) => value + 1n, options),
  once: (zk, options) => once(zk, PATH, isRecord(options) ? { slot: 'a', ...options } : (options as never), () => {}),
  'Barrier.set': (zk, options) => new Barrier(zk, PATH).set(options),
  'Barrier.remove': (zk, options) => new Barrier(zk, PATH).remove(options),
  'Barrier.wait': (zk, options) => new Barrier(zk, PATH).wait(options),
  'DoubleBarrier.enter': (zk, options) => new DoubleBarrier(zk, PATH, { size: 1 }).enter(options),
} satisfies Record<string, Call>

export type CallName = keyof typeof named

/** Every call that takes options. */
export const calls: Readonly<Record<CallName, Call>> = named

/** Calls that create the path. */
export const creators = [
  'Counter.add',
  'Barrier.set',
  'DoubleBarrier.enter',
  'Semaphore.acquire',
] as const satisfies readonly CallName[]

/** Calls that wait for servers, and for no other program. */
export const looking = [
  'Lock.tryAcquire',
  'Lock.tryRun',
  'Lock.contenders',
  'SharedLock.read.tryAcquire',
  'SharedLock.read.contenders',
  'SharedLock.write.tryAcquire',
  'SharedLock.contenders',
  'LeaderElection.leader',
  'LeaderElection.contenders',
] as const satisfies readonly CallName[]

/** A call that waits until another program lets it go on. */
export interface Wait {
  readonly call: CallName
  /** The name of the error of a wait that has timed out. */
  readonly error: string
  /** Takes what is waited for, with another client. Resolves with how it is given back. */
  readonly take: (zk: ZooKeeper) => Promise<() => Promise<void>>
}

const waitForHolder = ({ call, block }: Pick<Holding, 'call' | 'block'>): Wait => ({
  call,
  error: 'WaitTimeoutError',
  async take(zk) {
    const held = await block(zk)
    return () => held.release()
  },
})

export const waits: readonly Wait[] = [
  ...holdings.map(waitForHolder),
  waitForHolder({ call: 'Lock.run', block: (zk) => new Lock(zk, PATH).acquire() }),
  {
    call: 'Barrier.wait',
    error: 'WaitTimeoutError',
    async take(zk) {
      const barrier = new Barrier(zk, PATH)
      await barrier.set()
      return () => barrier.remove()
    },
  },
  {
    call: 'Group.join',
    error: 'WaitTimeoutError',
    async take(zk) {
      const member = await new Group(zk, PATH).join({ name: 'one' })
      return () => member.release()
    },
  },
]

/** Whether these are options, and not what a test gives in their place. */
function isRecord(options: unknown): options is object {
  return options === undefined || (typeof options === 'object' && options !== null)
}
