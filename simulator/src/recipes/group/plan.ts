// What clients do with a group, as data: drawn from a seed.
import type { Random } from '@zk/testing/internal'
import type { ClientPlan } from '../../scenario/scenario.ts'

export interface GroupClient extends ClientPlan {
  readonly group: GroupPlan
}

interface GroupPlan {
  /** Memberships: those of one list one after the other, the lists at the same time. */
  readonly lists: readonly (readonly MemberPlan[])[]
  /** Whether it follows the members, and how long its loop works on each list, in ms. */
  readonly observes?: number
}

/** Join, write, leave; times are in ms. */
export interface MemberPlan {
  readonly name: string
  /** The pause before it. */
  readonly after: number
  readonly timeout?: number
  /** How long after the call of `join` its signal aborts. */
  readonly abortAfter?: number
  readonly updates: readonly UpdatePlan[]
  /** The pause before it leaves. @default it stays, and so does nothing else of its list */
  readonly leavesAfter?: number
}

export interface UpdatePlan {
  readonly after: number
  /** Whether the next thing is done only when it has settled. */
  readonly waits: boolean
}

export function drawGroup(random: Random, client: number, sessionTimeout: number): GroupPlan {
  const pause = () => random.below(random.one([1, 10, 100, 1_000, sessionTimeout]))
  // Two clients may want one name.
  const nameOf = (list: number) => `member-${String(random.chance(0.2) ? 99 : 10 * client + list).padStart(10, '0')}`
  const one = (name: string): MemberPlan => ({
    name,
    after: pause(),
    ...(random.chance(0.2) && { timeout: random.below(2 * sessionTimeout) }),
    ...(random.chance(0.15) && { abortAfter: pause() }),
    updates: Array.from({ length: random.between(0, 3) }, () => ({ after: pause(), waits: random.chance(0.7) })),
    ...(random.chance(0.6) && { leavesAfter: pause() }),
  })
  const list = (_: unknown, index: number) => {
    const name = nameOf(index)
    return Array.from({ length: random.between(1, 3) }, () => one(name))
  }
  return {
    lists: Array.from({ length: random.between(1, 2) }, list),
    ...(random.chance(0.7) && { observes: random.one([0, 0, 20, 500]) }),
  }
}

/** The longest time that all of it may take, in ms, when nothing goes wrong. */
export function groupTime({ lists }: GroupPlan, sessionTimeout: number): number {
  const lives = lists.flat()
  const pauses = lives.flatMap(({ after, updates, leavesAfter = 0 }) => [
    after,
    leavesAfter,
    ...updates.map((each) => each.after),
  ])
  const calls = lives.reduce((sum, { updates }) => sum + 3 + updates.length, 0)
  return pauses.reduce((sum, each) => sum + each, calls * sessionTimeout)
}
