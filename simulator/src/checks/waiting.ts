import { exclude, kindOfNode } from '../scenario/hold-kind.ts'
import { attemptsOf, heldOnTrust } from './attempts.ts'
import type { Check, Violation } from './check.ts'
import type { Life } from '../history/server-log.ts'

/** The uuid in the name of a contender's node: one for all nodes of an attempt in one session. */
const UUID = /_c_([0-9a-f-]{36})-/

/** I5: no attempt waits for a node of its own, made by a create whose reply was lost. */
export const noWaitForOwnNode: Check = (played) =>
  attemptsOf(played).flatMap(({ id, granted, queued }): Violation[] => {
    const own = granted && UUID.exec(granted.path)?.[1]
    if (own === undefined) return []
    const onSelf = queued.find(({ ahead }) => ahead.some((path) => UUID.exec(path)?.[1] === own))
    return onSelf === undefined ? [] : [{ invariant: 'I5', at: onSelf.at, what: `attempt ${id} waits on itself` }]
  })

/**
 * I6: after the last fault heals every waiter is granted or settled within the holds ahead of it + 2 T + 5 s. The world runs
 * exactly so long, with all planned holds and pauses counted as ahead. A worker that is not done then has waited too long. In the
 * end every client is connected, whatever lists of servers it has been given.
 */
export const everyWorkerEnds: Check = ({ end }) => [
  ...end.pending.map((worker): Violation => ({ invariant: 'I6', at: end.at, what: `${worker} is not done` })),
  ...end.unconnected.map((client): Violation => ({
    invariant: 'I6',
    at: end.at,
    what: `client ${client} has found no server`,
  })),
]

/**
 * I7: grants follow the czxid among contenders that wait. When an attempt is granted, no older contender that excludes it,
 * and that is granted later, is in the queue. (A hold without a lease may be out of the queue already, and its owner learns
 * it late.)
 */
export const inOrder: Check = (played) => {
  const onTrust = heldOnTrust(played)
  const grants = attemptsOf(played).flatMap(({ granted }) => (granted === undefined ? [] : [granted]))
  return grants.flatMap((first) =>
    grants
      .filter((second) => second.at > first.at && second.fence < first.fence && exclude(first.kind, second.kind))
      .filter(({ path }) => !onTrust.has(path))
      .map(({ path, at }) => ({ invariant: 'I7' as const, at, what: `${first.path} was granted before ${path}` })),
  )
}

/**
 * I8: an exclusive release sends one event to *other* contenders at most. It is not checked if a contender gave up, since
 * the removal of its watch may be under way, or if an operator deleted its node, and it does not know it yet. (If several may hold,
 * one release wakes all readers.)
 */
export const noHerd: Check = (played) => {
  const gaveUp = attemptsOf(played).some(({ refused }) => refused !== undefined)
  const isDisturbed = played.history.some(({ type }) => type === 'forced' || type === 'killed')
  if (gaveUp || isDisturbed) return []
  const woken = new Map<string, Set<bigint>>()
  for (const { session, path } of played.events) {
    if (played.log.lives.get(path)?.owner === session) continue
    let sessions = woken.get(path)
    if (sessions === undefined) woken.set(path, (sessions = new Set()))
    sessions.add(session)
  }
  return [...woken]
    .filter(([, sessions]) => sessions.size > 1)
    .map(([path, { size }]) => ({ invariant: 'I8', at: undefined, what: `the end of ${path} woke ${size} others` }))
}

/**
 * I9: a grant has four facts. By the time of the grant there was a place in the ensemble's log at which the node existed,
 * belonged to a session, and no older node that excludes it was left. When the contender had to wait, a check of its node was
 * committed after the last of those was gone. A node in the place of another has been proven to be first.
 */
export const grantsAreProven: Check = (played) => {
  const contenders = [...played.log.lives.values()].filter(({ owner }) => owner !== 0n)
  return attemptsOf(played).flatMap(({ granted, queued }): Violation[] => {
    if (granted === undefined) return []
    const { path, at } = granted
    const node = played.log.lives.get(path)
    if (node === undefined || node.owner === 0n) return [{ invariant: 'I9', at, what: `${path} never existed` }]
    const older = contenders.filter((other) => other.place < node.place && mayExclude(other, node))
    const last = older.reduce((max, { end }) => later(max, end), { zxid: node.czxid, at: node.createdAt })
    if (last.at > Math.ceil(at))
      return [{ invariant: 'I9', at, what: `${path} was granted while an older contender was there` }]
    if (node.end !== undefined && node.end.zxid < last.zxid) {
      return [{ invariant: 'I9', at, what: `${path} was granted, but it was gone before those ahead of it` }]
    }
    const hadToWait = queued.some((each) => each.at >= node.createdAt)
    // The node of a permit is made by the committed request that grants it.
    const isMadeByGrant = kindOfNode(path) === 'permits'
    const isChecked = played.log.checks.some(
      (check) => check.path === path && check.zxid > last.zxid && check.session === node.owner && check.at <= at,
    )
    return hadToWait && !isMadeByGrant && !isChecked
      ? [{ invariant: 'I9', at, what: `${path} was granted without a check` }]
      : []
  })
}

/** A node of no known kind counts as one that excludes. */
function mayExclude(one: Life, other: Life): boolean {
  const [kind, otherKind] = [kindOfNode(one.path), kindOfNode(other.path)]
  return kind === undefined || otherKind === undefined || exclude(kind, otherKind)
}

function later(
  one: { readonly zxid: bigint; readonly at: number },
  other: Life['end'],
): { readonly zxid: bigint; readonly at: number } {
  if (other === undefined) return { zxid: 2n ** 63n, at: Infinity }
  return other.zxid > one.zxid ? other : one
}
