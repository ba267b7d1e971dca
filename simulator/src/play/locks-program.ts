// What clients of several locks acquire.
import type { ZooKeeper } from '@zk/client'
import { type Acquirable, type Held, type HoldOptions, Lock, type MultiHeld, MultiLock, SharedLock } from '@zk/recipes'
import type { LockChoice, LocksTask } from '../scenario/locks.ts'
import { lockPath } from './paths.ts'

export function locksOf(
  zk: ZooKeeper,
  { locks = [], taking = 'together' }: LocksTask,
  options?: HoldOptions,
): Acquirable<Held> {
  if (taking === 'plain') return plainLock(zk, locks[0]!, options)
  const paths = locks.map(({ name, mode }) =>
    mode === 'exclusive' ? lockPath(name) : ({ path: lockPath(name), mode } as const),
  )
  return new MultiLock(zk, paths, options)
}

function plainLock(zk: ZooKeeper, { name, mode }: LockChoice, options?: HoldOptions): Acquirable<Held> {
  if (mode === 'exclusive') return new Lock(zk, lockPath(name), options)
  return new SharedLock(zk, lockPath(name), options)[mode]
}

/** The nodes of a hold, and the tokens of their paths. */
export function nodesAndTokens(held: Held): { readonly nodes: readonly string[]; readonly tokens: readonly bigint[] } {
  const tokens = 'fencingTokens' in held ? [...(held as MultiHeld).fencingTokens.values()] : [held.fencingToken]
  return { nodes: held.checkOps.map(({ path }) => path), tokens }
}
