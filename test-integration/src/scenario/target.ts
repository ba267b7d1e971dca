// What a scenario runs against: servers that speak ZooKeeper's protocol, and what can be done to them.

/** Where in the ensemble: by the parts that its members play when the scenario begins, whatever becomes of them. */
export type Place = 'leader' | 'follower' | 'other follower'

export const places: readonly Place[] = ['leader', 'follower', 'other follower']

/** What both ensembles are started with, so that they can be compared. */
export const settings = {
  /** In ms: sessions time out after 1 to 10 seconds. */
  tickTime: 500,
  initLimit: 10,
  syncLimit: 4,
  /** How often empty containers, and nodes whose TTL is over, are looked for, in ms. */
  containerCheckInterval: 1000,
  /** Nodes may have a TTL. */
  extendedTypesEnabled: true,
  /** Hard quotas are limits, from 3.7 on. */
  enforceQuota: true,
  /** The user that no ACL holds back, and what DigestAuthenticationProvider.superDigest is for it. */
  superUser: 'super:secret',
  superDigest: 'super:lK75jTNcA+U9vtVEw5vB51mj/w4=',
} as const

/** Three servers for one scenario. */
export interface Stage {
  address(place: Place): { readonly host: string; readonly port: number }
  /** At once, as a power failure does. */
  kill(place: Place): Promise<void>
  /** Starts again what was killed. */
  restart(place: Place): Promise<void>
  /** Its ports still accept, and nothing answers. */
  freeze(place: Place): Promise<void>
  thaw(place: Place): Promise<void>
  /** Waits until there is a leader, be it another than before. */
  elected(): Promise<void>
  /** Undoes every fault and waits until all members serve. */
  mended(): Promise<void>
  /** What comes last. */
  leave(): Promise<void>
}

export interface Target {
  readonly name: string
  /** A whole ensemble on which nobody has a session. Leave it so: without sessions. */
  enter(): Promise<Stage>
}
