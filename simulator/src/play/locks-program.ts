// What clients of several locks acquire.
import type { ZooKeeper } from '@zk/client'
import { type Acquirable, type Held, type HoldOptions, Lock, type MultiHeld, MultiLock, SharedLock } from '@zk/recipes'
import type { LockChoice, LocksTask } from '../scenario/locks.ts'
import { lockPath } from './paths.ts'

export function locksOf(
  zk: ZooKeeper,
  { locks = [], isPlain }: LocksTask,
  holdOptions?: HoldOptions,
): Acquirable<Held> {
  if (isPlain) return plainLock(zk, locks[0]!, holdOptions)
  const paths = locks.map(({ name, mode }) =>
    mode === 'exclusive' ? lockPath(name) : ({ path: lockPath(name), mode } as const),
  )
  return new MultiLock(zk, paths, holdOptions)
}

function plainLock(zk: ZooKeeper, { name, mode }: LockChoice, holdOptions?: HoldOptions): Acquirable<Held> {
  if (mode === 'exclusive') return new Lock(zk, lockPath(name), holdOptions)
  return new SharedLock(zk, lockPath(name), holdOptions)[mode]
}

/** The nodes of a hold, and the tokens of their paths. */
export function nodesAndTokens(held: Held): { readonly nodes: readonly string[]; readonly tokens: readonly bigint[] } {
  const tokens = 'fencingTokens' in held ? [...(held as MultiHeld).fencingTokens.values()] : [held.fencingToken]
  return { nodes: held.checkOps.map(({ path }) => path), tokens }
}
