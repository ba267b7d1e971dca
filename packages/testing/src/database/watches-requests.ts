// Requests about the watches of a connection.
import {
  type AddWatchRequest,
  AddWatchMode,
  type CheckWatchesRequest,
  ErrorCode,
  type EventType,
  Perms,
  type SetWatches,
  type SetWatches2,
  type TypeOf,
  WatcherType,
} from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import { allowed } from './acl.ts'
import type { DataNode } from './data-node.ts'
import type { DataTree } from './data-tree.ts'
import { type WatchManager, WatchMode } from './watch-manager.ts'

/**
 * Sets watches that a client had on another server. A one-shot watch fires at once if its node has changed since `relativeZxid`,
 * otherwise it is set again. With `hidesMissedEvents`, a client
 * without the right to read the node gets no event, but loses the watch. Persistent watches are set, without events for earlier changes. Returns an `ErrorCode`.
 */
export function setWatches(
  tree: DataTree,
  asked: TypeOf<typeof SetWatches> & Partial<TypeOf<typeof SetWatches2>>,
  watcher: Watcher,
): number {
  const { relativeZxid, dataWatches, existWatches, childWatches } = asked
  const tell = (type: EventType, path: string, node?: DataNode): void => {
    const { hidesMissedEvents } = tree.release
    if (hidesMissedEvents && node !== undefined && !allowed(node.acl, Perms.READ, watcher.authInfo)) return
    watcher.event(type, path, -1n)
  }
  for (const path of dataWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    const node = tree.get(path)
    if (node === undefined) tell('NodeDeleted', path)
    else if (node.mzxid > relativeZxid) tell('NodeDataChanged', path, node)
    else tree.dataWatches.add(path, watcher)
  }
  for (const path of existWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    // If a node was created and deleted meanwhile, the server cannot know it.
    const node = tree.get(path)
    if (node === undefined) tree.dataWatches.add(path, watcher)
    else tell('NodeCreated', path, node)
  }
  for (const path of childWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    const node = tree.get(path)
    if (node === undefined) tell('NodeDeleted', path)
    else if (node.pzxid > relativeZxid) tell('NodeChildrenChanged', path, node)
    else tree.childWatches.add(path, watcher)
  }
  const { persistentWatches = [], persistentRecursiveWatches = [] } = asked
  for (const path of persistentWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    setPersistentWatch(tree, path, watcher, WatchMode.persistent)
  }
  for (const path of persistentRecursiveWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    setPersistentWatch(tree, path, watcher, WatchMode.recursive)
  }
  return ErrorCode.Ok
}

/** Adds a persistent watch. The path need not be valid, the node need not exist, and no right is needed. */
export function addWatch(tree: DataTree, { path, mode }: TypeOf<typeof AddWatchRequest>, watcher: Watcher): number {
  const added = modes.get(mode)
  // A real server takes null as a path, and fails at the second null.
  if (added === undefined || path === null) return ErrorCode.MarshallingError
  setPersistentWatch(tree, path, watcher, added)
  return ErrorCode.Ok
}

/** Whether there is such a watch, as an error code. With `checksWatchesOfAll`, the watch of any client on the path counts. */
export function hasWatch(tree: DataTree, { path, type }: TypeOf<typeof CheckWatchesRequest>, watcher: Watcher): number {
  const parts = partsOf(tree, type)
  if (parts === undefined) return ErrorCode.MarshallingError
  if (tree.watchModes === 'several' || !tree.release.checksWatchesOfAll) {
    const isSet = path !== null && parts.some(([watches, modes]) => watches.has(path, watcher, modes))
    return isSet ? ErrorCode.Ok : ErrorCode.NoWatcher
  }
  if (path === null) return ErrorCode.MarshallingError
  // The server goes up from slash to slash, at least once. '' ends before that, and 'a' has no slash.
  if (path === '') return ErrorCode.NoWatcher
  if (!path.includes('/')) return ErrorCode.MarshallingError
  let err: number = ErrorCode.NoWatcher
  for (const [watches] of parts) {
    if (watches.hasAny(path)) err = ErrorCode.Ok
    // With a recursive watch anywhere, the server goes up to the root, and fails for a path that does not begin with a
    // slash.
    else if (watches.looksUp && !path.startsWith('/')) return ErrorCode.MarshallingError
  }
  return err
}

export function removeWatch(
  tree: DataTree,
  { path, type }: TypeOf<typeof CheckWatchesRequest>,
  watcher: Watcher,
): number {
  const parts = partsOf(tree, type)
  if (parts === undefined) return ErrorCode.MarshallingError
  if (path === null) return ErrorCode.NoWatcher
  // `filter` and not `some`, because all watches must be removed.
  const removed = parts.filter(([watches, modes]) => watches.remove(path, watcher, modes))
  return removed.length > 0 ? ErrorCode.Ok : ErrorCode.NoWatcher
}

/**
 * Sets a persistent watch, in both tables. From 3.9 on a recursive watch is only in the table of data watches, which is
 * enough for its events.
 */
function setPersistentWatch(tree: DataTree, path: string, watcher: Watcher, mode: number): void {
  tree.dataWatches.add(path, watcher, mode)
  if (tree.watchModes === 'one' || mode !== WatchMode.recursive) tree.childWatches.add(path, watcher, mode)
}

/** The watches of a WatcherType, and their modes. Up to 3.8 the mode does not matter. */
function partsOf(tree: DataTree, type: number): readonly (readonly [WatchManager, modes?: number])[] | undefined {
  const { dataWatches, childWatches } = tree
  if (type === WatcherType.Any) return [[childWatches], [dataWatches]]
  if (tree.watchModes === 'one') {
    if (type === WatcherType.Children) return [[childWatches]]
    // WatcherType.fromInt
    return type === WatcherType.Data ? [[dataWatches]] : undefined
  }
  switch (type) {
    case WatcherType.Children:
      return [[childWatches, WatchMode.standard]]
    case WatcherType.Data:
      return [[dataWatches, WatchMode.standard]]
    case WatcherType.Persistent:
      return [
        [childWatches, WatchMode.persistent],
        [dataWatches, WatchMode.persistent],
      ]
    case WatcherType.PersistentRecursive:
      return [[dataWatches, WatchMode.recursive]]
    default:
      return undefined
  }
}

const modes: ReadonlyMap<number, number> = new Map([
  [AddWatchMode.PERSISTENT, WatchMode.persistent],
  [AddWatchMode.PERSISTENT_RECURSIVE, WatchMode.recursive],
])

/** Replaces a list that is null: at a null the server fails, and reads nothing more. */
const NULL = [null] as const
