// What servers of one release do, and those of another do not. The code asks for a behaviour by its name, so this table is all
// that depends on the release, besides the operations (`since` in @zk/wire).
import { type OperationName, operations } from '@zk/wire'

/** A line of ZooKeeper releases. As a release it stands for its newest one. */
export type ReleaseLine = '3.5' | '3.6' | '3.7' | '3.8' | '3.9'

/** The newest release of a line, or one release. `3.8.0-debian` is Debian's 3.8.0, which has some fixes of later releases. */
export type ServerRelease = ReleaseLine | `${ReleaseLine}.${number}` | '3.8.0-debian'

/** Some of the releases. */
export interface Releases {
  /** Only releases before this one, such as `3.6` or `3.8.4`. @default all */
  readonly before?: string
  /** Only these releases, later releases of their lines, and all later lines. @default all */
  readonly since?: readonly string[]
  /** Debian's 3.8.0, too: its patches are part of it. @default false */
  readonly inDebian?: boolean
}

interface Behaviour extends Releases {
  /** A sentence that says what servers of these releases do. */
  readonly what: string
  /** The cause: the class, the issue, and what other releases do. */
  readonly why: string
}

/** The behaviours that depend on the release, in the order of their releases. */
export const behaviours = {
  showsMissingNodes: {
    what: 'delete of a missing node fails with NoNode, also for a session that may delete nothing below its parent.',
    why: 'PrepRequestProcessor looks up the node before it checks the rights. From 3.6 on it checks the rights first, so the error does not show which nodes exist.',
    before: '3.6',
  },
  ordersIdentities: {
    what: 'After two `addAuth`, an ACL of the scheme `auth` lists the two identities in the order in which they were added.',
    why: 'ServerCnxn keeps identities in a list; later releases keep them in a Java set, which has another order.',
    before: '3.6',
  },
  failsAtNullACL: {
    what: 'A null list of ACLs is a MarshallingError; in a multi, of the multi as a whole.',
    why: 'PrepRequestProcessor.fixupACL uses the list before it checks for null; later releases answer InvalidACL. Our client never sends null.',
    before: '3.6',
  },
  answersMovedMulti: {
    what: 'A multi on the old connection of a moved session fails with SessionMoved in its parts, and the connection stays open.',
    why: 'FinalRequestProcessor checks for that error only outside of a multi. In either case no part of the multi is applied.',
    before: '3.6',
  },
  wrapsSequences: {
    what: 'A counter of sequential nodes that is used up goes on below 0.',
    why: 'From 3.6 on DataTree.createNode never lowers a cversion (ZOOKEEPER-3249), so the counter stays at 2147483647.',
    before: '3.6',
  },
  hasMetrics: {
    what: '`mntr` lists sessions, uptime and peer_state, and learners in place of followers. `conf` lists clientPortListenBacklog. Average latencies have fractions.',
    why: 'The metrics and the setting came with 3.6.0.',
    since: ['3.6.0'],
  },
  throttlesRequests: {
    what: 'Requests beyond requestThrottleMaxRequests wait.',
    why: 'RequestThrottler came with 3.6.0.',
    since: ['3.6.0'],
  },
  checksWatchesOfAll: {
    what: '`checkWatches` finds the watches of all clients. An invalid path fails with MarshallingError, not NoWatcher.',
    why: 'WatchManager.containsWatcher does not compare the watcher. It goes up the path from parent to parent, and PathParentIterator throws for an invalid path.',
    since: ['3.6.0'],
    before: '3.9',
  },
  enforcesQuotas: {
    what: 'Hard quotas are enforced, with enforceQuota.',
    why: 'ZOOKEEPER-3301.',
    since: ['3.7.0'],
  },
  refusesSessionsReadOnly: {
    what: 'A read-only server closes the connection of a client that resumes a session of the ensemble. Before, it resumed the session.',
    why: 'ReadOnlyZooKeeperServer.validateSession (ZOOKEEPER-3863).',
    since: ['3.7.0'],
  },
  tellsStatInMulti: {
    what: 'The result of a create2 in a multi contains the Stat.',
    why: 'ZOOKEEPER-4026. Before, the result was that of create, without a Stat.',
    since: ['3.7.2', '3.8.2', '3.9.0'],
  },
  readsFlagsInMulti: {
    what: 'A multi that creates with invalid flags, or with a null list of ACLs, fails with MarshallingError as a whole.',
    why: 'MultiOperationRecord.deserialize converts them to CreateOptions; before, PrepRequestProcessor did (ZOOKEEPER-4026).',
    since: ['3.7.2', '3.8.2', '3.9.0'],
  },
  hidesEvents: {
    what: 'A session receives no event of a node that it may not read.',
    why: 'CVE-2024-23944. Debian has the fix in its 3.8.0.',
    since: ['3.8.4', '3.9.2'],
    inDebian: true,
  },
  hidesStats: {
    what: 'exists fails with NoAuth, and sets no watch, when the session may not read the node.',
    why: 'ZOOKEEPER-2590, because a Stat is information about the node. Before, every session could check whether a node exists.',
    since: ['3.8.4', '3.9.2'],
  },
  checksInMultiOnly: {
    what: 'A check outside of a multi is Unimplemented.',
    why: 'ZOOKEEPER-2623. Before, it was never answered.',
    since: ['3.8.5', '3.9.3'],
  },
  tellsZxidOfEvents: {
    what: 'The header of an event has the zxid of the transaction, not -1.',
    why: 'ZOOKEEPER-4655. Our client does not need it.',
    since: ['3.9.0'],
  },
  hasWatchModes: {
    what: 'A connection can have several kinds of watches on one path. Before, the last one replaced the others.',
    why: 'ZOOKEEPER-4466.',
    since: ['3.9.0'],
  },
  forgetsWatchers: {
    what: '`wchs` does not count a connection whose last watch was removed.',
    why: 'WatchManager removes the connection with its last watch; before, only when it was closed.',
    since: ['3.9.0'],
  },
  readsRequestsAgain: {
    what: 'A sync that another commit has finished too early is answered a second time without an error.',
    why: 'Before, the bytes of a request could be read only once, and the second answer was a MarshallingError (ZOOKEEPER-4575).',
    since: ['3.9.0'],
  },
  readsWritesFirst: {
    what: 'A write that cannot be read, other than a multi, is no transaction: its reply has the last zxid.',
    why: 'PrepRequestProcessor reads it before it takes a zxid (ZOOKEEPER-4575). A real ensemble stops at such a write; the ensemble of @zk/testing does not.',
    since: ['3.9.0'],
  },
  deletesContainersOfClients: {
    what: 'A client can delete an empty node with `deleteContainer`, whatever the ACL says.',
    why: 'PrepRequestProcessor reads the path from the request. Before, it took the whole request for a path, and found none (ZOOKEEPER-4575).',
    since: ['3.9.0'],
    before: '3.9.6',
  },
  hidesMissedEvents: {
    what: 'Also in answer to setWatches, a session receives no event of a node that it may not read.',
    why: 'DataTree.setWatches; before, only later events were withheld.',
    since: ['3.8.7', '3.9.6'],
  },
  closesAtDeleteContainer: {
    what: 'The server closes the connection of a client that sends `deleteContainer`.',
    why: 'ZooKeeperServer.processPacket. Only the leader sends it, to itself.',
    since: ['3.8.7', '3.9.6'],
  },
  knowsSaslUsers: {
    what: 'SASL refuses a user that is not in the JAAS configuration. Before, such a user was accepted with the password of the user who was there last.',
    why: 'SaslServerCallbackHandler kept the last password (ZOOKEEPER-4839).',
    since: ['3.9.3'],
  },
  acceptsIPv6: {
    what: 'An ACL of the scheme ip may contain an IPv6 address.',
    why: 'IPAuthenticationProvider.v6addr2Bytes.',
    since: ['3.9.4'],
  },
} as const satisfies Readonly<Record<string, Behaviour>>

