// The watched paths of a session, and which watchers an event concerns.
import { parentOf } from '@zk/wire'
import { PathWatches } from './path-watches.ts'
import type { FiredType, NodeEventType, OneShotWatcher, PersistentWatcher } from './watchers.ts'

export class WatchedPaths {
  readonly #paths = new Map<string, PathWatches>()
  /** The paths whose watches on the server may differ from the wanted ones. They stay, even if they are empty. */
  readonly dirty = new Set<PathWatches>()
  /**
   * The length of the longest path that ever had a persistent watcher; 0 if no path had one, so the server has no persistent watch.
   * An event is not looked up at longer ancestors of its path: a path of 20,000 levels would take 0.3 s.
   */
  #longestPersistent = 0

  get isEmpty(): boolean {
    return this.#paths.size === 0
  }

  all(): PathWatches[] {
    return [...this.#paths.values()]
  }

  known(path: string): PathWatches | undefined {
    return this.#paths.get(path)
  }

  /** The watches of this path. Adds an empty entry for a new path. */
  at(path: string): PathWatches {
    const known = this.#paths.get(path)
    if (known !== undefined) return known
    const at = new PathWatches(path)
    this.#paths.set(path, at)
    return at
  }

  /** Forgets the path if nothing is left of it. */
  prune(at: PathWatches): void {
    if (at.isEmpty && !this.dirty.has(at)) this.#paths.delete(at.path)
  }

  add(watcher: OneShotWatcher): void {
    this.at(watcher.path).oneShot.add(watcher)
  }

  addPersistent(watcher: PersistentWatcher): void {
    this.at(watcher.path).addPersistent(watcher)
    this.#longestPersistent = Math.max(this.#longestPersistent, watcher.path.length)
  }

  remove(watcher: OneShotWatcher): void {
    watcher.phase = 'gone'
    const at = this.known(watcher.path)
    at?.oneShot.delete(watcher)
    if (at !== undefined) this.prune(at)
  }

  /** False if it was already removed. */
  removePersistent(watcher: PersistentWatcher): boolean {
    if (watcher.phase === 'gone') return false
    watcher.phase = 'gone'
    this.known(watcher.path)?.persistent.delete(watcher)
    return true
  }

  allPersistent(): PersistentWatcher[] {
    return this.all().flatMap(({ persistent }) => persistent.list())
  }

  /** The persistent watchers that an event notifies, each with its notification. */
  concernedBy(type: NodeEventType, path: string): [PersistentWatcher, { type: NodeEventType; path: string }][] {
    if (this.#longestPersistent === 0) return []
    const concerned: [PersistentWatcher, { type: NodeEventType; path: string }][] = []
    for (const from of upFrom(path, this.#longestPersistent)) {
      const at = this.known(from)
      for (const watcher of at?.persistent.list() ?? []) {
        if (watcher.phase !== 'set') continue
        const isConcerned =
          type === 'NodeChildrenChanged'
            ? from === path && watcher.mode === 'persistent' && at?.confirmed === 'persistent'
            : from === path || watcher.mode === 'recursive'
        if (isConcerned) concerned.push([watcher, { type, path }])
      }
    }
    const parent = this.impliedParent(type, path)
    for (const watcher of (parent !== undefined && this.known(parent)?.persistent.list()) || []) {
      const isConcerned = watcher.phase === 'set' && watcher.mode === 'persistent'
      if (isConcerned) concerned.push([watcher, { type: 'NodeChildrenChanged', path: parent! }])
    }
    return concerned
  }

  /** The parent, if it has a recursive watch and a child was created or deleted: the server sends only the event of the child. */
  impliedParent(type: FiredType, path: string): string | undefined {
    if (this.#longestPersistent === 0 || (type !== 'NodeCreated' && type !== 'NodeDeleted') || path === '/')
      return undefined
    const parent = parentOf(path)
    return this.known(parent)?.mode === 'recursive' ? parent : undefined
  }

  /**
   * Whether the server may send an event of this path. It may if the path has a persistent watch or one above has a recursive
   * watch, or if the server has not confirmed the removal of that watch.
   */
  expectsEventOf(path: string): boolean {
    return upFrom(path, this.#longestPersistent).some((from) => {
      const at = this.known(from)
      return from === path ? at?.mode !== undefined : at?.confirmed === 'recursive' || at?.requested === 'recursive'
    })
  }
}

/**
 * The path, and its ancestors that are not longer than `longest`: `/a/b`, `/a`, `/`. Servers look for recursive watches in this
 * order (PathParentIterator).
 */
function upFrom(path: string, longest: number): string[] {
  const paths = [path]
  if (path === '/' || !path.startsWith('/')) return paths
  // The slash after the longest path to look at, or the last slash.
  for (
    let end = path.lastIndexOf('/', Math.min(longest, path.length - 1));
    end > 0;
    end = path.lastIndexOf('/', end - 1)
  )
    paths.push(path.slice(0, end))
  paths.push('/')
  return paths
}
