import { JUTE_MAXBUFFER } from '@zk/wire'
import { checkKeys, show } from './connection/fault.ts'
import type { HistoryLimits } from './connection/history.ts'
import type { SaslSettings } from './connection/sasl-server.ts'
import type { FourLetterWord } from './connection/words.ts'
import { DEFAULT_SCHEMES, defaultsOf, newest, type Release, releaseOf, type ServerRelease } from './database/index.ts'
import type { MemberLimits, SessionLimits } from './ensemble/index.ts'
import { checkSasl, type SaslOptions } from './sasl-option.ts'
import { checkWords } from './words-option.ts'

/** The options of an ensemble. Times are in ms. */
export interface EnsembleOptions {
  /** The number of members (zk1, zk2 …), or their names. A single member is a standalone server. @default 3 */
  members?: number | readonly string[] | undefined
  /** The unit of the next options. A leader pings twice in a tick, and sessions expire at ticks. @default 2_000 */
  tickTime?: number | undefined
  /** How many ticks a leader and a follower may be without contact. @default 5 */
  syncLimit?: number | undefined
  /** How many ticks a follower may take to connect to a leader and to catch up. @default 10 */
  initLimit?: number | undefined
  /** The shortest session timeout granted, at least 2 ticks. @default 2 ticks */
  minSessionTimeout?: number | undefined
  /** The longest session timeout granted. @default 20 ticks */
  maxSessionTimeout?: number | undefined
  /**
   * Session timeouts of single members, by name: `minSessionTimeout`, `maxSessionTimeout`. If a session moves to a member
   * with other limits, its timeout changes. @default none
   */
  memberOptions?: Readonly<Record<string, SessionLimits>> | undefined
  /** How long an election takes; a function is called for each election. @default 200 to 250 */
  electionTime?: number | (() => number) | undefined
  /** How long a message between two members takes. @default 0 */
  latency?: number | ((from: string, to: string) => number) | undefined
  /**
   * The numbers of sequential nodes after the counter of their parent has reached its end. 'stick', as from 3.6 on: the same
   * number again and again. 'wrap', as before 3.6: negative numbers. @default that of the release
   */
  sequenceOverflow?: 'stick' | 'wrap' | undefined
  /**
   * How many kinds of watch a connection can have on one path. 'one', as up to 3.8: a new kind replaces the one before, so a
   * read with a watch replaces a persistent watch. 'several', as from 3.9 on. @default those of the release
   */
  watchModes?: 'one' | 'several' | undefined
  /** The id of the superuser, which may do everything: `super:BASE64(SHA1(super:password))`. @default none */
  superDigest?: string | undefined
  /** SASL DIGEST-MD5, and the scheme `sasl` in ACLs. @default not set up */
  sasl?: SaslOptions | undefined
  /**
   * Whether a member that has found no leader within a tick serves reads to clients that connect with `readOnly`
   * (readonlymode.enabled). @default false
   */
  readOnlyMode?: boolean | undefined
  /**
   * How often the leader deletes containers that have become empty, and nodes whose TTL is over
   * (znode.container.checkIntervalMs). @default 60_000
   */
  containerCheckInterval?: number | undefined
  /** Whether nodes may have a TTL (zookeeper.extendedTypesEnabled). @default false */
  extendedTypesEnabled?: boolean | undefined
  /** Whether clients that may write /zookeeper/config may call `reconfig` (reconfigEnabled). @default false */
  reconfigEnabled?: boolean | undefined
  /** Whether hard quotas are enforced (zookeeper.enforceQuota). Needs release 3.7 at least. @default false */
  enforceQuota?: boolean | undefined
  /**
   * How many requests of clients one member executes at a time; the others wait. 0 means any number. Needs release 3.6
   * (zookeeper.request_throttle_max_requests). @default 0
   */
  requestThrottleMaxRequests?: number | undefined
  /**
   * A request that has waited longer than this, in ms, is not executed, but answered with ThrottledOp. 0 means that a
   * request may wait for any time (zookeeper.throttled_op_wait_time). @default 0
   */
  throttledOpWaitTime?: number | undefined
  /**
   * The release of ZooKeeper whose operations and behaviour the members have: the newest one of a line, such as '3.5', or one
   * release, such as '3.8.4'. @default '3.9'
   */
  release?: ServerRelease | undefined
  /** The longest request, in bytes. A longer one closes the connection (jute.maxbuffer). @default 1_048_575 */
  juteMaxBuffer?: number | undefined
  /** How many requests of one connection may be unanswered before no more are read from it. @default 1_000 */
  globalOutstandingLimit?: number | undefined
  /**
   * How many connections one address may have to one member; 0 for any number. (A real server's default is 60.)
   * @default 0
   */
  maxClientCnxns?: number | undefined
  /**
   * The four-letter words that are answered (4lw.commands.whitelist). Other words are refused. `srvr` is always answered,
   * and `isro`, too, with `readOnlyMode`. (A real server's default is `srvr` alone.) @default all
   */
  fourLetterWords?: readonly FourLetterWord[] | undefined
  /** How much of the history is kept; `entries: 0` keeps nothing. @default 10_000 entries, 64 MiB of frames */
  history?: { [Limit in keyof HistoryLimits]?: number | undefined } | undefined
}

