// What histories of several locks have besides those of one, and how it is drawn: `MultiLock`.
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
  /** Whether it takes one plain lock, in the lines of the others. */
  readonly isPlain?: true
}

function drawLock(random: Random, name: LockName): LockChoice {
  return { name, mode: name === 'a' || name === 'b' ? 'exclusive' : random.one(['read', 'write']) }
}

/** One to four locks in any order; one task of four takes a plain lock. */
export function drawLocks(random: Random): LocksTask {
  const isPlain = random.chance(0.25)
  const left: LockName[] = [...lockNames]
  const count = isPlain ? 1 : random.between(1, lockNames.length)
  const names = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!)
  return { locks: names.map((name) => drawLock(random, name)), ...(isPlain && { isPlain }) }
}
