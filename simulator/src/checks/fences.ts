import type { Recorded } from '../history/history.ts'
import { exclude, forcedPaths } from './attempts.ts'
import type { Check, Violation } from './check.ts'

type Grant = Extract<Recorded, { type: 'granted' }>

/**
 * I2: fences strictly rise in the order of grants, among those that exclude each other; a fence is the czxid of the node;
 * and a resource that checks fences never serves an old write after it served a later holder.
 *
 * A grant whose node an operator took away may be told late, so only the resource counts for it.
 */
export const fencesRise: Check = (played) => {
  const forced = forcedPaths(played)
  const grants = played.history.filter((each) => each.type === 'granted')
  return [
    ...outOfOrder(grants.filter(({ path }) => !forced.has(path))),
    ...wrongFences(grants, played),
    ...servedLate(played),
  ]
}

function outOfOrder(grants: readonly Grant[]): Violation[] {
  return grants.flatMap((later, index) =>
    grants
      .slice(0, index)
      .filter((earlier) => exclude(earlier.kind, later.kind) && earlier.fence >= later.fence)
      .map((earlier) => ({
        invariant: 'I2' as const,
        at: later.at,
        what: `${later.path} was granted after ${earlier.path}, whose fence is not lower`,
      })),
  )
}

function wrongFences(grants: readonly Grant[], { log }: Parameters<Check>[0]): Violation[] {
  return grants
    .filter(({ path, fence }) => log.lives.get(path)?.czxid !== fence)
    .map(({ path, fence, at }) => ({ invariant: 'I2', at, what: `${fence} is not the czxid of ${path}` }))
}

function servedLate({ history }: Parameters<Check>[0]): Violation[] {
  const granted = new Map<number, number>()
  const violations: Violation[] = []
  let latest: { readonly attempt: number; readonly order: number } | undefined
  for (const each of history) {
    if (each.type === 'granted') granted.set(each.attempt, granted.size)
    if (each.type !== 'fenced' || !each.isAccepted || each.kind === 'read') continue
    const order = granted.get(each.attempt)!
    const isLate = latest !== undefined && order < latest.order
    if (isLate) {
      const what = `a write of attempt ${each.attempt} was applied after one of attempt ${latest!.attempt}, granted later`
      violations.push({ invariant: 'I2', at: each.at, what })
    } else latest = { attempt: each.attempt, order }
  }
  return violations
}
