// What a scenario runs against: servers that speak ZooKeeper's protocol, and the faults they can have.

/** A member, by its role when the scenario begins; it stays the same member when roles change. */
export type Place = 'leader' | 'follower' | 'other follower'

export const places: readonly Place[] = ['leader', 'follower', 'other follower']

/** The settings that both ensembles are started with, so that they can be compared. */
export const settings = {
  /** In ms: sessions time out after 1 to 10 seconds. */
  tickTime: 500,
  initLimit: 10,
  syncLimit: 4,
  /** How often servers check for empty containers and nodes with an expired TTL, in ms. */
  containerCheckInterval: 1000,
  /** Nodes may have a TTL. */
  extendedTypesEnabled: true,
  /** Hard quotas are limits, from 3.7 on. */
  enforceQuota: true,
  /** The superuser, which no ACL restricts, and its DigestAuthenticationProvider.superDigest. */
  superUser: 'super:secret',
  superDigest: 'super:lK75jTNcA+U9vtVEw5vB51mj/w4=',
} as const

/** Three servers for one scenario. */
export interface Stage {
  address(place: Place): { readonly host: string; readonly port: number }
  /** At once, as in a power failure. */
  kill(place: Place): Promise<void>
  /** Starts killed ones again. */
  restart(place: Place): Promise<void>
  /** Its ports still accept, but it does not answer. */
  freeze(place: Place): Promise<void>
  thaw(place: Place): Promise<void>
  /** Waits until there is a leader, also if it is another one than before. */
  elected(): Promise<void>
  /** Undoes every fault and waits until all members serve. */
  mended(): Promise<void>
  /** Called last. */
  leave(): Promise<void>
}

export interface Target {
  readonly name: string
  /** A whole ensemble without sessions. Leave it without sessions too. */
  enter(): Promise<Stage>
}
