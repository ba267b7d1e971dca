// Two events at two moments of a story.
import { Random } from '@zk/testing/internal'
import { type EventName, eventNames, events, PATIENCE } from './event.ts'
import { type Story, StoryWorld, T } from './story-world.ts'

export interface Pair {
  readonly first: EventName
  readonly at: number
  readonly second: EventName
  /** How many moments after the first one. */
  readonly after: number
}

/** A second event may come this many moments after the last one of an undisturbed story: the first one makes stories longer. */
const LONGER = 12

/** What goes wrong in a story with these two events. */
export function tellWith(story: Story, pairs: Pair | undefined): Promise<readonly string[]> {
  return worldOf(story, pairs).tell()
}

function worldOf(story: Story, pair: Pair | undefined): StoryWorld {
  const reachesLimit = pair?.first === 'timeout' || pair?.second === 'timeout'
  const plan = (world: StoryWorld) => {
    const plan = new Map<number, (() => void)[]>()
    const add = (moment: number, name: EventName) => {
      plan.set(moment, [...(plan.get(moment) ?? []), () => events[name](world)])
    }
    if (pair !== undefined) {
      add(pair.at, pair.first)
      add(pair.at + pair.after, pair.second)
    }
    return plan
  }
  return new StoryWorld(story, 1, plan, reachesLimit ? PATIENCE * T : undefined)
}

/** All pairs of events at all pairs of moments. */
export async function* everyPair(story: Story): AsyncGenerator<Pair> {
  const world = worldOf(story, undefined)
  await world.tell()
  for (let at = 0; at < world.moments; at++) {
    for (let after = 0; after < world.moments - at + LONGER; after++) {
      for (const first of eventNames) for (const second of eventNames) yield { first, at, second, after }
    }
  }
}

/** How many moments it takes at most to recover from a cut. */
const RECOVERY = 14

/**
 * A cut in the second half of a story, at a moment that is drawn, and every event that is not a mere fault at each moment of
 * the recovery.
 */
export async function whileRecovering(story: Story, seed: number): Promise<Pair[]> {
  const world = worldOf(story, undefined)
  await world.tell()
  const random = new Random(seed, `recovery of ${story.name}`)
  const at = random.between(Math.floor(world.moments / 2), world.moments - 1)
  const afters = Array.from({ length: RECOVERY }, (_, after) => after)
  return afters.flatMap((after) =>
    (['cut', 'timeout', ...endings, ...foreign] as const).map((second): Pair => ({ first: 'cut', at, second, after })),
  )
}

/**
 * At each moment: a throttled request, and an abort before it is answered. What the abort sends is executed before the
 * repeated request.
 */
export async function abortedWhileThrottled(story: Story): Promise<Pair[]> {
  const world = worldOf(story, undefined)
  await world.tell()
  return Array.from({ length: world.moments }, (_, at) => ({ first: 'throttle', at, second: 'abort', after: 0 }))
}

/** So many of them, drawn. Half of the events lose something, often the connection; most pairs have little between them. */
export async function drawnPairs(story: Story, seed: number, count: number): Promise<Pair[]> {
  const world = worldOf(story, undefined)
  await world.tell()
  const random = new Random(seed, `pairs of ${story.name}`)
  const event = () => random.one(random.one([losses, losses, endings, foreign]))
  return Array.from({ length: count }, () => {
    const at = random.below(world.moments)
    const after = random.below(random.one([1, 4, 12, world.moments - at + LONGER]))
    return { first: event(), at, second: event(), after }
  })
}

const losses = ['cut', 'cut', 'cut', 'cutUp', 'cutDown', 'silence', 'lostReply', 'lostRequest', 'throttle'] as const
const endings = ['expire', 'abort', 'release', 'close'] as const
const foreign = ['foreignWrite', 'foreignDelete', 'foreignCreate'] as const
