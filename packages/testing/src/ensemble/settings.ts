import { DEFAULT_SCHEMES, type SequenceOverflow, type ServerVersion, type WatchModes } from '../database/index.ts'
import type { Agenda } from './agenda.ts'

/** How long a message between two members takes, in ms. Asked once a message; none overtakes another of its link. */
export type Latency = (from: string, to: string) => number

/** Between what a member brings the timeouts of sessions, in ms. */
export interface SessionLimits {
  /** The shortest timeout granted, in ms, at least 2 ticks. @default that of the ensemble */
  minSessionTimeout?: number | undefined
  /** The longest timeout granted, in ms. @default that of the ensemble */
  maxSessionTimeout?: number | undefined
}

/** The limits of one member, those of the ensemble filled in. */
export interface MemberLimits {
  readonly minSessionTimeout: number
  readonly maxSessionTimeout: number
}

/** What an ensemble is made of. Times in ms. */
export interface EnsembleSettings {
  /** Their names, each once. One member is a standalone server. */
  readonly members: readonly string[]
  readonly agenda: Agenda
  /** In [0, 1), like Math.random. */
  readonly random: () => number
  /** Ms since the epoch, at the agenda's time. */
  readonly wallNow: () => number
  /** @default 2000 */
  readonly tickTime?: number
  /** Ticks that leader and follower may be without each other. @default 5 */
  readonly syncLimit?: number
  /** Ticks that a follower may take to connect and to catch up. @default 10 */
  readonly initLimit?: number
  /** @default 2 ticks */
  readonly minSessionTimeout?: number
  /** @default 20 ticks */
  readonly maxSessionTimeout?: number
  /** By name, what single members have otherwise. @default nothing */
  readonly memberOptions?: Readonly<Record<string, MemberLimits>>
  /** How long members take to elect a leader, asked at each attempt. @default 200 to 250: FastLeaderElection.finalizeWait */
  readonly electionTime?: () => number
  /** @default none */
  readonly latency?: Latency
  /** @default 'stick' */
  readonly sequenceOverflow?: SequenceOverflow
  /** @default 'one' */
  readonly watchModes?: WatchModes
  /** Those that ACLs may have, besides `world` and `auth` (ProviderRegistry). @default digest and ip */
  readonly schemes?: ReadonlySet<string>
  /** Whether a member that finds no leader for a tick serves clients without one. @default false */
  readonly readOnlyMode?: boolean
  /** How often the leader looks for empty containers, and nodes whose TTL is over. @default 60_000: znode.container.checkIntervalMs */
  readonly containerCheckInterval?: number
  /** Whether nodes may have a TTL. @default false: zookeeper.extendedTypesEnabled */
  readonly extendedTypesEnabled?: boolean
  /** Whether the ensemble may be asked to change. @default false: reconfigEnabled */
  readonly reconfigEnabled?: boolean
  /** Whether hard quotas are limits. @default false: zookeeper.enforceQuota */
  readonly enforceQuota?: boolean
  /** Requests of clients that one member has under way; 0 for any number. @default 0: zookeeper.request_throttle_max_requests */
  readonly requestThrottleMaxRequests?: number
  /** A request that waits longer for that is not done, in ms; 0 for any time. @default 0: zookeeper.throttled_op_wait_time */
  readonly throttledOpWaitTime?: number
  /** Whose operations the members know. @default '3.8' */
  readonly version?: ServerVersion
}

export type Settings = Required<EnsembleSettings>

export function withDefaults(settings: EnsembleSettings): Settings {
  const { tickTime = 2_000, random } = settings
  return {
    syncLimit: 5,
    initLimit: 10,
    minSessionTimeout: 2 * tickTime,
    maxSessionTimeout: 20 * tickTime,
    memberOptions: {},
    electionTime: () => 200 + Math.floor(random() * 50),
    latency: () => 0,
    sequenceOverflow: 'stick',
    watchModes: 'one',
    schemes: DEFAULT_SCHEMES,
    readOnlyMode: false,
    containerCheckInterval: 60_000,
    extendedTypesEnabled: false,
    reconfigEnabled: false,
    enforceQuota: false,
    requestThrottleMaxRequests: 0,
    throttledOpWaitTime: 0,
    version: '3.8',
    ...settings,
    tickTime,
  }
}
