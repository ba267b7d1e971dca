import type { Recorded } from '../history/history.ts'
import type { Played } from '../history/played.ts'
import { exclude, isShared } from '../scenario/hold-kind.ts'
import { heldOnTrust } from './attempts.ts'
import type { Check, Violation } from './check.ts'

type Grant = Extract<Recorded, { type: 'granted' }>

/**
 * I2: fences strictly rise in the order of grants, among contenders that exclude each other. A fence is the czxid of the
 * node, or of the writer's node whose place it has. A resource that checks fences never serves an old write after it served a
 * later holder.
 *
 * A grant without a lease may be reported late, so only the resource counts for it.
 */
export const fencesRise: Check = (played) => {
  const onTrust = heldOnTrust(played)
  const grants = played.history.filter((each) => each.type === 'granted')
  return [
    ...outOfOrder(
      grants.filter(({ path }) => !onTrust.has(path)),
      played,
    ),
    ...wrongFences(grants, played),
    ...servedLate(played),
  ]
}

function outOfOrder(grants: readonly Grant[], { log }: Parameters<Check>[0]): Violation[] {
  return grants.flatMap((later, index) =>
    grants
      .slice(0, index)
      .filter((earlier) => exclude(earlier.kind, later.kind) && earlier.fence >= later.fence)
      .filter((earlier) => !isInPlaceOf(earlier, later, log))
      .map((earlier) => ({
        invariant: 'I2' as const,
        at: later.at,
        what: `${later.path} was granted after ${earlier.path}, whose fence is not lower`,
      })),
  )
}

/** Whether a writer went on as this reader. */
function isInPlaceOf(writer: Grant, reader: Grant, { lives }: Played['log']): boolean {
  const end = lives.get(writer.path)?.end
  return writer.fence === reader.fence && end !== undefined && end.zxid === lives.get(reader.path)?.czxid
}

function wrongFences(grants: readonly Grant[], { log }: Parameters<Check>[0]): Violation[] {
  return grants
    .filter(({ path, fence }) => log.lives.get(path)?.fence !== fence)
    .map(({ path, fence, at }) => ({ invariant: 'I2', at, what: `${fence} is not the fence of ${path}` }))
}

/** Ordered by the age of their nodes in the ensemble: a grant may be reported late. */
function servedLate({ history, log }: Parameters<Check>[0]): Violation[] {
  const ages = new Map<number, bigint>()
  const violations: Violation[] = []
  let latest: { readonly attempt: number; readonly age: bigint } | undefined
  for (const each of history) {
    if (each.type === 'granted') ages.set(each.attempt, log.lives.get(each.path)?.place ?? 0n)
    if (each.type !== 'fenced' || !each.isAccepted || isShared(each.kind)) continue
    const { attempt } = each
    const age = ages.get(attempt)!
    if (latest !== undefined && age < latest.age) {
      const what = `a write of attempt ${attempt} was applied after one of attempt ${latest.attempt}, a later holder`
      violations.push({ invariant: 'I2', at: each.at, what })
    } else latest = { attempt, age }
  }
  return violations
}