type BehaviourName = keyof typeof behaviours

/** A release, and which behaviours its servers have. */
export interface Release extends Readonly<Record<BehaviourName, boolean>> {
  /** Such as `3.9.6`. */
  readonly name: string
  readonly operations: ReadonlySet<OperationName>
}

/** The newest releases of all lines, by line. */
export const newest: Readonly<Record<ReleaseLine, string>> = {
  '3.5': '3.5.10',
  '3.6': '3.6.4',
  '3.7': '3.7.2',
  '3.8': '3.8.7',
  '3.9': '3.9.6',
}

export const DEBIAN = '3.8.0-debian'

/** undefined if there is no such release, as far as this version knows. */
export function releaseOf(name: string): Release | undefined {
  const exact = Object.hasOwn(newest, name) ? newest[name as ReleaseLine] : name
  const [, line = ''] = /^(\d+\.\d+)\.\d+$/.exec(exact === DEBIAN ? numberOf(exact) : exact) ?? []
  if (!Object.hasOwn(newest, line) || isBefore(newest[line as ReleaseLine], numberOf(exact))) return undefined
  const has = Object.entries<Releases>(behaviours).map(([name, releases]) => [name, concerns(releases, exact)] as const)
  const names = Object.keys(operations) as OperationName[]
  const known = names.filter((each) => !isBefore(numberOf(exact), operations[each].since))
  return { ...(Object.fromEntries(has) as Record<BehaviourName, boolean>), name: exact, operations: new Set(known) }
}

export const NEWEST = releaseOf('3.9')!

/** The options of an ensemble whose default depends on the release. */
export function defaultsOf({ wrapsSequences, hasWatchModes }: Release): {
  readonly sequenceOverflow: 'stick' | 'wrap'
  readonly watchModes: 'one' | 'several'
} {
  return { sequenceOverflow: wrapsSequences ? 'wrap' : 'stick', watchModes: hasWatchModes ? 'several' : 'one' }
}

/** Whether this release is one of them. */
export function concerns({ before, since, inDebian = false }: Releases, release: string): boolean {
  if (inDebian && release === DEBIAN) return true
  const number = numberOf(release)
  if (before !== undefined && !isBefore(number, before)) return false
  return since === undefined || hasReached(number, since)
}

/** Whether a release came before another, or before all releases of a line such as `3.6`. */
export function isBefore(release: string, other: string): boolean {
  const numbers = numberOf(release).split('.').map(Number)
  const others = other.split('.').map(Number)
  for (const [place, number] of numbers.entries()) {
    const against = others[place] ?? 0
    if (number !== against) return number < against
  }
  return false
}

/** Whether a release is at or after the one of `firsts` in its own line, or belongs to a line after all of them. */
function hasReached(release: string, firsts: readonly string[]): boolean {
  const line = lineOf(release)
  const first = firsts.find((each) => lineOf(each) === line)
  if (first !== undefined) return !isBefore(release, first)
  return firsts.every((each) => isBefore(each, release))
}

/** The `3.8.0` of `3.8.0-debian`. */
function numberOf(release: string): string {
  return release.split('-', 1)[0]!
}

/** The `3.5` of `3.5.10`. */
function lineOf(release: string): string {
  return release.split('.', 2).join('.')
}
