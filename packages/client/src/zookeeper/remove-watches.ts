// Removes watches of a client, locally and on the server.
import { atCaller, KeeperError } from '../base/errors.ts'
import { throwIfAborted } from '../base/signals.ts'
import { type CallOptions, checkCallOptions } from '../operations/call-options.ts'
import { checkedType, type RemovableWatches, removeWatches } from '../operations/remove-watches.ts'
import type { Calls } from './calls.ts'

export async function removeWatchesOf(
  calls: Calls,
  path: string,
  type: RemovableWatches,
  options: CallOptions,
): Promise<void> {
  const { chroot } = calls
  // All checks come before any watcher is removed: a refused call changes nothing.
  checkCallOptions('removeWatches', options)
  const session = calls.sessionOf(options)
  throwIfAborted(options.signal)
  const absolute = chroot.absolute(path)
  const wereThere = session.takeWatchers(absolute, checkedType(type))
  if (!wereThere && !session.signal.aborted) {
    throw new KeeperError('NoWatcher', { op: 'removeWatches', path, chroot: chroot.shown, ...session.errorContext })
  }
  const removal = session.removal(absolute, type)
  if (removal === undefined) return session.notifyTaken()
  try {
    const effect = { type: 'remove', path: absolute, watches: removal } as const
    // Before the watchers are notified: a diagnostics subscriber may set a watch then, which this must not remove.
    const removed = session.call(removeWatches, chroot, [path, removal], options, effect)
    session.notifyTaken()
    await removed
  } catch (error) {
    throw atCaller(error, options?.signal)
  }
}
