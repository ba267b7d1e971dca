import type { Recorded } from '../history/history.ts'
import { exclude, forcedPaths } from './attempts.ts'
import type { Check, Violation } from './check.ts'

interface Holder {
  readonly attempt: number
  readonly client: number
  readonly granted: Extract<Recorded, { type: 'granted' }>
}

/**
 * I1: held intervals of different owners never overlap in true time. An attempt holds from its grant until its signal
 * aborts. While its process stands still nobody acts on it, so that time does not count; from the moment the process has
 * dealt with what waited for it, it counts again, and before that every `isHeld()` that says true.
 *
 * Whose node an operator deleted, or whose session he ended, cannot know it in time and is left out.
 */
export const oneHolder: Check = (played) => {
  const forced = forcedPaths(played)
  const holders = new Map<number, Holder>()
  const stalled = new Set<number>()
  const violations: Violation[] = []
  const look = (one: Holder, at: number) => {
    for (const other of holders.values()) {
      if (other.attempt === one.attempt || stalled.has(other.client)) continue
      if (exclude(one.granted.kind, other.granted.kind)) violations.push(overlap(one, other, at))
    }
  }
  for (const each of played.history) {
    switch (each.type) {
      case 'granted': {
        if (forced.has(each.path)) break
        const holder = { attempt: each.attempt, client: each.client, granted: each }
        holders.set(each.attempt, holder)
        look(holder, each.at)
        break
      }
      case 'asked': {
        const holder = holders.get(each.attempt)
        if (holder !== undefined && each.isHeld) look(holder, each.at)
        break
      }
      case 'lost':
        holders.delete(each.attempt)
        break
      case 'killed':
        for (const { attempt } of of(holders, each.client)) holders.delete(attempt)
        break
      case 'stalled':
        stalled.add(each.client)
        break
      case 'awake':
        stalled.delete(each.client)
        for (const holder of of(holders, each.client)) look(holder, each.at)
        break
      default:
    }
  }
  return violations.slice(0, 1)
}

function of(holders: ReadonlyMap<number, Holder>, client: number): Holder[] {
  return [...holders.values()].filter((holder) => holder.client === client)
}

function overlap(one: Holder, other: Holder, at: number): Violation {
  const name = ({ attempt, client, granted }: Holder) =>
    `attempt ${attempt} of client ${client} (${granted.kind}, ${granted.path})`
  return { invariant: 'I1', at, what: `${name(one)} and ${name(other)} hold at once` }
}

