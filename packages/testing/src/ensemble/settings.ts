import {
  DEFAULT_SCHEMES,
  defaultsOf,
  NEWEST,
  type Release,
  type SequenceOverflow,
  type WatchModes,
} from '../database/index.ts'
import type { Agenda } from './agenda.ts'

/**
 * Returns how long a message between two members takes, in ms. It is called once for each message. Messages on one link keep
 * their order.
 */
export type Latency = (from: string, to: string) => number

/** The limits that a member sets for session timeouts, in ms. */
export interface SessionLimits {
  /** The shortest session timeout, in ms, at least 2 ticks. @default the ensemble's */
  minSessionTimeout?: number | undefined
  /** The longest session timeout, in ms. @default the ensemble's */
  maxSessionTimeout?: number | undefined
}

/** The limits of one member, complete: those that it does not set are those of the ensemble. */
export interface MemberLimits {
  readonly minSessionTimeout: number
  readonly maxSessionTimeout: number
}

/** The settings of an ensemble. Times are in ms. */
export interface EnsembleSettings {
  /** The names of the members, each once. One member is a standalone server. */
  readonly members: readonly string[]
  readonly agenda: Agenda
  /** A number in [0, 1), like Math.random. */
  readonly random: () => number
  /** The wall clock in ms since the epoch, at a time of the agenda. */
  readonly wallNow: () => number
  /** @default 2000 */
  readonly tickTime?: number
  /** How many ticks a leader and a follower may be without contact. @default 5 */
  readonly syncLimit?: number
  /** How many ticks a follower may take to connect and to catch up. @default 10 */
  readonly initLimit?: number
  /** @default 2 ticks */
  readonly minSessionTimeout?: number
  /** @default 20 ticks */
  readonly maxSessionTimeout?: number
  /** The limits of members that differ, by name. @default none */
  readonly memberOptions?: Readonly<Record<string, MemberLimits>>
  /** Returns how long an election takes; called for each attempt. @default 200 to 250: FastLeaderElection.finalizeWait */
  readonly electionTime?: () => number
  /** @default none */
  readonly latency?: Latency
  /** @default that of the release */
  readonly sequenceOverflow?: SequenceOverflow
  /** @default those of the release */
  readonly watchModes?: WatchModes
  /** The schemes that ACLs may have besides `world` and `auth` (ProviderRegistry). @default digest and ip */
  readonly schemes?: ReadonlySet<string>
  /** Whether a member that finds no leader within a tick serves clients without one. @default false */
  readonly readOnlyMode?: boolean
  /**
   * How often the leader deletes empty containers, and nodes whose TTL is over.
   * @default 60_000: znode.container.checkIntervalMs
   */
  readonly containerCheckInterval?: number
  /** Whether nodes may have a TTL. @default false: zookeeper.extendedTypesEnabled */
  readonly extendedTypesEnabled?: boolean
  /** Whether clients may call reconfig. @default false: reconfigEnabled */
  readonly reconfigEnabled?: boolean
  /** Whether hard quotas are enforced. @default false: zookeeper.enforceQuota */
  readonly enforceQuota?: boolean
  /**
   * How many requests of clients one member executes at a time; 0 for any number.
   * @default 0: zookeeper.request_throttle_max_requests
   */
  readonly requestThrottleMaxRequests?: number
  /** A request that has waited longer is not executed; 0 for any time. @default 0: zookeeper.throttled_op_wait_time */
  readonly throttledOpWaitTime?: number
  /** The release of the members. @default the newest */
  readonly release?: Release
}

export type Settings = Required<EnsembleSettings>

export function withDefaults(settings: EnsembleSettings): Settings {
  const { tickTime = 2_000, random, release = NEWEST } = settings
  return {
    syncLimit: 5,
    initLimit: 10,
    minSessionTimeout: 2 * tickTime,
    maxSessionTimeout: 20 * tickTime,
    memberOptions: {},
    electionTime: () => 200 + Math.floor(random() * 50),
    latency: () => 0,
    ...defaultsOf(release),
    schemes: DEFAULT_SCHEMES,
    readOnlyMode: false,
    containerCheckInterval: 60_000,
    extendedTypesEnabled: false,
    reconfigEnabled: false,
    enforceQuota: false,
    requestThrottleMaxRequests: 0,
    throttledOpWaitTime: 0,
    release,
    ...settings,
    tickTime,
  }
}
