// The calls of a client on one node, a request each.
import { op, type ZooKeeper } from '../../src/index.ts'

export interface Call {
  readonly name: string
  readonly make: (zk: ZooKeeper, path: string, limits: Limits) => Promise<unknown>
  readonly isWrite?: boolean
  /** The result is a `Watched` or a `NodeEvents`. */
  readonly setsWatch?: boolean
  readonly removesWatches?: boolean
}

/** How a caller gives up. */
export interface Limits {
  readonly signal?: AbortSignal
  readonly timeout?: number
}

const CREATOR = [{ perms: 31, id: { scheme: 'auth', id: '' } }]
const WORLD = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]
const READ_ONLY = [{ perms: 1, id: { scheme: 'world', id: 'anyone' } }]

const reads: readonly Call[] = [
  { name: 'getData', make: (zk, path, limits) => zk.getData(path, limits) },
  { name: 'exists', make: (zk, path, limits) => zk.exists(path, limits) },
  { name: 'getChildren', make: (zk, path, limits) => zk.getChildren(path, limits) },
  { name: 'getACL', make: (zk, path, limits) => zk.getACL(path, limits) },
  { name: 'getAllChildrenNumber', make: (zk, path, limits) => zk.getAllChildrenNumber(path, limits) },
  { name: 'getEphemerals', make: (zk, path, limits) => zk.getEphemerals(path, limits) },
  { name: 'multiRead', make: (zk, path, limits) => zk.multiRead([op.getData(path), op.getChildren(path)], limits) },
  { name: 'whoAmI', make: (zk, _, limits) => zk.whoAmI(limits) },
  { name: 'sync', make: (zk, path, limits) => zk.sync(path, limits) },
]

const watches: readonly Call[] = [
  { name: 'getDataAndWatch', make: (zk, path, limits) => zk.getDataAndWatch(path, limits) },
  { name: 'existsAndWatch', make: (zk, path, limits) => zk.existsAndWatch(path, limits) },
  { name: 'getChildrenAndWatch', make: (zk, path, limits) => zk.getChildrenAndWatch(path, limits) },
  { name: 'watch', make: (zk, path, limits) => zk.watch(path, limits) },
  { name: 'recursive watch', make: (zk, path, limits) => zk.watch(path, { ...limits, recursive: true }) },
]

const removals: readonly Call[] = [
  { name: 'removeWatches', make: (zk, path, limits) => zk.removeWatches(path, 'Any', limits) },
  { name: 'removeWatches Data', make: (zk, path, limits) => zk.removeWatches(path, 'Data', limits) },
  { name: 'removeWatches Children', make: (zk, path, limits) => zk.removeWatches(path, 'Children', limits) },
  { name: 'removeWatches Persistent', make: (zk, path, limits) => zk.removeWatches(path, 'Persistent', limits) },
]

const writes: readonly Call[] = [
  { name: 'create', make: (zk, path, limits) => zk.create(path, 'created', limits) },
  { name: 'create EPHEMERAL', make: (zk, path, limits) => zk.create(path, 'own', { mode: 'EPHEMERAL', ...limits }) },
  { name: 'create a child', make: (zk, path, limits) => zk.create(`${path}/d`, 'child', limits) },
  {
    name: 'create an EPHEMERAL child',
    make: (zk, path, limits) => zk.create(`${path}/e`, 'own child', { mode: 'EPHEMERAL', ...limits }),
  },
  {
    name: 'create a PERSISTENT_SEQUENTIAL child',
    make: (zk, path, limits) => zk.create(`${path}/s-`, 'next', { mode: 'PERSISTENT_SEQUENTIAL', ...limits }),
  },
  { name: 'delete', make: (zk, path, limits) => zk.delete(path, limits) },
  { name: 'delete a child', make: (zk, path, limits) => zk.delete(`${path}/c`, limits) },
  { name: 'setData', make: (zk, path, limits) => zk.setData(path, 'set', limits) },
  {
    name: 'setData of version 0',
    make: (zk, path, limits) => zk.setData(path, 'set first', { version: 0, ...limits }),
  },
  { name: 'setACL', make: (zk, path, limits) => zk.setACL(path, READ_ONLY, limits) },
  { name: 'setACL auth', make: (zk, path, limits) => zk.setACL(path, CREATOR, limits) },
  {
    name: 'multi',
    make: (zk, path, limits) =>
      zk.multi([op.check(path), op.setData(path, 'of multi'), op.create(`${path}/m`)], limits),
  },
  {
    name: 'multi that fails',
    make: (zk, path, limits) => zk.multi([op.create(`${path}/m`), op.check(path, { version: 7 })], limits),
  },
  {
    name: 'multi that replaces',
    make: (zk, path, limits) => zk.multi([op.delete(path), op.create(path, 'again', { acl: WORLD })], limits),
  },
]

const credentials: readonly Call[] = [
  { name: 'addAuth', make: (zk, _, limits) => zk.addAuth('digest', 'user:secret', limits) },
]

export const calls: readonly Call[] = [
  ...reads,
  ...watches.map((call) => ({ ...call, setsWatch: true })),
  ...removals.map((call) => ({ ...call, removesWatches: true })),
  ...writes.map((call) => ({ ...call, isWrite: true })),
  ...credentials,
]
