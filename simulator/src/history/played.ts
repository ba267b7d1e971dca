import type { LoggedTxn } from '@zk/testing'
import type { Scenario } from '../scenario/scenario.ts'
import type { Recorded } from './history.ts'
import type { Line, LookUp } from './line.ts'
import type { ServerLog } from './server-log.ts'

/** A scenario that was played, with all that checkers look at. Times are true times, in ms. */
export interface Played {
  readonly scenario: Scenario
  readonly history: readonly Recorded[]
  readonly log: ServerLog
  /** The same, as it was committed. */
  readonly committed: readonly LoggedTxn[]
  /** Connections of clients that only call, by when they were dialed. */
  readonly lines: readonly Line[]
  /** Names that they looked up. */
  readonly lookUps: readonly LookUp[]
  /** Every event of a watch on a contender's node that a server sent: to which session, about which node. */
  readonly events: readonly SentEvent[]
  /** Sessions that a server gave a shorter timeout than they had, in an answer to a handshake that came too late or never. */
  readonly shortened: ReadonlySet<bigint>
  /** When the last fault was over. */
  readonly calmAt: number
  readonly end: EndState
}

export interface SentEvent {
  readonly at: number
  readonly session: bigint
  readonly path: string
}

/** How things stand when all clients are done, or the time is over. */
export interface EndState {
  readonly at: number
  /** Workers that are not done, of processes that live. */
  readonly pending: readonly string[]
  /** Contenders' nodes. */
  readonly nodes: readonly string[]
  /** Watches that servers keep, for living clients. */
  readonly serverWatches: number
  /** Of the processes, after every client was closed. */
  readonly timers: number
  readonly links: number
  /** Of each watching client, the last change that it saw; and the last that there was. */
  readonly watched: readonly { readonly client: number; readonly seen: number; readonly last: number }[]
}
