import type { Recorded } from '../history/history.ts'
import { exclude } from '../scenario/scenario.ts'
import { heldOnTrust } from './attempts.ts'
import type { Check, Violation } from './check.ts'

interface Holder {
  readonly attempt: number
  readonly client: number
  readonly granted: Extract<Recorded, { type: 'granted' }>
}

/**
 * I1: held intervals of different owners never overlap in true time. An attempt holds from its grant until its signal aborts.
 * While its process stands still, the attempt does nothing, so this time does not count. It counts again when the process has
 * handled what waited for it, and before that at every `isHeld()` that returns true.
 *
 * A hold without a lease cannot know in time that it has ended, and is left out.
 */
export const oneHolder: Check = (played) => {
  const onTrust = heldOnTrust(played)
  const holders = new Map<number, Holder>()
  const stalled = new Set<number>()
  const violations: Violation[] = []
  const look = (one: Holder, at: number) => {
    for (const other of holders.values()) {
      if (other.attempt === one.attempt || stalled.has(other.client)) continue
      if (exclude(one.granted.kind, other.granted.kind)) violations.push(overlap(one, other, at))
    }
  }
  const heldBy = (client: number) => [...holders.values()].filter((holder) => holder.client === client)
  for (const each of played.history) {
    if (each.type === 'granted' && !onTrust.has(each.path)) {
      const holder = { attempt: each.attempt, client: each.client, granted: each }
      holders.set(each.attempt, holder)
      look(holder, each.at)
    } else if (each.type === 'asked' && each.isHeld) {
      const holder = holders.get(each.attempt)
      if (holder !== undefined) look(holder, each.at)
    } else if (each.type === 'lost') {
      holders.delete(each.attempt)
    } else if (each.type === 'killed') {
      for (const { attempt } of heldBy(each.client)) holders.delete(attempt)
    } else if (each.type === 'stalled') {
      stalled.add(each.client)
    } else if (each.type === 'awake') {
      stalled.delete(each.client)
      for (const holder of heldBy(each.client)) look(holder, each.at)
    }
  }
  return violations.slice(0, 1)
}

function overlap(one: Holder, other: Holder, at: number): Violation {
  const name = ({ attempt, client, granted }: Holder) =>
    `attempt ${attempt} of client ${client} (${granted.kind}, ${granted.path})`
  return { invariant: 'I1', at, what: `${name(one)} and ${name(other)} hold at once` }
}
