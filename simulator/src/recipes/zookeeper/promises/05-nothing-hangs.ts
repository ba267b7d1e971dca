import type { Check, Violation } from '../../../checks/check.ts'
import { earliest, latest } from './patience.ts'
import { storyOf } from './story.ts'
import type { Played } from '../../../history/played.ts'

/**
 * P5: nothing hangs. Every call settles by its timeout, and does not time out earlier. `connect` and `close` end by their
 * timeouts. Nothing is left: no timer, no connection, no listener on a signal, no watch at a server. Nothing fails for an
 * unexpected reason.
 */
export const nothingHangs: Check = (played) => [...lateCalls(played), ...lateEnds(played), ...leftovers(played)]

function lateCalls(played: Played): Violation[] {
  const story = storyOf(played)
  return [...story.calls.values()].flatMap(({ plan, called, settled }): Violation[] => {
    const wrong = (what: string): Violation[] => [
      { invariant: 'P5', at: settled?.at ?? called.at, what: `call ${plan.id} (${plan.op}) ${what}` },
    ]
    const at = settled?.at ?? story.over(called.client)
    if (at > latest(story, called.client, called.at, called.timeout, at)) return wrong('is not settled in time')
    const isTimeout = settled?.outcome.how === 'rejected' && settled.outcome.code === 'RequestTimeout'
    if (isTimeout && at < earliest(called.at, called.timeout)) return wrong('times out too early')
    return []
  })
}

/** Calls of `connect` and `close` that end too late. */
function lateEnds(played: Played): Violation[] {
  const story = storyOf(played)
  return played.history.flatMap((each, index): Violation[] => {
    if (each.type !== 'connecting' && each.type !== 'closing') return []
    const { client, type } = each
    const last = type === 'connecting' ? 'connected' : 'closed'
    const end = played.history.slice(index).find((other) => other.type === last && other.client === client)
    const at = end?.at ?? story.over(client)
    if (at <= latest(story, client, each.at, each.within, at)) return []
    return [{ invariant: 'P5', at, what: `client ${client} takes too long ${type}` }]
  })
}

function leftovers({ end, history }: Played): Violation[] {
  const listeners = history.reduce((sum, each) => sum + (each.type === 'listeners' ? each.count : 0), 0)
  const left = {
    listeners,
    watches: end.serverWatches,
    timers: end.timers,
    connections: end.links,
    pending: end.pending.length,
    'clients without a server': end.unconnected.length,
  }
  return [
    ...Object.entries(left)
      .filter(([, count]) => count > 0)
      .map(([what, count]) => ({ invariant: 'P5' as const, at: end.at, what: `${count} ${what} left behind` })),
    ...history.flatMap((each) =>
      each.type === 'unexpected' ? [{ invariant: 'P5' as const, at: each.at, what: each.what }] : [],
    ),
  ]
}
