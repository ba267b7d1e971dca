// One request each, all on one node: whatever one does to a node, the next one meets.
import { type NodeEvents, op, type Watched, type ZooKeeper } from '../../src/index.ts'
import { describeEvent } from '../watching/watching.ts'

export const PATH = '/n'

export interface Call {
  readonly name: string
  readonly make: (zk: ZooKeeper, limits: Limits, received: Received) => Promise<unknown>
  readonly isWrite?: boolean
  readonly setsWatch?: boolean
  readonly removesWatches?: boolean
}

/** Returns the list of what a new watcher receives. */
export type Received = (kind: string) => string[]

/** How a caller gives up. */
export interface Limits {
  readonly signal?: AbortSignal
  readonly timeout?: number
}

const CREATOR = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
const WORLD = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const READ_ONLY = [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]

const reads: readonly Call[] = [
  { name: 'getData', make: (zk, limits) => zk.getData(PATH, limits) },
  { name: 'exists', make: (zk, limits) => zk.exists(PATH, limits) },
  { name: 'getChildren', make: (zk, limits) => zk.getChildren(PATH, limits) },
  { name: 'getACL', make: (zk, limits) => zk.getACL(PATH, limits) },
  { name: 'getAllChildrenNumber', make: (zk, limits) => zk.getAllChildrenNumber(PATH, limits) },
  { name: 'getEphemerals', make: (zk, limits) => zk.getEphemerals(PATH, limits) },
  { name: 'multiRead', make: (zk, limits) => zk.multiRead([op.getData(PATH), op.getChildren(PATH)], limits) },
  { name: 'whoAmI', make: (zk, limits) => zk.whoAmI(limits) },
  { name: 'sync', make: (zk, limits) => zk.sync(PATH, limits) },
]

const watches: readonly Call[] = [
  {
    name: 'getDataAndWatch',
    make: async (zk, limits, received) => oneShot('data', await zk.getDataAndWatch(PATH, limits), received),
  },
  {
    name: 'existsAndWatch',
    make: async (zk, limits, received) => oneShot('exist', await zk.existsAndWatch(PATH, limits), received),
  },
  {
    name: 'getChildrenAndWatch',
    make: async (zk, limits, received) => oneShot('children', await zk.getChildrenAndWatch(PATH, limits), received),
  },
  {
    name: 'watch',
    make: async (zk, limits, received) => follow('persistent', await zk.watch(PATH, limits), received),
  },
  {
    name: 'recursive watch',
    make: async (zk, limits, received) =>
      follow('recursive', await zk.watch(PATH, { ...limits, recursive: true }), received),
  },
]

const removals: readonly Call[] = [
  { name: 'removeWatches', make: (zk, limits) => zk.removeWatches(PATH, 'Any', limits) },
  { name: 'removeWatches Data', make: (zk, limits) => zk.removeWatches(PATH, 'Data', limits) },
  { name: 'removeWatches Children', make: (zk, limits) => zk.removeWatches(PATH, 'Children', limits) },
  { name: 'removeWatches Persistent', make: (zk, limits) => zk.removeWatches(PATH, 'Persistent', limits) },
]

const writes: readonly Call[] = [
  { name: 'create', make: (zk, limits) => zk.create(PATH, 'created', limits) },
  { name: 'create EPHEMERAL', make: (zk, limits) => zk.create(PATH, 'own', { mode: 'EPHEMERAL', ...limits }) },
  { name: 'create a child', make: (zk, limits) => zk.create(`${PATH}/d`, 'child', limits) },
  {
    name: 'create an EPHEMERAL child',
    make: (zk, limits) => zk.create(`${PATH}/e`, 'own child', { mode: 'EPHEMERAL', ...limits }),
  },
  {
    name: 'create a PERSISTENT_SEQUENTIAL child',
    make: (zk, limits) => zk.create(`${PATH}/s-`, 'next', { mode: 'PERSISTENT_SEQUENTIAL', ...limits }),
  },
  { name: 'delete', make: (zk, limits) => zk.delete(PATH, limits) },
  { name: 'delete a child', make: (zk, limits) => zk.delete(`${PATH}/c`, limits) },
  { name: 'setData', make: (zk, limits) => zk.setData(PATH, 'set', limits) },
  { name: 'setData of version 0', make: (zk, limits) => zk.setData(PATH, 'set first', { version: 0, ...limits }) },
  { name: 'setACL', make: (zk, limits) => zk.setACL(PATH, READ_ONLY, limits) },
  { name: 'setACL auth', make: (zk, limits) => zk.setACL(PATH, CREATOR, limits) },
  {
    name: 'multi',
    make: (zk, limits) => zk.multi([op.check(PATH), op.setData(PATH, 'of multi'), op.create(`${PATH}/m`)], limits),
  },
  {
    name: 'multi that fails',
    make: (zk, limits) => zk.multi([op.create(`${PATH}/m`), op.check(PATH, { version: 7 })], limits),
  },
  {
    name: 'multi that replaces',
    make: (zk, limits) => zk.multi([op.delete(PATH), op.create(PATH, 'again', { acl: WORLD })], limits),
  },
]

const credentials: readonly Call[] = [
  { name: 'addAuth', make: (zk, limits) => zk.addAuth('digest', 'user:secret', limits) },
]

export const calls: readonly Call[] = [
  ...reads,
  ...watches.map((call) => ({ ...call, setsWatch: true })),
  ...removals.map((call) => ({ ...call, removesWatches: true })),
  ...writes.map((call) => ({ ...call, isWrite: true })),
  ...credentials,
]

function oneShot<Answer extends Watched>(kind: string, { changed, unwatch, ...answer }: Answer, received: Received) {
  const events = received(kind)
  changed.then(
    (event) => events.push(JSON.stringify(event, plain)),
    (error: unknown) => events.push(String(error)),
  )
  return answer
}

function follow(kind: string, watch: NodeEvents, received: Received): string {
  const events = received(kind)
  const loop = async () => {
    for await (const event of watch) events.push(describeEvent(event))
    events.push('ended')
  }
  loop().catch((error: unknown) => events.push(String(error)))
  return 'watched'
}

/** As text. The times of nodes are left out: the worlds that are compared differ in them. */
export function plain(key: string, value: unknown): unknown {
  if (key === 'ctime' || key === 'mtime') return undefined
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Uint8Array) return Buffer.from(value).toString()
  return value
}
