import type { Moment } from './interruptible-world.ts'
import { isWholeSweep } from './sweeps.ts'

/** The longest chain of promises between something received and what is done about it: 10 hops to the end of an acquire. */
const MOST_HOPS = 12

/**
 * Plays a story again and again, interrupted at one moment after the other, until it ends before the moment comes.
 * The story arms the interruption itself, and says whether the moment came before it was over. The test
 * command plays one in `stride` hops, and other hops after the next thing received.
 */
export async function atEveryMoment(story: (moment: Moment) => Promise<boolean>, { stride = 2 } = {}): Promise<number> {
  const step = isWholeSweep ? 1 : stride
  let played = 0
  for (let received = 0; ; received++) {
    const first = received % step
    let hops = first
    for (; hops <= MOST_HOPS && (await story({ received, hops })); hops += step) played++
    if (hops === first) return played
  }
}

/** The same for stories that are interrupted before the n-th frame moves, for every n from 1. */
export async function atEveryFrame(story: (frame: number) => Promise<boolean>): Promise<number> {
  let frame = 1
  while (await story(frame)) frame++
  return frame - 1
}
