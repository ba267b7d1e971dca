// What clients of several locks acquire.
import { type Op, op, type ZooKeeper } from '@zk/client'
import {
  type Acquirable,
  type AcquireOptions,
  type Held,
  type HoldOptions,
  Lock,
  type MultiHeld,
  MultiLock,
  SharedLock,
} from '@zk/recipes'
import type { LockChoice, LocksTask } from '../scenario/locks.ts'
import { lockPath } from './paths.ts'

interface Options extends HoldOptions {
  readonly detectDeadlocks?: object
}

/** With `detects` each call is a task of its own. */
export function locksOf(
  zk: ZooKeeper,
  { locks = [], taking = 'together' }: LocksTask,
  detects: boolean,
  holdOptions?: HoldOptions,
): Acquirable<Held> {
  const options: Options = { ...holdOptions, ...(detects && { detectDeadlocks: {} }) }
  if (taking === 'plain') return plainLock(zk, locks[0]!, options)
  if (taking === 'nested') return nested(locks.map((each) => plainLock(zk, each, options)))
  const paths = locks.map(({ name, mode }) =>
    mode === 'exclusive' ? lockPath(name) : ({ path: lockPath(name), mode } as const),
  )
  return new MultiLock(zk, paths, options)
}

function plainLock(zk: ZooKeeper, { name, mode }: LockChoice, options: Options): Acquirable<Held> {
  if (mode === 'exclusive') return new Lock(zk, lockPath(name), options)
  return new SharedLock(zk, lockPath(name), options)[mode]
}

/** The nodes of a hold, and the tokens of their paths. */
export function nodesAndTokens(held: Held): { readonly nodes: readonly string[]; readonly tokens: readonly bigint[] } {
  const tokens = 'fencingTokens' in held ? [...(held as MultiHeld).fencingTokens.values()] : [held.fencingToken]
  return { nodes: held.checkOps.map(({ path }) => path), tokens }
}

/** Takes one after the other, as nested calls would. */
function nested(locks: readonly Acquirable<Held>[]): Acquirable<Held> {
  const acquire = async (options?: AcquireOptions) => {
    const all: Held[] = []
    try {
      for (const lock of locks) all.push(await lock.acquire(options))
      for (const held of all) held.throwIfLost()
      return together(all)
    } catch (error) {
      for (const held of all.reverse()) held.release().catch(() => {})
      throw error
    }
  }
  const refuse = () => Promise.reject(new Error('nested locks are acquired'))
  return { acquire, tryAcquire: refuse, run: refuse }
}

/** Several holds as one. */
function together(all: readonly Held[]): Held {
  const [first] = all as [Held]
  const held: Pick<
    MultiHeld,
    'path' | 'fencingToken' | 'fencingTokens' | 'signal' | 'isHeld' | 'release' | 'checkOps'
  > & { multi: (ops: readonly Op<unknown>[]) => Promise<unknown> } = {
    path: first.path,
    fencingToken: first.fencingToken,
    fencingTokens: new Map(all.map((each) => [each.path, each.fencingToken])),
    signal: AbortSignal.any(all.map(({ signal }) => signal)),
    isHeld: () => all.every((each) => each.isHeld()),
    release: async () => {
      const releasing = await Promise.allSettled(all.map((each) => each.release()))
      for (const each of releasing) if (each.status === 'rejected') throw each.reason
    },
    checkOps: all.map(({ path }) => op.check(path)),
    multi: async (ops) => {
      const others = all.slice(1).map(({ path }) => op.check(path))
      return (await first.multi([...others, ...ops])).slice(others.length)
    },
  }
  return held as unknown as Held
}
