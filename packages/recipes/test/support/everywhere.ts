import type { Moment } from './interruptible-world.ts'

/** The longest chain of promises between something received and what is done about it: 10 hops to the end of an acquire. */
const MOST_HOPS = 12

/**
 * Plays a story again and again, interrupted at one moment after the other, until it ends before the moment comes.
 * The story arms the interruption itself, and says whether the moment came before it was over. With a `stride` only every
 * so many hops.
 */
export async function atEveryMoment(story: (moment: Moment) => Promise<boolean>, { stride = 1 } = {}): Promise<number> {
  let played = 0
  for (let received = 0; ; received++) {
    let hops = 0
    for (; hops <= MOST_HOPS && (await story({ received, hops })); hops += stride) played++
    if (hops === 0) return played
  }
}

/** The same for stories that are interrupted before the n-th frame moves, for every n from 1. */
export async function atEveryFrame(story: (frame: number) => Promise<boolean>): Promise<number> {
  let frame = 1
  while (await story(frame)) frame++
  return frame - 1
}
