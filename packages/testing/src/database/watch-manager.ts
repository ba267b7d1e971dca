import { type ACL, type EventType, Perms } from '@zk/wire'
import type { Watcher } from '../server/request.ts'
import { allowed } from './acl.ts'

export interface WatchesSummary {
  readonly connections: number
  readonly paths: number
  readonly watches: number
}

/** Who is told once when something happens to a path (WatchManager). */
export class WatchManager {
  readonly #byPath = new Map<string, Set<Watcher>>()
  readonly #byWatcher = new Map<Watcher, Set<string>>()
  /** Connections that are gone: a read of theirs that was still on its way sets no watch (isDeadWatcher). */
  readonly #gone = new WeakSet<Watcher>()

  add(path: string, watcher: Watcher): void {
    if (this.#gone.has(watcher)) return
    const watchers = this.#byPath.get(path)
    if (watchers === undefined) this.#byPath.set(path, new Set([watcher]))
    else watchers.add(watcher)
    const paths = this.#byWatcher.get(watcher)
    if (paths === undefined) this.#byWatcher.set(watcher, new Set([path]))
    else paths.add(path)
  }

  /**
   * Tells all watchers of the path but those `suppressed`, and returns them all. Who may not read a node with this ACL is
   * told nothing, and has lost its watch all the same (CVE-2024-23944: from 3.8.4 on, and in Debian's 3.8.0).
   */
  trigger(
    path: string,
    type: EventType,
    acl: readonly ACL[],
    suppressed?: ReadonlySet<Watcher>,
  ): ReadonlySet<Watcher> | undefined {
    const watchers = this.#byPath.get(path)
    if (watchers === undefined) return undefined
    this.#byPath.delete(path)
    for (const watcher of watchers) this.#byWatcher.get(watcher)?.delete(path)
    for (const watcher of watchers) {
      // Up to 3.8 an event does not say which transaction it is about.
      if (!suppressed?.has(watcher) && allowed(acl, Perms.READ, watcher.authInfo)) watcher.event(type, path, -1n)
    }
    return watchers
  }

  /** Somebody watches the path. */
  hasAny(path: string): boolean {
    return this.#byPath.has(path)
  }

  /** Says whether there was one. */
  remove(path: string, watcher: Watcher): boolean {
    if (!this.#byWatcher.get(watcher)?.delete(path)) return false
    const watchers = this.#byPath.get(path)
    watchers?.delete(watcher)
    if (watchers?.size === 0) this.#byPath.delete(path)
    return true
  }

  /** The connection is gone, and will never watch again. */
  removeWatcher(watcher: Watcher): void {
    this.#gone.add(watcher)
    for (const path of this.#byWatcher.get(watcher) ?? []) {
      const watchers = this.#byPath.get(path)
      watchers?.delete(watcher)
      if (watchers?.size === 0) this.#byPath.delete(path)
    }
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
}
