// What is held at each moment, in true time.
import type { Recorded } from '../history/history.ts'
import type { Played } from '../history/played.ts'

export type Grant = Extract<Recorded, { type: 'granted' }>

/** The grants that count as held at a moment, oldest first. */
interface Moment {
  readonly at: number
  readonly holds: readonly Grant[]
}

/**
 * Each moment at which a grant begins to count as held, or counts again. An attempt holds from its grant until its signal aborts.
 * While its process stands still, the attempt does nothing, so this time does not count. It counts again when the process has
 * handled what waited for it, and before that at every `isHeld()` that returns true.
 *
 * `isLeftOut` is asked at the grant: a hold without a lease cannot know in time that it has ended.
 */
export function* heldOverTime(
  { history }: Pick<Played, 'history'>,
  isLeftOut: (grant: Grant) => boolean,
): Generator<Moment> {
  const holds = new Map<number, Grant>()
  const stalled = new Set<number>()
  const moment = (at: number, asked?: Grant): Moment => ({
    at,
    holds: [...holds.values()].filter((each) => each === asked || !stalled.has(each.client)),
  })
  for (const each of history) {
    if (each.type === 'granted') {
      if (isLeftOut(each)) continue
      holds.set(each.attempt, each)
      yield moment(each.at)
    } else if (each.type === 'asked') {
      const asked = holds.get(each.attempt)
      if (each.isHeld && asked !== undefined) yield moment(each.at, asked)
    } else if (each.type === 'lost') holds.delete(each.attempt)
    else if (each.type === 'killed') {
      for (const { attempt, client } of holds.values()) if (client === each.client) holds.delete(attempt)
    } else if (each.type === 'stalled') stalled.add(each.client)
    else if (each.type === 'awake') {
      stalled.delete(each.client)
      yield moment(each.at)
    }
  }
}

/** The first two holds of which this is true. */
export function firstPair(
  holds: readonly Grant[],
  isPair: (one: Grant, other: Grant) => boolean,
): readonly [Grant, Grant] | undefined {
  for (const [index, one] of holds.entries()) {
    const other = holds.slice(index + 1).find((each) => isPair(one, each))
    if (other !== undefined) return [one, other]
  }
  return undefined
}
