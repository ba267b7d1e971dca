// What clients do with a tree and its mirrors, as data: drawn from a seed.
import type { Random } from '@zk/testing/internal'
import type { ClientPlan } from '../../scenario/scenario.ts'

export interface MirrorClient extends ClientPlan {
  readonly mirror: MirrorPlan
}

interface MirrorPlan {
  /** Writes: those of one list one after the other, the lists at the same time. */
  readonly lists: readonly (readonly TreeWrite[])[]
  /** Its mirrors, one after the other. The last one stays open. */
  readonly mirrors: readonly MirrorUse[]
}

/** Times are in ms. */
export interface MirrorUse {
  /** The pause before it is opened. */
  readonly after: number
  readonly depth?: number
  /** How long its reader works on each change. */
  readonly work: number
  /** How long it is open. @default to the end */
  readonly closesAfter?: number
}

/** A write of a node below the mirrored one; '' is the mirrored one itself. */
export interface TreeWrite {
  readonly after: number
  readonly path: string
  /**
   * `again` deletes the node and makes it again in one transaction. `branch` makes it with another one below it, `chain` with two,
   * and `chainAgain` deletes these three and makes them again, in one transaction, too.
   */
  readonly how: 'create' | 'set' | 'delete' | 'again' | 'branch' | 'chain' | 'chainAgain' | 'ephemeral'
  /** Whether the next write waits until it has settled. */
  readonly waits: boolean
}

const NAMES = ['a', 'b', 'c']
const writes = ['create', 'create', 'create', 'set', 'set', 'delete', 'again', 'branch', 'ephemeral'] as const
const chains = ['chain', 'chain', 'chainAgain', 'chainAgain', 'set', 'again', 'delete'] as const

export function drawMirror(random: Random, sessionTimeout: number): MirrorPlan {
  const isOfChains = random.chance(0.3)
  const pause = () => random.below(random.one(isOfChains ? [1, 1, 10, 10] : [1, 1, 10, 100, 1_000, sessionTimeout]))
  const anyPath = () =>
    random.chance(0.05)
      ? ''
      : Array.from({ length: random.one(isOfChains ? [1] : [1, 1, 2, 2, 3]) }, () => `/${random.one(names)}`).join('')
  const names = isOfChains ? NAMES.slice(0, 2) : NAMES
  const write = (): TreeWrite => ({
    after: pause(),
    path: anyPath(),
    how: random.one(isOfChains ? chains : writes),
    waits: random.chance(0.5),
  })
  const use = (isLast: boolean): MirrorUse => ({
    after: pause(),
    ...(random.chance(0.2) && { depth: random.between(0, 2) }),
    work: random.one([0, 0, 0, 20, 500]),
    ...(!isLast && { closesAfter: pause() }),
  })
  const uses = random.one([0, 1, 1, 1, 2])
  return {
    lists: Array.from({ length: random.between(1, 2) }, () =>
      Array.from({ length: random.between(2, 12) }, () => write()),
    ),
    mirrors: Array.from({ length: uses }, (_, index) => use(index === uses - 1)),
  }
}

/** The longest time that all of it may take, in ms, when nothing goes wrong. */
export function mirrorTime({ lists, mirrors }: MirrorPlan, sessionTimeout: number): number {
  const pauses = [
    ...lists.flat().map(({ after }) => after + 2 * sessionTimeout),
    ...mirrors.map(({ after, closesAfter = 0 }) => after + closesAfter + 4 * sessionTimeout),
  ]
  return pauses.reduce((sum, each) => sum + each, 0)
}
