// Clients take one to four locks at once, in any order of paths, two of them exclusive and two shared; one task of four takes a plain
// lock.
import { Lock, type MultiHeld, MultiLock, SharedLock } from '@zk/recipes'
import { Random } from '@zk/testing/internal'
import { checksOfSeveral } from '../checks/lists.ts'
import { lockPath } from '../play/paths.ts'
import type { Task } from '../scenario/scenario.ts'
import { locked, ofHolders, withEach } from './holders/index.ts'
import { eachIsProven, oneHolderOfEach, tokensAreOfNodes } from './multi-lock-checks.ts'

/** One lock of a task. */
interface LockChoice {
  /** The name of its path. */
  readonly name: LockName
  readonly mode: 'exclusive' | 'read' | 'write'
}

/** Two are paths of a `Lock`, two of a `SharedLock`. */
const lockNames = ['a', 'b', 'c', 'd'] as const
type LockName = (typeof lockNames)[number]

/** What a task has besides. */
interface LocksTask extends Task {
  /** What it acquires. */
  readonly locks?: readonly LockChoice[]
  /** As a `MultiLock`, or as the one plain lock that it has. */
  readonly taking?: 'together' | 'plain'
}

export const multiLock = ofHolders<LocksTask>({
  kinds: ['locks'],
  ways: locked,
  drawMore(plans, seed) {
    const random = new Random(seed, 'locks')
    return { clients: plans.map((plan) => withEach<LocksTask>(plan, () => drawLocks(random))) }
  },
  acquirable(zk, { locks = [], taking = 'together', holdOptions }) {
    const [{ name, mode }] = locks as [LockChoice]
    if (taking === 'plain' && mode === 'exclusive') return new Lock(zk, lockPath(name), holdOptions)
    if (taking === 'plain' && mode !== 'exclusive') return new SharedLock(zk, lockPath(name), holdOptions)[mode]
    const paths = locks.map(({ name, mode }) =>
      mode === 'exclusive' ? lockPath(name) : ({ path: lockPath(name), mode } as const),
    )
    return new MultiLock(zk, paths, holdOptions)
  },
  details: (held) => ({
    nodes: held.checkOps.map(({ path }) => path),
    tokens: 'fencingTokens' in held ? [...(held as MultiHeld).fencingTokens.values()] : [held.fencingToken],
  }),
  paths: lockNames.map(lockPath),
  checks: [...checksOfSeveral, oneHolderOfEach, tokensAreOfNodes, eachIsProven],
})

/** One to four locks in any order; one task of four takes a plain lock. */
function drawLocks(random: Random): Pick<LocksTask, 'locks' | 'taking'> {
  const taking = random.chance(0.25) ? 'plain' : 'together'
  const count = taking === 'plain' ? 1 : random.between(1, lockNames.length)
  const left: LockName[] = [...lockNames]
  const names = Array.from({ length: count }, () => left.splice(random.below(left.length), 1)[0]!)
  return { locks: names.map((name) => drawLock(random, name)), taking }
}

function drawLock(random: Random, name: LockName): LockChoice {
  return { name, mode: name === 'a' || name === 'b' ? 'exclusive' : random.one(['read', 'write']) }
}
