// The tasks with several locks, and how they are drawn.
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
  /** What it acquires. */
  readonly locks?: readonly LockChoice[]
  /** As a `MultiLock`, or as the one plain lock that it has. */
  readonly taking?: 'together' | 'plain'
}

function drawLock(random: Random, name: LockName): LockChoice {
  return { name, mode: name === 'a' || name === 'b' ? 'exclusive' : random.one(['read', 'write']) }
}

/** One to four locks in any order; one task of four takes a plain lock. */
export function drawLocks(random: Random): LocksTask {
  const taking = random.chance(0.25) ? 'plain' : 'together'
  return { locks: drawSome(random, taking === 'plain' ? 1 : random.between(1, lockNames.length)), taking }
}

function drawSome(random: Random, count: number): LockChoice[] {
  const left: LockName[] = [...lockNames]
  const names = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!)
  return names.map((name) => drawLock(random, name))
}
