import { type ACL, type EventType, Perms } from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import { allowed } from './acl.ts'
import { parentOf } from './paths.ts'

/**
 * How a connection watches a path (WatcherMode): until it is told once, for good, or for good with all that is below it.
 * As bits, for one path may have several.
 */
export const WatchMode = { standard: 1, persistent: 2, recursive: 4 } as const

/**
 * What a second mode of one connection on one path does: up to 3.8 it takes the place of the first, also where that is a
 * persistent watch and the second that of a read; from 3.9 on there are both (ZOOKEEPER-4466).
 */
export type WatchModes = 'one' | 'several'

export interface WatchesSummary {
  readonly connections: number
  readonly paths: number
  readonly watches: number
}

/** The watchers of each path (WatchManager). */
export class WatchManager {
  readonly #modes: WatchModes
  readonly #byPath = new Map<string, Set<Watcher>>()
  /** Of each watcher: its paths, and how it watches them. */
  readonly #byWatcher = new Map<Watcher, Map<string, number>>()
  /** Connections that are gone: a read of theirs that was still on its way sets no watch (isDeadWatcher). */
  readonly #gone = new WeakSet<Watcher>()
  /** Number of recursive watches: while there are none, no path above is looked at (WatcherModeManager). */
  #recursive = 0

  constructor(modes: WatchModes = 'one') {
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
   * Tells all watchers of the path, and recursive ones above it, but those `suppressed`, and returns them all. A client
   * that may not read a node with this ACL gets no event, and loses its one-shot watch all the same (CVE-2024-23944: from 3.8.4
   * on, and in Debian's 3.8.0).
   */
  trigger(
    path: string,
    type: EventType,
    acl: readonly ACL[],
    suppressed?: ReadonlySet<Watcher>,
  ): ReadonlySet<Watcher> | undefined {
    const told = new Set<Watcher>()
    for (const at of this.#recursive === 0 ? [path] : upFrom(path)) {
      for (const watcher of this.#byPath.get(at) ?? []) {
        const paths = this.#byWatcher.get(watcher)!
        const modes = paths.get(at)!
        // A recursive watch has the events of the children themselves.
        const isRecursive = (modes & WatchMode.recursive) !== 0 && type !== 'NodeChildrenChanged'
        if (at !== path) {
          if (isRecursive) told.add(watcher)
          continue
        }
        if (isRecursive || (modes & ~WatchMode.recursive) !== 0) told.add(watcher)
        if ((modes & WatchMode.standard) !== 0) this.#unset(paths, at, watcher, WatchMode.standard)
      }
    }
    if (told.size === 0) return undefined
    for (const watcher of told) {
      // Up to 3.8 an event does not say which transaction it is about.
      if (!suppressed?.has(watcher) && allowed(acl, Perms.READ, watcher.authInfo)) watcher.event(type, path, -1n)
    }
    return told
  }

  /** The path has a watcher. */
  hasAny(path: string): boolean {
    return this.#byPath.has(path)
  }

  /** This watcher watches the path, in one of these modes. */
  has(path: string, watcher: Watcher, modes: number = ALL): boolean {
    return ((this.#byWatcher.get(watcher)?.get(path) ?? 0) & modes) !== 0
  }

  /** Whether paths are followed to the root. */
  get looksUp(): boolean {
    return this.#recursive > 0
  }

  /** Of one that has, or had, a watch. */
  pathsOf(watcher: Watcher): string[] | undefined {
    const paths = this.#byWatcher.get(watcher)
    return paths && [...paths.keys()]
  }

  /** Says whether there was one. */
  remove(path: string, watcher: Watcher, modes: number = ALL): boolean {
    const paths = this.#byWatcher.get(watcher)
    if (paths === undefined || !this.has(path, watcher, modes)) return false
    this.#unset(paths, path, watcher, modes)
    return true
  }

  /** The connection is gone, and will never watch again. */
  removeWatcher(watcher: Watcher): void {
    this.#gone.add(watcher)
    const paths = this.#byWatcher.get(watcher)
    for (const path of paths?.keys() ?? []) this.#unset(paths!, path, watcher, ALL)
    this.#byWatcher.delete(watcher)
  }

  /** Number of watches. */
  get size(): number {
    let size = 0
    for (const watchers of this.#byPath.values()) size += watchers.size
    return size
  }

  /** A connection counts from its first watch on, also when none is left (WatchManager.toString, what `wchs` prints). */
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
