// Persistent watches: who is told again and again, and what the server keeps for them.
//
// Servers up to 3.8 keep one mode for a path and a connection: the last one asked for. From 3.9 on they keep all, and a
// client cannot know which it has. So of a path that has both kinds of watchers the server is asked for the recursive
// watch only: it tells all that the other kind must know but one thing, that children changed, and that follows from the
// creation or deletion of a child.
import { parentOf } from '@zk/wire'
import type { KeeperError } from '../../errors.ts'
import type { WatchTable } from './one-shot-watches.ts'

export type WatchMode = 'persistent' | 'recursive'
export type NodeEventType = 'NodeCreated' | 'NodeDeleted' | 'NodeDataChanged' | 'NodeChildrenChanged'

export type PersistentOutcome =
  /** `path` is the server's. */
  | { readonly type: NodeEventType; readonly path: string; readonly zxid?: bigint }
  /** From now on the server watches: for the first time, or again on another connection. */
  | { readonly type: 'Set' }
  /** It was set, and the server of the next connection will not set it. */
  | { readonly type: 'Refused'; readonly error: KeeperError }
  | { readonly type: 'PersistentWatchRemoved' }
  | { readonly type: 'SessionEnded' }

export interface PersistentWatcher {
  /** The server's path. */
  readonly path: string
  readonly mode: WatchMode
  /** `sent` is on this connection; `away` was set on a connection that is lost. */
  phase: 'asked' | 'sent' | 'set' | 'away' | 'gone'
  notify(outcome: PersistentOutcome): void
}

/** What is known of one path that has, or had, persistent watchers. */
interface PathState {
  readonly watchers: Set<PersistentWatcher>
  /** What the server will watch when it has done all that was sent. */
  sent: WatchMode | undefined
  /** What it watches as far as it has answered. */
  live: WatchMode | undefined
}

type Notification = readonly [PersistentWatcher, PersistentOutcome]

export class PersistentWatches {
  readonly #places = new Map<string, PathState>()

  add(watcher: PersistentWatcher): void {
    this.at(watcher.path).watchers.add(watcher)
  }

  /** False when it was gone already. */
  remove(watcher: PersistentWatcher): boolean {
    if (watcher.phase === 'gone') return false
    watcher.phase = 'gone'
    this.#places.get(watcher.path)?.watchers.delete(watcher)
    return true
  }

  /** The place of this path; `forget` it when it may be of no further use. */
  at(path: string): PathState {
    const known = this.#places.get(path)
    if (known !== undefined) return known
    const place: PathState = { watchers: new Set(), sent: undefined, live: undefined }
    this.#places.set(path, place)
    return place
  }

  forget(path: string): void {
    const place = this.#places.get(path)
    if (place?.watchers.size === 0 && place.sent === undefined && place.live === undefined) this.#places.delete(path)
  }

  on(path: string): PersistentWatcher[] {
    return [...(this.#places.get(path)?.watchers ?? [])]
  }

  /** The mode that serves all that were sent for, or set before. */
  wanted(path: string): WatchMode | undefined {
    return modeFor(this.on(path).filter(({ phase }) => phase !== 'asked'))
  }

  /** Whether somebody needs what the server's table has for the path: it must not be removed. */
  needs(path: string, table: WatchTable): boolean {
    return this.on(path).some(({ mode }) => mode === 'persistent' || table === 'data')
  }

  /** Whether the server will tell by a persistent watch all that a one-shot watch would. */
  covers(path: string): boolean {
    return this.#places.get(path)?.sent !== undefined
  }

  /** The node that has other children now, where the server tells it by the child alone. */
  impliedParent(type: string, path: string): string | undefined {
    if ((type !== 'NodeCreated' && type !== 'NodeDeleted') || path === '/') return undefined
    const parent = parentOf(path)
    const { live, sent } = this.#places.get(parent) ?? {}
    return (live ?? sent) === 'recursive' ? parent : undefined
  }

  /** Who is told of an event, and of what. */
  concerned(type: NodeEventType, path: string, zxid: bigint): Notification[] {
    if (this.#places.size === 0) return []
    const told: Notification[] = []
    const event = (type: NodeEventType, path: string) => ({ type, path, ...(zxid > 0n ? { zxid } : {}) })
    for (const at of upFrom(path)) {
      const place = this.#places.get(at)
      for (const watcher of place?.watchers ?? []) {
        if (watcher.phase !== 'set') continue
        const hears =
          type === 'NodeChildrenChanged'
            ? at === path && watcher.mode === 'persistent' && place?.live === 'persistent'
            : at === path || watcher.mode === 'recursive'
        if (hears) told.push([watcher, event(type, path)])
      }
    }
    const parent = this.impliedParent(type, path)
    for (const watcher of parent === undefined ? [] : this.on(parent)) {
      const follows = watcher.phase === 'set' && watcher.mode === 'persistent'
      if (follows) told.push([watcher, event('NodeChildrenChanged', parent!)])
    }
    return told
  }

  /** Whether the server may well send an event of this path: it watches, or has not been heard to stop. */
  expects(path: string): boolean {
    return upFrom(path).some((at) => {
      const { live, sent } = this.#places.get(at) ?? {}
      return at === path ? (live ?? sent) !== undefined : live === 'recursive' || sent === 'recursive'
    })
  }

  /** The connection is gone, and all that its server watched. */
  interrupted(): void {
    for (const [path, place] of this.#places) {
      place.sent = undefined
      place.live = undefined
      for (const watcher of place.watchers) {
        // A request that was sent is repeated.
        if (watcher.phase === 'sent') watcher.phase = 'asked'
        else if (watcher.phase === 'set') watcher.phase = 'away'
      }
      this.forget(path)
    }
  }

  /** What a new connection must set again, by path. */
  away(): Map<string, WatchMode> {
    const away = new Map<string, WatchMode>()
    for (const [path, { watchers }] of this.#places) {
      const mode = modeFor([...watchers].filter(({ phase }) => phase === 'away'))
      if (mode !== undefined) away.set(path, mode)
    }
    return away
  }

  *all(): Generator<PersistentWatcher> {
    for (const { watchers } of this.#places.values()) yield* watchers
  }
}

function modeFor(watchers: readonly PersistentWatcher[]): WatchMode | undefined {
  return watchers.some(({ mode }) => mode === 'recursive') ? 'recursive' : watchers[0]?.mode
}

/** `/a/b`, `/a`, `/`, as servers look for recursive watches (PathParentIterator). */
function upFrom(path: string): string[] {
  const paths = [path]
  for (let at = path; at !== '/' && at.startsWith('/');) paths.push((at = parentOf(at)))
  return paths
}
