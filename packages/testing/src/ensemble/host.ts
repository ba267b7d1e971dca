import type { Database } from './database.ts'
import type { Process } from './process.ts'
import type { SessionIds } from './session-ids.ts'
import type { Settings } from './settings.ts'

/** What the parts of a member share. */
export interface Host {
  readonly name: string
  readonly settings: Settings
  readonly database: Database
  /** Another one after each restart. */
  readonly process: Process
  /** How much later than committed it applies, in ms. */
  readonly lag: number
  /** A server begins to give out ids. */
  sessionIds(): SessionIds
  /** It neither leads nor follows any more. */
  lookAgain(): void
  /** It has begun to serve clients. */
  serves(): void
}
