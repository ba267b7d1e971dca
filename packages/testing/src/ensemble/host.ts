import type { Database } from './database.ts'
import type { Process } from './process.ts'
import type { SessionIds } from './session-ids.ts'
import type { Settings } from './settings.ts'

/** The state that the parts of a member share. */
export interface Host {
  readonly name: string
  readonly settings: Settings
  readonly database: Database
  /** There is a new one after each restart. */
  readonly process: Process
  /** How long after the commit it applies a transaction, in ms. */
  readonly lag: number
  /** Called when a server begins to give out session ids. */
  sessionIds(): SessionIds
  /** The member neither leads nor follows any more. */
  lookAgain(): void
  /** The member has begun to serve clients. */
  serves(): void
}
