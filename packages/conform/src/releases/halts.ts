// Requests that halt a whole ensemble of some releases: it commits no more until another leader is elected.

import type { Releases } from '@zk/testing/internal'

/** What stops the servers of some releases. `before` and `since` say which. */
export interface Halt extends Releases {
  /** A sentence about what happens. */
  readonly what: string
  /** The cause in the code of ZooKeeper. */
  readonly why: string
}

/** For a scenario with quota limits that cannot be read. */
export const unreadableLimits: Halt = {
  before: '3.7',
  what: 'Limits of a quota that cannot be read stop a server.',
  why: 'DataTree.updateCount reads them when a create is applied, and nothing catches the exception of StatsTrack.',
}

/** For a scenario with a write whose body cannot be read. */
export const unreadableWrites: Halt = {
  since: ['3.9.0'],
  what: 'A write that cannot be read stops an ensemble.',
  why:
    'PrepRequestProcessor turns it into an error with the zxid of the last transaction (ZOOKEEPER-4575), which the followers ' +
    'do not wait for any more.',
}

/** For a scenario with a multi that creates a node with a null list of ACLs. */
export const nullInMulti: Halt = {
  since: ['3.7.2', '3.8.2', '3.9.0'],
  what: 'A multi that creates with a null list of ACLs stops an ensemble.',
  why:
    'CreateOptions rejects null, nothing catches that exception of MultiOperationRecord.deserialize (ZOOKEEPER-4026), and ' +
    'the other servers wait for a proposal that never comes.',
}

export const halts: readonly Halt[] = [unreadableLimits, nullInMulti, unreadableWrites]
