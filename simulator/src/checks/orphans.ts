import type { Check, Violation } from './check.ts'
import { attemptsOf } from './attempts.ts'
import { COMMIT_ROUNDING } from './times.ts'

/**
 * I4: after `acquire` has settled without a grant, or `release` has settled, no node of the attempt stays. A release that
 * resolved has seen that its node is gone. Every other node must be gone at the end, when every living session has had time to
 * delete its nodes.
 */
export const noOrphans: Check = (played) => {
  const left: Violation[] = played.end.nodes.map((path) => ({
    invariant: 'I4',
    at: played.end.at,
    what: `${path} is left behind`,
  }))
  const early = attemptsOf(played).flatMap(({ task, granted, released }): Violation[] => {
    // They may settle while their release goes on in the background.
    if (task.how === 'run' || task.how === 'terms') return []
    if (granted === undefined || released === undefined) return []
    if (released.error !== undefined || released.isSessionOver) return []
    const end = played.log.lives.get(granted.path)?.end
    if (end !== undefined && end.at <= released.at + COMMIT_ROUNDING) return []
    return [
      { invariant: 'I4', at: released.at, what: `the release of ${granted.path} resolved, and the node was there` },
    ]
  })
  return [...left, ...early]
}

/**
 * I15: at the end nothing is left: no contender's node (see I4) and no watch at a server. After the clients are closed there
 * is no timer and no connection.
 */
export const nothingLeft: Check = ({ end }) => {
  const left = { watches: end.serverWatches, timers: end.timers, connections: end.links }
  return Object.entries(left)
    .filter(([, count]) => count > 0)
    .map(([what, count]) => ({ invariant: 'I15', at: end.at, what: `${count} ${what} left behind` }))
}
