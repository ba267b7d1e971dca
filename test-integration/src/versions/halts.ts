// What brings a whole ensemble of some releases to a halt: until another leader is elected, it commits nothing more.

import { hasReached, isBefore } from './version.ts'

export interface Halt {
  /** The first releases that it stops, one of each line. */
  readonly since?: readonly string[]
  /** Releases before this one are stopped, too. */
  readonly before?: string
  readonly why: string
}

/** Whether servers of this release are better spared. */
export function isStopped(release: string, { since, before }: Halt): boolean {
  return (since !== undefined && hasReached(release, since)) || (before !== undefined && isBefore(release, before))
}

/** For a scenario with limits of a quota that cannot be read. */
export const unreadableLimits: Halt = {
  before: '3.7',
  why:
    'Limits of a quota that cannot be read stop a server before 3.7: DataTree.updateCount looks at them when a create is ' +
    'applied, and nobody expects what StatsTrack throws then.',
}

/** For a scenario with the body of a write that cannot be read. */
export const unreadableWrites: Halt = {
  since: ['3.9.0'],
  why:
    'A write that cannot be read stops an ensemble from 3.9.0 on: PrepRequestProcessor makes an error of it under the zxid ' +
    'of the last transaction (ZOOKEEPER-4575), for which the followers wait no more.',
}

/** For a scenario with a multi that creates a node with a list of ACLs that is null. */
export const nullInMulti: Halt = {
  since: ['3.7.2', '3.8.2', '3.9.0'],
  why:
    'A multi that creates with a list of ACLs that is null stops an ensemble from 3.7.2, 3.8.2 and 3.9.0 on: CreateOptions ' +
    'does not take it, which nobody expects of MultiOperationRecord.deserialize (ZOOKEEPER-4026), and the others wait for ' +
    'a proposal that never comes.',
}
