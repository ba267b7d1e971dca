import { type ACL, type EventType, Perms } from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import { allowed } from './acl.ts'
import { parentOf } from './paths.ts'
import type { Release } from './releases.ts'

/**
 * How a connection watches a path (WatcherMode): for one event, for all events, or for all events including those below the
 * path. These are bits, because a connection may have several modes on one path.
 */
export const WatchMode = { standard: 1, persistent: 2, recursive: 4 } as const

/**
 * What happens if a connection adds a second mode on one path. 'one', as up to 3.8: the second mode replaces the first, so a
 * read also replaces a persistent watch. 'several', as from 3.9 on: both stay (ZOOKEEPER-4466).
 */
export type WatchModes = 'one' | 'several'

export interface WatchesSummary {
  readonly connections: number
  readonly paths: number
  readonly watches: number
}

/** The watchers of each path (WatchManager). */
export class WatchManager {
  readonly #release: Release
  readonly #modes: WatchModes
  readonly #byPath = new Map<string, Set<Watcher>>()
  /** The paths of each watcher, with the modes of its watches. */
  readonly #byWatcher = new Map<Watcher, Map<string, number>>()
  /** Connections that have ended. A read of such a connection may still be executed, but sets no watch (isDeadWatcher). */
  readonly #gone = new WeakSet<Watcher>()
  /** The number of recursive watches. While it is 0, only watches on the path itself are looked up (WatcherModeManager). */
  #recursive = 0

  constructor(release: Release, modes: WatchModes) {
    this.#release = release
    this.#modes = modes
  }

  add(path: string, watcher: Watcher, mode: number = WatchMode.standard): void {
    if (this.#gone.has(watcher)) return
    const watchers = this.#byPath.get(path)
    if (watchers === undefined) this.#byPath.set(path, new Set([watcher]))
    else watchers.add(watcher)
    const paths = this.#byWatcher.get(watcher) ?? new Map<string, number>()
    this.#byWatcher.set(watcher, paths)
    this.#set(paths, path, this.#modes === 'one' ? mode : (paths.get(path) ?? 0) | mode)
  }

  /**
   * Notifies all watchers of the path, and the recursive watchers above it, except those in `suppressed`. Returns all of
   * them. With `hidesEvents`, a client without the right to read a node with this ACL gets no event, but loses its one-shot
   * watch.
   */
  trigger(
    path: string,
    type: EventType,
    zxid: bigint,
    acl: readonly ACL[],
    suppressed?: ReadonlySet<Watcher>,
  ): ReadonlySet<Watcher> | undefined {
    const notified = new Set<Watcher>()
    for (const at of this.#recursive === 0 ? [path] : upFrom(path)) {
      for (const watcher of this.#byPath.get(at) ?? []) {
        const paths = this.#byWatcher.get(watcher)!
        const modes = paths.get(at)!
        // A recursive watch gets the events of the children in place of this one.
        const isRecursive = (modes & WatchMode.recursive) !== 0 && type !== 'NodeChildrenChanged'
        if (at !== path) {
          if (isRecursive) notified.add(watcher)
          continue
        }
        if (isRecursive || (modes & ~WatchMode.recursive) !== 0) notified.add(watcher)
        if ((modes & WatchMode.standard) !== 0) this.#unset(paths, at, watcher, WatchMode.standard)
      }
    }
    if (notified.size === 0) return undefined
    const { hidesEvents, tellsZxidOfEvents } = this.#release
    for (const watcher of notified) {
      if (suppressed?.has(watcher) || (hidesEvents && !allowed(acl, Perms.READ, watcher.authInfo))) continue
      watcher.event(type, path, tellsZxidOfEvents ? zxid : -1n)
    }
    return notified
  }

  /** Whether the path has a watcher. */
  hasAny(path: string): boolean {
    return this.#byPath.has(path)
  }

  /** Whether this watcher has a watch on the path in one of these modes. */
  has(path: string, watcher: Watcher, modes: number = ALL): boolean {
    return ((this.#byWatcher.get(watcher)?.get(path) ?? 0) & modes) !== 0
  }

  /** Whether the watches of all paths above are looked up, too. */
  get looksUp(): boolean {
    return this.#recursive > 0
  }

  /** The paths that the watcher watches; undefined if it never had a watch. */
  pathsOf(watcher: Watcher): string[] | undefined {
    const paths = this.#byWatcher.get(watcher)
    return paths && [...paths.keys()]
  }

  /** Removes the watches in these modes. Returns whether there was one. */
  remove(path: string, watcher: Watcher, modes: number = ALL): boolean {
    const paths = this.#byWatcher.get(watcher)
    if (paths === undefined || !this.has(path, watcher, modes)) return false
    this.#unset(paths, path, watcher, modes)
    if (paths.size === 0 && this.#release.forgetsWatchers) this.#byWatcher.delete(watcher)
    return true
  }

  /** Removes all watches of a connection that has ended, and accepts no more of them. */
  removeWatcher(watcher: Watcher): void {
    this.#gone.add(watcher)
    const paths = this.#byWatcher.get(watcher)
    for (const path of paths?.keys() ?? []) this.#unset(paths!, path, watcher, ALL)
    this.#byWatcher.delete(watcher)
  }

  /** The number of watches. */
  get size(): number {
    let size = 0
    for (const watchers of this.#byPath.values()) size += watchers.size
    return size
  }

  /** For `wchs` (WatchManager.toString). A connection whose last watch has fired still counts. */
  get summary(): WatchesSummary {
    return { connections: this.#byWatcher.size, paths: this.#byPath.size, watches: this.size }
  }

  #set(paths: Map<string, number>, path: string, modes: number): void {
    this.#recursive += recursive(modes) - recursive(paths.get(path) ?? 0)
    paths.set(path, modes)
  }

  #unset(paths: Map<string, number>, path: string, watcher: Watcher, modes: number): void {
    const left = (paths.get(path) ?? 0) & ~modes
    this.#set(paths, path, left)
    if (left !== 0) return
    paths.delete(path)
    const watchers = this.#byPath.get(path)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#byPath.delete(path)
  }
}

const ALL = WatchMode.standard | WatchMode.persistent | WatchMode.recursive

const recursive = (modes: number): number => ((modes & WatchMode.recursive) === 0 ? 0 : 1)

/** `/a/b`, `/a`, `/` (PathParentIterator) */
function* upFrom(path: string): Generator<string> {
  for (let at = path; at !== ''; at = at === '/' ? '' : parentOf(at) || '/') yield at
}
