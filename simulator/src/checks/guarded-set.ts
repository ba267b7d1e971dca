import { SET } from '../play/paths.ts'
import { attemptsOf } from './attempts.ts'
import type { Check, Violation } from './check.ts'

/**
 * I3: a guarded write is applied only while the node of its attempt exists, or the reader's node in its place. Entries have
 * the fence of their writer, and everything is in the order of the ensemble's log. So this also holds for zombies.
 */
export const guardedWhileHeld: Check = ({ log }) => {
  const contenders = [...log.lives.values()].filter(({ owner }) => owner !== 0n)
  return log.below(SET).flatMap((entry): Violation[] => {
    const isAlive = contenders.some(
      ({ fence, czxid, end }) =>
        fence === BigInt(entry.data) && czxid < entry.czxid && (end === undefined || end.zxid > entry.czxid),
    )
    const what = `${entry.path} was written under the fence ${entry.data}, whose node did not exist`
    return isAlive ? [] : [{ invariant: 'I3', at: entry.createdAt, what }]
  })
}

/** I3: if there is one holder at a time, the fences of entries rise. */
export const entriesRise: Check = ({ log }) => {
  const entries = log.below(SET)
  const late = entries.find((entry, index) => index > 0 && BigInt(entry.data) < BigInt(entries[index - 1]!.data))
  return late === undefined
    ? []
    : [{ invariant: 'I3', at: late.createdAt, what: `${late.path} was written after a later holder's` }]
}

/**
 * I13: replies reach their callers. A guarded write that is reported as applied made the entry that it names, with the fence
 * of its own attempt in it. No entry is reported to two callers.
 */
export const repliesMatch: Check = (played) => {
  const told = new Set<string>()
  return attemptsOf(played).flatMap(({ guarded, granted }) =>
    guarded.flatMap(({ entry, at }): Violation[] => {
      if (entry === undefined) return []
      const isTwice = told.has(entry)
      told.add(entry)
      const life = played.log.lives.get(entry)
      if (!isTwice && life !== undefined && BigInt(life.data) === granted?.fence) return []
      return [{ invariant: 'I13', at, what: `a guarded write was answered with ${entry}, which is not its own` }]
    }),
  )
}
