import type { Database } from './database.ts'
import type { Process } from './process.ts'
import type { SessionIds } from './session-ids.ts'
import type { Settings } from './settings.ts'

/** What the parts of a member share. */
export interface Host {
  readonly name: string
  readonly settings: Settings
  readonly database: Database
  /** The process of the member. Each restart makes a new one. */
  readonly process: Process
  /** The time from the commit of a transaction until the member applies it, in ms. */
  readonly lag: number
  /** Called when a server begins to give out session ids. */
  sessionIds(): SessionIds
  /** Called when the member neither leads nor follows any more. */
  lookAgain(): void
  /** Called when the member has begun to serve clients. */
  serves(): void
}
