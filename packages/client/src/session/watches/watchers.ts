// The two kinds of watchers: a one-shot watcher gets one event, a persistent watcher gets all events.
import type { EventType } from '@zk/wire'
import type { KeeperErrorCode, KeeperErrorDetails } from '../../base/errors.ts'
import type { WatchKind } from '../../operations/operation.ts'

export type { WatchKind }

/** The server's table in which a watch is. The data table also has the watches of exists. */
export type WatchTable = 'data' | 'child'
export type WatchMode = 'persistent' | 'recursive'

export type NodeEventType = 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'
/** The types of events that end a one-shot watch. */
export type FiredType = Exclude<EventType, 'None' | 'PersistentWatchRemoved'>

/** A watcher that is registered at the call of a read, is set by the reply, and is notified once. */
export interface OneShotWatcher {
  /** The path as the server knows it, with the chroot. */
  readonly path: string
  /** The kind. If the reply to an exists shows that the node exists, `exist` becomes `data`. */
  kind: WatchKind
  /** `unsent`: registered. `sent`: its read was sent on this connection. `set`: the reply has confirmed it. `gone`: removed. */
  phase: 'unsent' | 'sent' | 'set' | 'gone'
  /** Whether the server may already have a watch for its events, which a removed watcher has set. */
  sharesWatch?: boolean
  /** Whether the server has been asked to set a watch for it. This is not needed if a persistent watch has the same events. */
  isArmed?: boolean
  notify(outcome: OneShotOutcome): void
}

/** How a one-shot watch ends. */
export type OneShotOutcome =
  | { readonly type: FiredType; readonly zxid?: bigint | undefined }
  | { readonly type: 'SessionEnded' }

export interface PersistentWatcher {
  /** The path as the server knows it, with the chroot. */
  readonly path: string
  readonly mode: WatchMode
  /** As in `OneShotWatcher`. `away`: it was set on a connection that is lost, and is not set yet on the next one. */
  phase: 'unsent' | 'sent' | 'set' | 'away' | 'gone'
  notify(outcome: PersistentOutcome): void
}

export type PersistentOutcome =
  /** an event; `path` is the path as the server knows it */
  | { readonly type: NodeEventType; readonly path: string; readonly zxid?: bigint }
  /** from now on the server has the watch: for the first time, or again on another connection */
  | { readonly type: 'Set' }
  /** it was set before, and the server of the next connection refuses it */
  | { readonly type: 'Refused'; readonly code: KeeperErrorCode; readonly details: KeeperErrorDetails }
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

/** The mode of a watch that has the events of all these watchers: recursive if one of them is; undefined if there are none. */
export function modeFor(watchers: readonly PersistentWatcher[]): WatchMode | undefined {
  return watchers.some(({ mode }) => mode === 'recursive') ? 'recursive' : watchers[0]?.mode
}
