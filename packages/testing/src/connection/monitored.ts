// What the answers to four-letter words are made of.
import type { Member } from '../ensemble/index.ts'
import type { Configuration } from './configuration.ts'
import type { ServerConnection } from './server-connection.ts'
import type { ServerStats } from './stats.ts'

export interface Monitored {
  readonly member: Member
  readonly connections: ReadonlySet<ServerConnection>
  readonly stats: ServerStats
  /** Ms since it was started. */
  readonly uptime: number
  /** What the clock on the wall shows at a time of the ensemble, in ms. */
  readonly wallAt: (time: number) => number
  /** Members that follow this one, if it leads. */
  readonly followers: number
  readonly configuration: Configuration
}
