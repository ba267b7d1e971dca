// The tasks with several locks, and how they are drawn. `MultiLock` takes them together. `NestedLocks` takes plain locks one by
// one, with `detectDeadlocks`, some of them beside a `MultiLock`.
import type { Random } from '@zk/testing/internal'

/** One lock of a task. */
export interface LockChoice {
  /** The name of its path. */
  readonly name: LockName
  readonly mode: LockMode
}

export type LockMode = 'exclusive' | 'read' | 'write'

/** Two are paths of a `Lock`, two of a `SharedLock`. */
export const lockNames = ['a', 'b', 'c', 'd'] as const
export type LockName = (typeof lockNames)[number]

/** What a task has besides. */
export interface LocksTask {
  /** What it acquires, in this order. */
  readonly locks?: readonly LockChoice[]
  /** How it takes them. */
  readonly taking?: 'together' | 'plain' | 'nested'
}

function drawLock(random: Random, name: LockName): LockChoice {
  return { name, mode: name === 'a' || name === 'b' ? 'exclusive' : random.one(['read', 'write']) }
}

/** One to four locks in any order; one task of four takes a plain lock. */
export function drawLocks(random: Random): LocksTask {
  const taking = random.chance(0.25) ? 'plain' : 'together'
  return { locks: drawSome(random, taking === 'plain' ? 1 : random.between(1, lockNames.length)), taking }
}

/** Two or three locks in any order; most tasks take them one by one. */
export function drawNested(random: Random): LocksTask & { readonly how: 'acquire' } {
  const taking = random.chance(0.75) ? 'nested' : 'together'
  return { locks: drawSome(random, random.between(2, 3)), taking, how: 'acquire' }
}

function drawSome(random: Random, count: number): LockChoice[] {
  const left: LockName[] = [...lockNames]
  const names = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!)
  return names.map((name) => drawLock(random, name))
}
