import type { AttemptedTask } from '../history/history.ts'
import { attemptsOf, killedClients } from './attempts.ts'
import type { Played } from '../history/played.ts'
import { longestTimeout } from '../scenario/scenario.ts'
import type { Check, Violation } from './check.ts'
import { latestEnd } from './times.ts'

/** I10: an acquire that was aborted or timed out never holds. */
export const refusedIsRefused: Check = (played) =>
  attemptsOf(played)
    .filter(({ granted, refused, task }) => granted !== undefined && refused !== undefined && task.how !== 'terms')
    .map(({ id, refused }) => ({ invariant: 'I10', at: refused!.at, what: `attempt ${id} was granted and refused` }))

/** I11: once the signal has aborted, or `isHeld()` was false, it is never true again for that grant. */
export const lostIsLost: Check = (played) => {
  const over = new Set<number>()
  const violations: Violation[] = []
  for (const each of played.history) {
    if (each.type === 'lost' || (each.type === 'asked' && !each.isHeld)) over.add(each.attempt)
    if (each.type === 'asked' && each.isHeld && over.has(each.attempt)) {
      violations.push({ invariant: 'I11', at: each.at, what: `attempt ${each.attempt} holds again after it was lost` })
    }
  }
  return violations
}

/**
 * I12: every promise settles once, and in time. An attempt has one outcome. An acquire with a timeout or an aborted signal
 * rejects by then. A call that waits for servers only settles within the session timeout. It may be late by the time that its
 * process stood still. A rejection has a cause in the history.
 */
export const settledInTime: Check = (played) => {
  const killed = killedClients(played)
  const unexpected = played.history.flatMap((each): Violation[] =>
    each.type === 'unexpected' ? [{ invariant: 'I12', at: each.at, what: each.what }] : [],
  )
  const ofAttempts = attemptsOf(played).flatMap(
    ({ id, client, at, task, granted, refused, times, done }): Violation[] => {
      const wrong = (what: string): Violation[] => [
        { invariant: 'I12', at: refused?.at, what: `attempt ${id} ${what}` },
      ]
      if (times.granted > 1 || times.refused > 1 || times.released > 1 || times.lost > 1) return wrong('settled twice')
      if (done !== undefined && granted === undefined && refused === undefined) return wrong('came to no end')
      if (refused?.why === 'error' && !mayFail(played, task, refused.error)) return wrong(`failed: ${refused.error}`)
      const timeout = waitsForServersOnly(task.how, task.timeout) ? longestGranted(played) : task.timeout
      const limit = Math.min(timeout ?? Infinity, task.abortAfter ?? Infinity)
      const by = latestEnd(played, at, limit)
      const settled = granted?.at ?? refused?.at ?? (killed.has(client) ? 0 : played.end.at)
      return settled > by ? wrong(`settled ${settled - by} ms too late`) : []
    },
  )
  return [...unexpected, ...ofAttempts]
}

const waitsForServersOnly = (how: AttemptedTask['how'], timeout?: number) =>
  how === 'tryAcquire' || how === 'downgrade' || timeout === 0

/** A call that waits for servers only does not queue in the next session. */
function mayFail({ scenario }: Played, { how, label }: AttemptedTask, error = ''): boolean {
  if (label !== undefined && /jute\.maxbuffer/.test(error)) return true
  // Another client has changed the number of permits, or an operator has deleted it.
  if (scenario.semaphore?.isStored && /RecipeError|RangeError: count/.test(error)) return true
  return waitsForServersOnly(how) && /SessionExpired|LostError|RequestTimeout/.test(error)
}

/** The longest timeout that a session may have, in ms. Servers grant at least two ticks. */
function longestGranted({ scenario }: Played): number {
  return Math.max(2 * scenario.ensemble.tickTime, longestTimeout(scenario))
}
