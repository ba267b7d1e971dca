// Watches that are taken back: here at once, at the server where nobody else of this client needs them.
import { wholeTree } from '../chroot.ts'
import { prepare } from '../operations/operation.ts'
import { type RemovableWatches, removedWatches, removeWatches } from '../operations/remove-watches.ts'
import type { PersistentOutcome } from '../session/watches/persistent-watches.ts'
import type { Session } from '../session/driver/session.ts'
import type { Watcher, WatcherOutcome } from '../session/watches/one-shot-watches.ts'
import type { CallWatcher, Watched } from './watcher.ts'

/** What a read gives besides its result, for the watch that it has set. */
export function watchedBy(watcher: CallWatcher, session: Session): Watched {
  return {
    changed: watcher.changed(),
    unwatch: async () => {
      const isWaiting = watcher.phase === 'set'
      const wasLast = session.watches.unwatch(watcher)
      if (isWaiting) tellRemoved(watcher, session)
      if (!wasLast || session.connection === undefined) return
      const type = watcher.kind === 'child' ? 'Children' : 'Data'
      try {
        const removes = { path: watcher.path, type } as const
        await session.call(prepare(removeWatches, wholeTree, [watcher.path, type], { removes }), {})
      } catch (error) {
        // It went with the session.
        if (!session.signal.aborted) throw error
      }
    },
  }
}

/** Takes these watchers of a server's path out, and tells them. Says whether there were any. */
export function takeWatchers(session: Session, path: string, type: RemovableWatches): boolean {
  const { watches } = session
  const { tables, modes } = removedWatches(type)
  const once = watches.take(path, tables)
  const forGood = watches.persistentAt(path, modes)
  for (const watcher of once) tellRemoved(watcher, session)
  for (const watcher of forGood) tell(watcher, { type: 'PersistentWatchRemoved' }, session)
  return once.length + forGood.length > 0
}

function tellRemoved(watcher: Watcher, session: Session): void {
  tell(watcher, { type: watcher.kind === 'child' ? 'ChildWatchRemoved' : 'DataWatchRemoved' }, session)
}

function tell<Outcome extends WatcherOutcome | PersistentOutcome>(
  watcher: { readonly path: string; notify(outcome: Outcome): void },
  outcome: Outcome,
  session: Session,
): void {
  session.telemetry.notified(watcher, outcome, session)
  watcher.notify(outcome)
}
