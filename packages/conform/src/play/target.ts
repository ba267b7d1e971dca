// The servers of a scenario, which speak ZooKeeper's protocol, and the faults that they can have.
import type { Runtime } from '@zk/client'

/** A member, named by its role when the scenario begins. When roles change, the name still means the same member. */
export type Place = 'leader' | 'follower' | 'other follower'

export const places: readonly Place[] = ['leader', 'follower', 'other follower']

/** The settings with which both ensembles are started, so that they can be compared. */
export const settings = {
  /** In ms. The shortest session timeout is two ticks. */
  tickTime: 500,
  /** In ms. An election on a busy machine may take longer than 20 ticks, the default. */
  maxSessionTimeout: 20_000,
  initLimit: 10,
  syncLimit: 4,
  /** How often servers delete empty containers and nodes whose TTL is over, in ms. */
  containerCheckInterval: 1000,
  /** Nodes may have a TTL. */
  extendedTypesEnabled: true,
  /** Hard quotas are enforced, from 3.7 on. */
  enforceQuota: true,
  /** The superuser, which no ACL restricts, and its DigestAuthenticationProvider.superDigest. */
  superUser: 'super:secret',
  superDigest: 'super:lK75jTNcA+U9vtVEw5vB51mj/w4=',
} as const

/** Begins the message of the error when a scenario needs a fault that its stage cannot have. */
export const NO_COMMAND = 'no command was given to '

/** Thrown by a scenario whose stage lacks what it needs: there is no verdict. */
export class Lacking extends Error {}

/** The servers of one scenario. */
export interface Stage {
  /** The clock and the network of the scenario. */
  readonly runtime: Runtime
  /** The node below which everything is created; empty for the root. */
  readonly base: string
  /** Name and password of the superuser, such as `super:secret`; undefined if there is none, or it is not known. */
  readonly superUser: string | undefined
  /** Name and password of a user in the JAAS configuration of the servers, such as `bob:secret`. @default none, or unknown */
  readonly saslUser?: string | undefined
  /** The address of this process, as servers see it; undefined if they do not say. */
  clientAddress(): Promise<string | undefined>
  /** Where the member accepts clients. */
  address(place: Place): { readonly host: string; readonly port: number }
  /** Ends the process at once, as a power failure does. */
  kill(place: Place): Promise<void>
  /** Starts a killed member again. */
  restart(place: Place): Promise<void>
  /** Freezes a member: its ports still accept connections, but it does not answer. */
  freeze(place: Place): Promise<void>
  /** Lets a frozen member go on. */
  thaw(place: Place): Promise<void>
  /** Waits until there is a leader, which may be another member than before. */
  elected(): Promise<void>
  /** Undoes all faults, and waits until all members serve. */
  mended(): Promise<void>
}

/** Where clauses and scenarios are played: servers that others have started, or an ensemble in this process. */
export interface Target {
  /** Provides a whole ensemble without sessions. `play` must leave no session behind. */
  use<Result>(play: (stage: Stage) => Promise<Result>): Promise<Result>
}
