// What waits for events: a one-shot watcher for one of them, a persistent one for all.
import type { EventType } from '@zk/wire'
import type { KeeperError } from '../../errors.ts'

export type WatchKind = 'data' | 'exist' | 'child'
/** The server keeps two tables; its data table holds exist watches too. */
export type WatchTable = 'data' | 'child'
export type WatchMode = 'persistent' | 'recursive'

export type NodeEventType = 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
/** What ends a watch for one event. */
export type FiredType = Exclude<EventType, 'None' | 'PersistentWatchRemoved'>

/** It is registered when its read is called, counts from the reply that sets it, and is notified once. */
export interface OneShotWatcher {
  /** The server's path. */
  readonly path: string
  /** What the reply made of it: `exist` becomes `data` when the node is there. */
  kind: WatchKind
  /** `sent` with its read, on this connection. */
  phase: 'asked' | 'sent' | 'set' | 'gone'
  /** The server has a watch for it already, from one that is gone. */
  sharesWatch?: boolean
  /** Whether it asked the server for a watch; where a persistent one has the same events it does not. */
  isArmed?: boolean
  notify(outcome: OneShotOutcome): void
}

/** How a watch for one event ends. */
export type OneShotOutcome =
  | { readonly type: FiredType; readonly zxid?: bigint | undefined }
  | { readonly type: 'SessionEnded' }

export interface PersistentWatcher {
  /** The server's path. */
  readonly path: string
  readonly mode: WatchMode
  /** `sent` is on this connection; `away` was set on a connection that is lost. */
  phase: 'asked' | 'sent' | 'set' | 'away' | 'gone'
  notify(outcome: PersistentOutcome): void
}

export type PersistentOutcome =
  /** `path` is the server's. */
  | { readonly type: NodeEventType; readonly path: string; readonly zxid?: bigint }
  /** From now on the server watches: for the first time, or again on another connection. */
  | { readonly type: 'Set' }
  /** It was set, and the server of the next connection will not set it. */
  | { readonly type: 'Refused'; readonly error: KeeperError }
  | { readonly type: 'PersistentWatchRemoved' }
  | { readonly type: 'SessionEnded' }

/** What both kinds have in common. */
export interface Watcher {
  readonly path: string
  notify(outcome: OneShotOutcome | PersistentOutcome): void
}

export function tableOf(kind: WatchKind): WatchTable {
  return kind === 'child' ? 'child' : 'data'
}

/** The mode that serves all of them: of a path with both kinds the server is asked for the recursive watch. */
export function modeFor(watchers: readonly PersistentWatcher[]): WatchMode | undefined {
  return watchers.some(({ mode }) => mode === 'recursive') ? 'recursive' : watchers[0]?.mode
}
