import type { LoggedTxn } from '@zk/testing'
import type { Scenario } from '../scenario/scenario.ts'
import type { Recorded } from './history.ts'
import type { Line, LookUp } from './line.ts'
import type { ServerLog } from './server-log.ts'

/** A scenario that was played, with all the data for the checks. Times are true times, in ms. */
export interface Played {
  readonly scenario: Scenario
  readonly history: readonly Recorded[]
  readonly log: ServerLog
  /** The same history as the ensemble committed it. */
  readonly committed: readonly LoggedTxn[]
  /** The connections of clients with plain calls, in the order in which they were dialed. */
  readonly lines: readonly Line[]
  /** The names that those clients looked up. */
  readonly lookUps: readonly LookUp[]
  /** Every event that a server sent about a contender's node: the session and the node. */
  readonly events: readonly SentEvent[]
  /** The sessions whose timeout a server shortened in a handshake whose answer came too late or never. */
  readonly shortened: ReadonlySet<bigint>
  /** The time when the last fault was over. */
  readonly calmAt: number
  readonly end: EndState
}

export interface SentEvent {
  readonly at: number
  readonly session: bigint
  readonly path: string
}

/** The state when all clients are done, or the time is over. */
export interface EndState {
  readonly at: number
  /** The workers that are not done, in processes that are alive. */
  readonly pending: readonly string[]
  /** The clients, in processes that are alive, that have found no server again. */
  readonly unconnected: readonly number[]
  /** The nodes of contenders that are left. */
  readonly nodes: readonly string[]
  /** The watches that servers still have for clients that are alive. */
  readonly serverWatches: number
  /** Timers and connections of the processes, after every client was closed. */
  readonly timers: number
  readonly links: number
  /** What clients did not have as the ensemble had it, before all finished: members of a group, nodes of a mirror. */
  readonly differences?: readonly string[]
  /** The last change that each watching client saw, and the last change that there was. */
  readonly watched: readonly { readonly client: number; readonly seen: number; readonly last: number }[]
}
