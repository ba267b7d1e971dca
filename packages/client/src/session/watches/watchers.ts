// The two kinds of watchers: a one-shot watcher gets one event, a persistent watcher gets all.
import type { EventType } from '@zk/wire'
import type { KeeperError } from '../../errors.ts'

export type WatchKind = 'data' | 'exist' | 'child'
/** A table of the server. Its data table also has the watches of exists. */
export type WatchTable = 'data' | 'child'
export type WatchMode = 'persistent' | 'recursive'

export type NodeEventType = 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
/** The end of a one-shot watch. */
export type FiredType = Exclude<EventType, 'None' | 'PersistentWatchRemoved'>

/** A one-shot watcher. It is registered at the call of its read, is set by the reply, and is notified once. */
export interface OneShotWatcher {
  /** The server's path. */
  readonly path: string
  /** The kind after the reply: `exist` becomes `data` when the node exists. */
  kind: WatchKind
  /** `unsent` is registered; `sent` is with its read, on this connection; `set` is confirmed by the reply. */
  phase: 'unsent' | 'sent' | 'set' | 'gone'
  /** Whether the server already has a watch for it, from a watcher that is gone. */
  sharesWatch?: boolean
  /** Whether its read sets a watch. It does not where a persistent one has the same events. */
  isArmed?: boolean
  notify(outcome: OneShotOutcome): void
}

/** How a one-shot watch ends. */
export type OneShotOutcome =
  | { readonly type: FiredType; readonly zxid?: bigint | undefined }
  | { readonly type: 'SessionEnded' }

export interface PersistentWatcher {
  /** The server's path. */
  readonly path: string
  readonly mode: WatchMode
  /** `unsent` is registered; `sent` is on this connection; `away` was set on a connection that is lost. */
  phase: 'unsent' | 'sent' | 'set' | 'away' | 'gone'
  notify(outcome: PersistentOutcome): void
}

export type PersistentOutcome =
  /** An event. `path` is the server's. */
  | { readonly type: NodeEventType; readonly path: string; readonly zxid?: bigint }
  /** From now on the server has the watch: for the first time, or again on another connection. */
  | { readonly type: 'Set' }
  /** It was set before, and the server of the next connection refuses it. */
  | { readonly type: 'Refused'; readonly error: KeeperError }
  | { readonly type: 'PersistentWatchRemoved' }
  | { readonly type: 'SessionEnded' }

/** The common part of both kinds. */
export interface Watcher {
  readonly path: string
  notify(outcome: OneShotOutcome | PersistentOutcome): void
}

export function tableOf(kind: WatchKind): WatchTable {
  return kind === 'child' ? 'child' : 'data'
}

/** The mode that serves all of them: recursive, if there are both kinds. */
export function modeFor(watchers: readonly PersistentWatcher[]): WatchMode | undefined {
  return watchers.some(({ mode }) => mode === 'recursive') ? 'recursive' : watchers[0]?.mode
}