export interface CheckedOptions {
  readonly members: readonly string[]
  readonly tickTime: number
  readonly syncLimit: number
  readonly initLimit: number
  readonly minSessionTimeout: number
  readonly maxSessionTimeout: number
  readonly memberOptions: Readonly<Record<string, MemberLimits>>
  readonly electionTime: (() => number) | undefined
  readonly latency: (from: string, to: string) => number
  readonly sequenceOverflow: 'stick' | 'wrap'
  readonly watchModes: 'one' | 'several'
  readonly superDigest: string | undefined
  readonly sasl: SaslSettings | undefined
  /** The schemes that ACLs may have besides `world` and `auth`. */
  readonly schemes: ReadonlySet<string>
  readonly readOnlyMode: boolean
  readonly containerCheckInterval: number
  readonly extendedTypesEnabled: boolean
  readonly reconfigEnabled: boolean
  readonly enforceQuota: boolean
  readonly requestThrottleMaxRequests: number
  readonly throttledOpWaitTime: number
  readonly release: Release
  readonly juteMaxBuffer: number
  readonly globalOutstandingLimit: number
  readonly maxClientCnxns: number
  readonly fourLetterWords: ReadonlySet<string>
  readonly history: HistoryLimits
}

export const ENSEMBLE_OPTIONS = [
  'members',
  'tickTime',
  'syncLimit',
  'initLimit',
  'minSessionTimeout',
  'maxSessionTimeout',
  'memberOptions',
  'electionTime',
  'latency',
  'sequenceOverflow',
  'watchModes',
  'superDigest',
  'sasl',
  'readOnlyMode',
  'containerCheckInterval',
  'extendedTypesEnabled',
  'reconfigEnabled',
  'enforceQuota',
  'requestThrottleMaxRequests',
  'throttledOpWaitTime',
  'release',
  'juteMaxBuffer',
  'globalOutstandingLimit',
  'maxClientCnxns',
  'fourLetterWords',
  'history',
] as const satisfies readonly (keyof EnsembleOptions)[]

const LARGEST_INT = 2 ** 31 - 1
/** The shortest tick, in ms: a leader pings every half tick, in whole ms. */
const SHORTEST_TICK = 2
/** The longest tick, in ms: a session timeout of 20 ticks must be an int. */
const LONGEST_TICK = Math.floor(LARGEST_INT / 20)
/** The largest number of members. More would be a mistake: every write goes to all of them. */
const MOST_MEMBERS = 99

