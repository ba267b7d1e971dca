// Requests that halt a whole ensemble of some releases: it commits no more until another leader is elected.

import { hasReached, isBefore } from './version.ts'

export interface Halt {
  /** The first affected release of each line. */
  readonly since?: readonly string[]
  /** All releases before this one are affected. */
  readonly before?: string
  readonly why: string
}

/** Whether the scenario would halt servers of this release. */
export function isStopped(release: string, { since, before }: Halt): boolean {
  return (since !== undefined && hasReached(release, since)) || (before !== undefined && isBefore(release, before))
}

/** For a scenario with quota limits that cannot be read. */
export const unreadableLimits: Halt = {
  before: '3.7',
  why:
    'Limits of a quota that cannot be read stop a server before 3.7: DataTree.updateCount reads them when a create is ' +
    'applied, and nothing catches the exception of StatsTrack.',
}

/** For a scenario with a write whose body cannot be read. */
export const unreadableWrites: Halt = {
  since: ['3.9.0'],
  why:
    'A write that cannot be read stops an ensemble from 3.9.0 on: PrepRequestProcessor turns it into an error with the ' +
    'zxid of the last transaction (ZOOKEEPER-4575), which the followers do not wait for any more.',
}

/** For a scenario with a multi that creates a node with a null list of ACLs. */
export const nullInMulti: Halt = {
  since: ['3.7.2', '3.8.2', '3.9.0'],
  why:
    'A multi that creates with a null list of ACLs stops an ensemble from 3.7.2, 3.8.2 and 3.9.0 on: CreateOptions ' +
    'rejects null, nothing catches that exception of MultiOperationRecord.deserialize (ZOOKEEPER-4026), and the other ' +
    'servers wait for a proposal that never comes.',
}
