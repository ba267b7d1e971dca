// The addresses and names of servers. The address of a member is its name in the ensemble.
import type { AddressTarget, ListedServer } from '../scenario/fault.ts'
import type { NetworkPlan } from '../scenario/scenario.ts'

/** The address of a machine that refuses connections. */
export const CLOSED = 'closed'
/** The address of a machine that does not answer. */
export const SILENT = 'silent'

const PEERS = '2888:3888:participant'

/** A server as the configuration of the ensemble lists it. */
export function listed(server: ListedServer, members: readonly string[]): string {
  if (server === 'noPort') return `${members[0]!}:${PEERS}`
  const host = server === 'wrongPort' ? members[0]! : addressOf(server, members)
  return `${host}:${PEERS};${host}:${server === 'wrongPort' ? 2281 : 2181}`
}

export function addressOf(target: AddressTarget, members: readonly string[]): string {
  if (typeof target === 'number') return members[target]!
  return target === 'closed' ? CLOSED : SILENT
}

/** The addresses of each name in a connect string, in its order; undefined if the string has addresses and no names. */
export function namesOf(
  { names }: NetworkPlan,
  members: readonly string[],
): ReadonlyMap<string, readonly string[]> | undefined {
  if (names === undefined) return undefined
  if (names === 'one') return new Map([['zookeeper.example', members]])
  return new Map(members.map((member) => [`${member}.example`, [member]]))
}
