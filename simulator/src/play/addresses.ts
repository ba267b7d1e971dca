// The addresses and names of servers. The address of a member is its name in the ensemble.
import type { NetworkPlan } from '../scenario/scenario.ts'

/** The address of a machine that refuses connections. */
export const CLOSED = 'closed'
/** The address of a machine that does not answer. */
export const SILENT = 'silent'

/** The addresses of each name in a connect string, in its order; undefined if the string has addresses and no names. */
export function namesOf(
  { names }: NetworkPlan,
  members: readonly string[],
): ReadonlyMap<string, readonly string[]> | undefined {
  if (names === undefined) return undefined
  if (names === 'one') return new Map([['zookeeper.example', members]])
  return new Map(members.map((member) => [`${member}.example`, [member]]))
}