/** Checks options and fills in defaults. A `TypeError` or `RangeError` names the option and says what would be right. */
export function checkOptions(options: EnsembleOptions): CheckedOptions {
  checkKeys('an ensemble', options, ENSEMBLE_OPTIONS)
  const { tickTime = 2_000, syncLimit = 5, initLimit = 10 } = options
  integer('tickTime', tickTime, SHORTEST_TICK, LONGEST_TICK)
  integer('syncLimit', syncLimit, 1, LARGEST_INT)
  integer('initLimit', initLimit, 1, LARGEST_INT)
  const { minSessionTimeout = 2 * tickTime, maxSessionTimeout = Math.max(20 * tickTime, minSessionTimeout) } = options
  integer('minSessionTimeout', minSessionTimeout, 2 * tickTime, LARGEST_INT, ': 2 ticks at least')
  integer('maxSessionTimeout', maxSessionTimeout, minSessionTimeout, LARGEST_INT, ': minSessionTimeout at least')
  const { extendedTypesEnabled = false, reconfigEnabled = false, enforceQuota = false } = options
  const release = checkRelease(options.release)
  boolean('extendedTypesEnabled', extendedTypesEnabled)
  boolean('reconfigEnabled', reconfigEnabled)
  boolean('enforceQuota', enforceQuota)
  if (enforceQuota && !release.enforcesQuotas) {
    throw new RangeError(
      `enforceQuota needs release '3.7' at least, not '${release.name}': earlier servers have no hard limits`,
    )
  }
  const { requestThrottleMaxRequests = 0, throttledOpWaitTime = 0 } = options
  integer('requestThrottleMaxRequests', requestThrottleMaxRequests, 0, LARGEST_INT)
  integer('throttledOpWaitTime', throttledOpWaitTime, 0, LARGEST_INT)
  if (requestThrottleMaxRequests > 0 && !release.throttlesRequests) {
    throw new RangeError(`requestThrottleMaxRequests needs release '3.6' at least, not '${release.name}'`)
  }
  const { electionTime, latency = 0, superDigest } = options
  const defaults = defaultsOf(release)
  const { sequenceOverflow = defaults.sequenceOverflow, watchModes = defaults.watchModes } = options
  const longestRoundTrip = Math.min(initLimit, syncLimit) * tickTime
  if (typeof latency === 'number' && 2 * latency >= longestRoundTrip) {
    throw new RangeError(
      `latency must be below ${longestRoundTrip / 2}, not ${latency}: a round trip would take longer than initLimit or ` +
        `syncLimit, and no member could follow another`,
    )
  }
  if (sequenceOverflow !== 'stick' && sequenceOverflow !== 'wrap') {
    throw new TypeError(`sequenceOverflow must be 'stick' or 'wrap', not ${show(sequenceOverflow)}`)
  }
  if (watchModes !== 'one' && watchModes !== 'several') {
    throw new TypeError(`watchModes must be 'one' or 'several', not ${show(watchModes)}`)
  }
  if (superDigest !== undefined && !/^super:[A-Za-z0-9+/]+=*$/.test(superDigest)) {
    throw new TypeError(`superDigest must be 'super:BASE64(SHA1(super:password))'`)
  }
  const sasl = checkSasl(options.sasl)
  const { readOnlyMode = false, containerCheckInterval = 60_000 } = options
  if (typeof readOnlyMode !== 'boolean')
    throw new TypeError(`readOnlyMode must be true or false, not ${show(readOnlyMode)}`)
  integer('containerCheckInterval', containerCheckInterval, 1, LARGEST_INT)
  const { juteMaxBuffer = JUTE_MAXBUFFER, globalOutstandingLimit = 1_000, maxClientCnxns = 0 } = options
  integer('juteMaxBuffer', juteMaxBuffer, 1_024, LARGEST_INT)
  integer('globalOutstandingLimit', globalOutstandingLimit, 1, LARGEST_INT)
  integer('maxClientCnxns', maxClientCnxns, 0, LARGEST_INT)
  const fourLetterWords = checkWords(options.fourLetterWords, readOnlyMode)
  const { history = {} } = options
  checkKeys('history', history, ['entries', 'bytes'])
  const { entries = 10_000, bytes = 64 * 1024 * 1024 } = history
  integer('history.entries', entries, 0, LARGEST_INT)
  integer('history.bytes', bytes, 0, Number.MAX_SAFE_INTEGER)
  const members = membersOf(options.members ?? 3)
  const memberOptions = checkMemberOptions(options.memberOptions ?? {}, members, {
    tickTime,
    minSessionTimeout,
    maxSessionTimeout,
  })
  return {
    members,
    tickTime,
    syncLimit,
    initLimit,
    minSessionTimeout,
    maxSessionTimeout,
    memberOptions,
    electionTime: electionTime === undefined ? undefined : asFunction('electionTime', electionTime),
    latency: asFunction('latency', latency),
    sequenceOverflow,
    watchModes,
    superDigest,
    sasl,
    schemes: sasl === undefined ? DEFAULT_SCHEMES : new Set([...DEFAULT_SCHEMES, 'sasl']),
    readOnlyMode,
    containerCheckInterval,
    extendedTypesEnabled,
    reconfigEnabled,
    enforceQuota,
    requestThrottleMaxRequests,
    throttledOpWaitTime,
    release,
    juteMaxBuffer,
    globalOutstandingLimit,
    maxClientCnxns,
    fourLetterWords,
    history: { entries, bytes },
  }
}

