// The data for the answers to four-letter words.
import type { Member } from '../ensemble/index.ts'
import type { Configuration } from './configuration.ts'
import type { ServerConnection } from './server-connection.ts'
import type { ServerStats } from './stats.ts'

export interface Monitored {
  readonly member: Member
  readonly connections: ReadonlySet<ServerConnection>
  readonly stats: ServerStats
  /** The time since its start, in ms. */
  readonly uptime: number
  /** The wall clock at a time of the ensemble, in ms. */
  readonly wallAt: (time: number) => number
  /** How many members follow this one, if it leads. */
  readonly followers: number
  readonly configuration: Configuration
}
