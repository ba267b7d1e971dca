import { operations, WatcherType } from '@zk/wire'
import type { WatchTable } from '../session/watches.ts'
import type { Operation } from './operation.ts'

/** Which watches of a path: those on its data (exists watches too), on its children, or both. */
export type RemovableWatches = 'Data' | 'Children' | 'Any'

const tables = {
  Data: ['data'],
  Children: ['child'],
  Any: ['data', 'child'],
} as const satisfies Record<RemovableWatches, readonly WatchTable[]>

/** The server's tables that these watches are in; throws a `TypeError` for what is no such type. */
export function removedTables(type: RemovableWatches): readonly WatchTable[] {
  if (!Object.hasOwn(tables, type)) throw new TypeError("type must be 'Data', 'Children' or 'Any'")
  return tables[type]
}

type Args = [path: string, type: RemovableWatches]

/** Opcode 18: Java's removeWatches with a watcher sends 17, which leaves the watch at the server. */
export const removeWatches: Operation<Args, typeof operations.removeWatches, void> = {
  name: 'removeWatches',
  wire: operations.removeWatches,
  encode: (chroot, path, type) => ({ path: chroot.absolute(path), type: WatcherType[type] }),
  result: () => undefined,
  // It fired meanwhile, or went with its connection.
  forgives: { NoWatcher: () => undefined },
}
