import { operations, WatcherType } from '@zk/wire'
import type { WatchMode, WatchTable } from '../session/watches/watchers.ts'
import type { Operation } from './operation.ts'

/** Which watches of a path: one-shot watches on its data (and existence) or on its children, persistent watches, or all. */
export type RemovableWatches = WatcherType

/** What a type includes: tables of one-shot watches, and modes of persistent watches. */
export interface Removed {
  readonly tables: readonly WatchTable[]
  readonly modes: readonly WatchMode[]
}

const removed: Record<RemovableWatches, Removed> = {
  Data: { tables: ['data'], modes: [] },
  Children: { tables: ['child'], modes: [] },
  Persistent: { tables: [], modes: ['persistent'] },
  PersistentRecursive: { tables: [], modes: ['recursive'] },
  Any: { tables: ['data', 'child'], modes: ['persistent', 'recursive'] },
}

/** Returns what a type includes. Throws as `checkedType` does. */
export const removedWatches = (type: RemovableWatches): Removed => removed[checkedType(type)]

/** Returns the type. Throws a `TypeError` for any other value. */
export function checkedType(type: RemovableWatches): RemovableWatches {
  if (Object.hasOwn(removed, type)) return type
  throw new TypeError(`type must be one of ${Object.keys(removed).join(', ')}`)
}

type Args = [path: string, type: RemovableWatches]

/**
 * Opcode 18, removeWatches. Java's removeWatches with a watcher sends 17, checkWatches, which removes no watch at the server.
 */
export const removeWatches: Operation<Args, typeof operations.removeWatches, void> = {
  name: 'removeWatches',
  wire: operations.removeWatches,
  encode: (chroot, path, type) => ({ path: chroot.absolute(path), type: WatcherType[type] }),
  result: () => undefined,
  // The watch has fired meanwhile, or was lost with its connection.
  answers: { NoWatcher: () => undefined },
}
