import { operations, WatcherType } from '@zk/wire'
import type { Operation } from './operation.ts'

/** Which watches of a path: one-shot watches on its data (and existence) or on its children, persistent watches, or all. */
export type RemovableWatches = WatcherType

const removable = ['Data', 'Children', 'Persistent', 'PersistentRecursive', 'Any'] satisfies RemovableWatches[]

/** Returns the type. Throws a `TypeError` for any other value. */
export function checkedType(type: RemovableWatches): RemovableWatches {
  if (Object.hasOwn(WatcherType, type)) return type
  throw new TypeError(`type must be one of ${removable.join(', ')}`)
}

type Args = [path: string, type: RemovableWatches]

/**
 * Opcode 18, removeWatches. Java's removeWatches with a watcher sends 17, checkWatches, which removes no watch on the server.
 */
export const removeWatches: Operation<Args, typeof operations.removeWatches, void> = {
  name: 'removeWatches',
  wire: operations.removeWatches,
  encode: (chroot, path, type) => ({ path: chroot.absolute(path), type: WatcherType[type] }),
  result: () => undefined,
  // The watch has fired meanwhile, or was lost with its connection.
  answers: { NoWatcher: () => undefined },
}
