// Requests about the watches that a connection has.
import { type CheckWatchesRequest, ErrorCode, type SetWatches, type TypeOf, WatcherType } from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import type { DataTree } from './data-tree.ts'
import type { WatchManager } from './watch-manager.ts'

/**
 * Watches that a client had at another server: told at once where something has happened since `relativeZxid`, set
 * again where not. Returns an `ErrorCode`.
 */
export function setWatches(tree: DataTree, asked: TypeOf<typeof SetWatches>, watcher: Watcher): number {
  const { relativeZxid, dataWatches, existWatches, childWatches } = asked
  for (const path of dataWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    const node = tree.get(path)
    if (node === undefined) watcher.event('NodeDeleted', path, -1n)
    else if (node.mzxid > relativeZxid) watcher.event('NodeDataChanged', path, -1n)
    else tree.dataWatches.add(path, watcher)
  }
  for (const path of existWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    // Whether it was made and deleted in between cannot be seen.
    if (tree.get(path) === undefined) tree.dataWatches.add(path, watcher)
    else watcher.event('NodeCreated', path, -1n)
  }
  for (const path of childWatches ?? NULL) {
    if (path === null) return ErrorCode.MarshallingError
    const node = tree.get(path)
    if (node === undefined) watcher.event('NodeDeleted', path, -1n)
    else if (node.pzxid > relativeZxid) watcher.event('NodeChildrenChanged', path, -1n)
    else tree.childWatches.add(path, watcher)
  }
  return ErrorCode.Ok
}

/** Anybody's watch on the path will do: up to 3.8 the server does not look whose it is (WatchManager.containsWatcher). */
export function hasWatch(tree: DataTree, { path, type }: TypeOf<typeof CheckWatchesRequest>): number {
  const managers = managersOf(tree, type)
  if (managers === undefined || path === null) return ErrorCode.MarshallingError
  // It goes up the path from slash to slash, if only by one step: '' is at the end already, 'a' has nowhere to go.
  if (path === '') return ErrorCode.NoWatcher
  if (!path.includes('/')) return ErrorCode.MarshallingError
  return managers.some((watches) => watches.hasAny(path)) ? ErrorCode.Ok : ErrorCode.NoWatcher
}

export function removeWatch(
  tree: DataTree,
  { path, type }: TypeOf<typeof CheckWatchesRequest>,
  watcher: Watcher,
): number {
  const managers = managersOf(tree, type)
  if (managers === undefined) return ErrorCode.MarshallingError
  if (path === null) return ErrorCode.NoWatcher
  // All of them, so no `some`.
  const removed = managers.filter((watches) => watches.remove(path, watcher))
  return removed.length > 0 ? ErrorCode.Ok : ErrorCode.NoWatcher
}

function managersOf(tree: DataTree, type: number): readonly WatchManager[] | undefined {
  switch (type) {
    case WatcherType.Children:
      return [tree.childWatches]
    case WatcherType.Data:
      return [tree.dataWatches]
    case WatcherType.Any:
      return [tree.childWatches, tree.dataWatches]
    default:
      // WatcherType.fromInt
      return undefined
  }
}

/** A list that is null: what is behind it is not reached. */
const NULL = [null] as const