function checkRelease(name: unknown = '3.9'): Release {
  const release = typeof name === 'string' ? releaseOf(name) : undefined
  if (release !== undefined) return release
  const all = Object.values(newest)
  throw new TypeError(
    `release must be one of ${Object.keys(newest).join(', ')}, or one of their releases up to ${all.join(', ')}, not ${show(name)}`,
  )
}

/** Turns a time, or a function that returns one, into a function. Each value that a function returns is checked. */
export function asFunction<Args extends unknown[]>(
  name: string,
  value: number | ((...args: Args) => number),
): (...args: Args) => number {
  if (typeof value === 'function') {
    return (...args) => {
      const returned: unknown = value(...args)
      if (isDuration(returned)) return returned
      throw new RangeError(`${name} must return a number of ms, 0 or more, not ${show(returned)}`)
    }
  }
  if (isDuration(value)) return () => value
  throw new RangeError(`${name} must be a number of ms, 0 or more, or a function that returns one, not ${show(value)}`)
}

export function checkDuration(name: string, value: unknown): void {
  if (!isDuration(value)) throw new RangeError(`${name} must be a number of ms, 0 or more, not ${show(value)}`)
}

const isDuration = (value: unknown): value is number => typeof value === 'number' && value >= 0 && value < Infinity

/** Each name is written into a line of /zookeeper/config. */
const isName = (name: unknown) => typeof name === 'string' && name.trim() !== '' && !/\p{Cc}|\p{Zl}|\p{Zp}/u.test(name)

function membersOf(members: number | readonly string[]): readonly string[] {
  if (typeof members === 'number') {
    integer('members', members, 1, MOST_MEMBERS)
    return Array.from({ length: members }, (_, index) => `zk${index + 1}`)
  }
  if (!Array.isArray(members) || members.length === 0 || members.length > MOST_MEMBERS) {
    throw new RangeError(`members must be a number from 1 to ${MOST_MEMBERS}, or as many names`)
  }
  const names: readonly unknown[] = members
  const odd = names.findIndex((name) => !isName(name))
  if (odd !== -1) throw new TypeError(`members: ${show(names[odd])} is not a name`)
  const duplicate = members.find((name, index) => members.indexOf(name) !== index)
  if (duplicate !== undefined) throw new RangeError(`members: there are two called ${show(duplicate)}`)
  return [...members]
}

function checkMemberOptions(
  memberOptions: Readonly<Record<string, SessionLimits>>,
  members: readonly string[],
  defaults: MemberLimits & { readonly tickTime: number },
): Readonly<Record<string, MemberLimits>> {
  checkKeys('memberOptions', memberOptions, members)
  const all = Object.entries(memberOptions).map(([name, limits]): [string, MemberLimits] => {
    const what = `memberOptions.${name}`
    checkKeys(what, limits, ['minSessionTimeout', 'maxSessionTimeout'])
    const { minSessionTimeout = defaults.minSessionTimeout, maxSessionTimeout = defaults.maxSessionTimeout } = limits
    integer(`${what}.minSessionTimeout`, minSessionTimeout, 2 * defaults.tickTime, LARGEST_INT, ': 2 ticks at least')
    const why = `: ${what}.minSessionTimeout at least`
    integer(`${what}.maxSessionTimeout`, maxSessionTimeout, minSessionTimeout, LARGEST_INT, why)
    return [name, { minSessionTimeout, maxSessionTimeout }]
  })
  return Object.fromEntries(all)
}

function boolean(name: string, value: unknown): void {
  if (typeof value !== 'boolean') throw new TypeError(`${name} must be true or false, not ${show(value)}`)
}

export function integer(name: string, value: number, min: number, max: number, why = ''): void {
  if (Number.isInteger(value) && value >= min && value <= max) return
  throw new RangeError(`${name} must be an integer from ${min} to ${max}${why}, not ${show(value)}`)
}
