// What an observation says about a server, compared with a release.
import { type Check, expectedOf, type Level } from '../clauses/index.ts'
import { RELEASES } from '../releases/index.ts'
import type { Observation } from './observe.ts'

/**
 * equal: as this release does. allowed: as another release does, or another right answer. lenient: a SHOULD or a MAY is
 * missed. differs: a MUST is missed. unsupported: a request was answered with Unimplemented. unfinished: no verdict, because
 * the check came to no end.
 */
export type Grade = 'equal' | 'allowed' | 'lenient' | 'differs' | 'unsupported' | 'unfinished'

/** The grade of what was seen, if the server should be like `release`. */
export function gradeOf(check: Check, level: Level | undefined, observation: Observation, release: string): Grade {
  const isSeen = (lines: readonly string[]): boolean =>
    lines.length === observation.seen.length && lines.every((line, index) => line === observation.seen[index])
  if (observation.unfinished === undefined) {
    if (isSeen(expectedOf(check, release))) return 'equal'
    if (check.allowed?.some(isSeen) || RELEASES.some((other) => isSeen(expectedOf(check, other)))) return 'allowed'
  }
  if (observation.isRefused) return 'unsupported'
  if (observation.unfinished !== undefined) return 'unfinished'
  return (level ?? 'MUST') === 'MUST' ? 'differs' : 'lenient'
}
