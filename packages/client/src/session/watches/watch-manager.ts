// The watches of a session: which watchers each event notifies, and which watches the server must have. When a
// request is sent, this class chooses its watch. Only then is it known which requests the server executes before it.
import { OpCode, parentOf, setWatchesRequests, type WatcherType } from '@zk/wire'
import type { KeeperErrorCode, KeeperErrorDetails } from '../../base/errors.ts'
import type { Output } from '../protocol/output.ts'
import {
  addWatchRequest,
  clearWatchesRequest,
  dropModeRequest,
  dropWatchRequest,
  setWatchesRequest,
} from '../requests/internal-requests.ts'
import type { Request } from '../requests/request.ts'
import { afterAdd, afterClear, type Change, PathWatches, reconcile } from './path-watches.ts'
import {
  type FiredType,
  modeFor,
  type NodeEventType,
  type OneShotOutcome,
  type OneShotWatcher,
  type PersistentOutcome,
  type PersistentWatcher,
  tableOf,
  type WatchKind,
  type WatchMode,
  type Watcher,
  type WatchTable,
} from './watchers.ts'

interface WatchContext {
  readonly emit: (output: Output) => void
  readonly lastZxid: () => bigint
  /** The longest frame of a batch, in bytes. */
  readonly batchSize: () => number
  /**
   * Whether an event of this path may come although there is no watcher. This is so while a removal of its watches is under
   * way, after `close` (removals are not sent any more), and while watches are set again: a server may then send the event of
   * a change twice.
   */
  readonly isUnsettled: (path: string) => boolean
}

const nothing: readonly Request[] = []

export class WatchManager {
  readonly #paths = new Map<string, PathWatches>()
  readonly #emit: (output: Output) => void
  readonly #lastZxid: () => bigint
  readonly #batchSize: () => number
  readonly #isUnsettled: (path: string) => boolean
  /** The paths whose watches at the server may differ from the wanted ones. */
  readonly #dirty = new Set<PathWatches>()
  /**
   * The length of the longest path that ever had a persistent watcher; 0 if no path had one, so the server has no persistent watch.
   * An event is not looked up at longer ancestors of its path: a path of 20,000 levels would take 0.3 s.
   */
  #longestPersistent = 0

  constructor({ emit, lastZxid, batchSize, isUnsettled }: WatchContext) {
    this.#emit = emit
    this.#lastZxid = lastZxid
    this.#batchSize = batchSize
    this.#isUnsettled = isUnsettled
  }

  // --- calls of the caller --------------------------------------------------------------------------------------

  add({ effect }: Request): void {
    if (effect.type === 'watch') this.#at(effect.watcher.path).oneShot.add(effect.watcher)
    if (effect.type !== 'addWatch' || effect.watcher === undefined) return
    this.#at(effect.path).addPersistent(effect.watcher)
    this.#longestPersistent = Math.max(this.#longestPersistent, effect.path.length)
  }

  remove({ effect }: Request): void {
    if (effect.type === 'watch') this.#remove(effect.watcher)
    if (effect.type === 'addWatch') this.unsubscribe(effect.watcher)
  }

  /** Stops notifying this watcher. If no other one needs the watch at the server, the next requests remove the watch. */
  unsubscribe(persistent: PersistentWatcher | undefined): void {
    if (persistent === undefined || !this.#removePersistent(persistent)) return
    const at = this.#at(persistent.path)
    if (at.mode !== undefined || at.hasLeftover) this.#dirty.add(at)
    else this.#prune(at)
  }

  /**
   * Removes the watcher and notifies it. Returns what removeWatches must remove at the server; undefined for nothing, for
   * instance because other watchers need the watch. Does nothing if the watcher is not set.
   */
  unwatch(watcher: OneShotWatcher): WatcherType | undefined {
    if (watcher.phase !== 'set') return undefined
    this.#remove(watcher)
    this.#notify(watcher, { type: removedFrom[tableOf(watcher.kind)] })
    return this.#share(watcher) ? undefined : typeOf[tableOf(watcher.kind)]
  }

  /**
   * Removes the watcher without notifying it. Returns the request that removes its watch at the server, if one is needed.
   * `isAtServer` says whether the server may have the watch. By default this is so if a removed watcher has set it.
   */
  giveUp(watcher: OneShotWatcher, isAtServer = watcher.sharesWatch ?? false): Request | undefined {
    this.#remove(watcher)
    if (!isAtServer || this.#share(watcher)) return undefined
    return dropWatchRequest(watcher.path, tableOf(watcher.kind))
  }

  /**
   * Removes and notifies the watchers of a path whose watches are of this type. Watchers whose requests have no reply yet are
   * included: the server sets their watches before it removes them. False if there were none.
   */
  take(path: string, type: WatcherType): boolean {
    const { tables, modes } = included[type]
    const at = this.#known(path)
    const oneShot = tables.flatMap((table) => at?.in(table) ?? [])
    const persistent = (at?.persistent.list() ?? []).filter(({ mode }) => modes.includes(mode))
    for (const watcher of oneShot) {
      this.#remove(watcher)
      this.#notify(watcher, { type: removedFrom[tableOf(watcher.kind)] })
    }
    for (const watcher of persistent) {
      this.unsubscribe(watcher)
      this.#notify(watcher, { type: 'PersistentWatchRemoved' })
    }
    return oneShot.length + persistent.length > 0
  }

  /**
   * What removeWatches must remove at the server after the watchers of this type were removed; undefined for nothing. A
   * one-shot watch that must stay because of a persistent watch is removed together with the persistent watch.
   */
  removal(path: string, type: WatcherType): WatcherType | undefined {
    const at = this.#known(path)
    if (type === 'Data' || type === 'Children') return this.#keepIfNeeded(path, tableOfType[type]) ? undefined : type
    // Older servers remove persistent watches only by the type Any, which also removes the one-shot watches of the path. These
    // are set again afterwards. If their reads have no reply yet, the removal is made later: see `due`.
    const hasUnset = at?.oneShot.list().some(({ phase }) => phase !== 'set') === true
    const isNeeded = at?.needs('data') === true || at?.needs('child') === true
    return isNeeded || hasUnset ? undefined : 'Any'
  }

  // --- events of the connection ---------------------------------------------------------------------------------

  /** A connection is established. Returns the requests that set the watches of the last connection again. */
  connected(): Request[] {
    if (this.#paths.size === 0) return []
    const oneShot: OneShotWatcher[] = []
    const away = new Map<string, WatchMode>()
    for (const at of this.#paths.values()) {
      for (const watcher of at.oneShot.list()) if (watcher.phase === 'set') oneShot.push(watcher)
      const mode = modeFor(at.persistent.list().filter(({ phase }) => phase === 'away'))
      if (mode === undefined) continue
      away.set(at.path, mode)
      at.requested = mode
    }
    const pathsOf = (mode: WatchMode) => [...away.keys()].filter((path) => away.get(path) === mode)
    const requests = setWatchesRequests(
      this.#lastZxid(),
      {
        // One-shot watches come first, and report what they have missed. Up to 3.8 persistent watches then replace them.
        ...listsOf(oneShot),
        persistentWatches: pathsOf('persistent'),
        persistentRecursiveWatches: pathsOf('recursive'),
      },
      this.#batchSize(),
    )
    for (const { path } of oneShot) {
      const at = this.#at(path)
      for (const watcher of at.oneShot.list()) watcher.isArmed = !at.isCovered
    }
    return requests.map((request, index) =>
      // Until the last of these requests is answered, events of earlier changes may come. So the persistent watchers count as
      // set only then.
      setWatchesRequest(request, index === requests.length - 1 ? () => this.#restored(away) : undefined),
    )
  }

  interrupted(): void {
    this.#dirty.clear()
    for (const at of this.#paths.values()) {
      at.interrupted()
      this.#prune(at)
    }
  }

  /** Called when a request is sent: decides which watch it sets, and returns the requests that must follow it immediately. */
  sending(request: Request): readonly Request[] {
    const { effect } = request
    switch (effect.type) {
      case 'watch': {
        const { watcher } = effect
        // If the watcher was removed while its read waited, the read sets no watch.
        const isWanted = watcher.phase !== 'gone'
        if (isWanted) watcher.phase = 'sent'
        watcher.isArmed = isWanted && this.#known(watcher.path)?.isCovered !== true
        request.askForWatch(watcher.isArmed)
        return nothing
      }
      case 'remove': {
        if (effect.watches !== 'Any') return nothing
        const at = this.#at(effect.path)
        this.#dirty.delete(at)
        return this.#changed(at, { type: 'clear' }, afterClear(at))
      }
      case 'addWatch': {
        const { watcher } = effect
        // A request of the session itself is not queued, and has its mode.
        if (watcher === undefined) return nothing
        const at = this.#at(effect.path)
        if (watcher.phase === 'unsent') watcher.phase = 'sent'
        if (watcher.phase === 'gone') this.#dirty.add(at)
        const mode = at.wanted ?? watcher.mode
        effect.mode = mode
        request.askForMode(mode)
        return this.#changed(at, { type: 'add', mode }, afterAdd(at, mode))
      }
      case 'addAuth':
      case 'none':
        return nothing
    }
  }

  /** The requests to send after the queue, so that the server has the wanted watches. */
  due(): readonly Request[] {
    if (this.#dirty.size === 0) return nothing
    // A path with reads under way is left for later: their replies decide which watches are set again.
    const due = [...this.#dirty].filter(({ hasReadUnderWay }) => !hasReadUnderWay)
    return due.flatMap((at) => {
      this.#dirty.delete(at)
      const changes = reconcile(at)
      if (changes.length === 0) this.#prune(at)
      return this.#requests(at, changes)
    })
  }

  /**
   * A request was executed. So the server has its persistent watch. After a removal of all watches it has none. This is also
   * called if no caller waits for the request.
   */
  done({ effect }: Request): void {
    if (effect.type === 'remove' && effect.watches === 'Any') this.#confirm(effect.path, undefined)
    if (effect.type === 'addWatch') this.#confirm(effect.path, effect.mode)
  }

  /** A request was not executed, and no later request relies on it. The watches at the server are as before. */
  undone({ effect }: Request): void {
    const watcher = effect.type === 'watch' || effect.type === 'addWatch' ? effect.watcher : undefined
    if (watcher?.phase === 'sent') watcher.phase = 'unsent'
    const isOfPersistent = effect.type === 'addWatch' || (effect.type === 'remove' && effect.watches === 'Any')
    if (!isOfPersistent) return
    const at = this.#at(effect.path)
    at.requested = at.confirmed
    this.#prune(at)
  }

  /** The caller gets the reply. From now on its watcher is set. */
  answered({ effect }: Request): void {
    if (effect.type === 'watch' && effect.watcher.phase === 'sent') effect.watcher.phase = 'set'
    if (effect.type !== 'addWatch' || effect.watcher === undefined) return
    if (effect.watcher.phase !== 'gone') this.#set(effect.watcher)
  }

  event(type: FiredType, path: string, zxid: bigint): void {
    const outcome = zxid > 0n ? { type, zxid } : { type }
    const isOfOneShot = this.#fire(path, outcome)
    const isOfNode = type !== 'DataWatchRemoved' && type !== 'ChildWatchRemoved'
    const persistent = isOfNode ? this.#concerned(type, path) : []
    if (!isOfOneShot && persistent.length === 0 && !this.#expects(path) && !this.#isUnsettled(path)) {
      this.#emit({ type: 'anomaly', what: `${type} for ${path}, which has no watcher` })
    }
    const parent = this.#impliedParent(type, path)
    if (parent !== undefined) this.#fire(parent, { ...outcome, type: 'NodeChildrenChanged' })
    for (const [watcher, event] of persistent) {
      this.#notify(watcher, zxid > 0n ? { ...event, zxid } : event)
    }
  }

  /** The server does not know setWatches2, so it cannot set persistent watches: their watchers are removed and notified. */
  refused(code: KeeperErrorCode, details: KeeperErrorDetails): void {
    for (const watcher of this.#allPersistent()) {
      if (watcher.phase !== 'away') continue
      this.#removePersistent(watcher)
      this.#notify(watcher, { type: 'Refused', code, details })
    }
  }

  /** The session is over: removes and notifies every watcher. */
  end(): void {
    for (const watcher of [...this.#paths.values()].flatMap(({ oneShot }) => oneShot.list())) {
      this.#remove(watcher)
      this.#notify(watcher, { type: 'SessionEnded' })
    }
    for (const watcher of this.#allPersistent()) {
      this.#removePersistent(watcher)
      this.#notify(watcher, { type: 'SessionEnded' })
    }
  }

  // --- the watches at the server --------------------------------------------------------------------------------

  #changed(at: PathWatches, change: Change, behind: readonly Change[]): Request[] {
    at.apply(change)
    return this.#requests(at, behind)
  }

  #requests(at: PathWatches, changes: readonly Change[]): Request[] {
    return changes.flatMap((change) => {
      at.apply(change)
      return this.#requestsFor(at, change)
    })
  }

  #requestsFor(at: PathWatches, change: Change): Request[] {
    switch (change.type) {
      case 'clear':
        return [clearWatchesRequest(at.path)]
      case 'add':
        return [addWatchRequest(at.path, change.mode)]
      case 'drop':
        return [dropModeRequest(at.path, change.mode)]
      case 'set':
        // These are sent together with the change that removed the watches. So if an event is missed in between, its zxid is
        // later than that of the last reply, and the server reports it.
        return setWatchesRequests(this.#lastZxid(), listsOf(change.watchers), this.#batchSize()).map((each) =>
          setWatchesRequest(each),
        )
    }
  }

  #confirm(path: string, mode: WatchMode | undefined): void {
    const at = this.#at(path)
    at.confirmed = mode
    this.#prune(at)
  }

  #restored(modes: ReadonlyMap<string, WatchMode>): void {
    for (const [path, mode] of modes) {
      this.#confirm(path, mode)
      for (const watcher of this.#at(path).persistent.list()) if (watcher.phase === 'away') this.#set(watcher)
    }
  }

  #set(watcher: PersistentWatcher): void {
    watcher.phase = 'set'
    this.#notify(watcher, { type: 'Set' })
  }

  /**
   * Lets the other watchers in the same table share the watch of this watcher at the server. Returns whether the watch must
   * stay, for them or for a persistent watch.
   */
  #share({ path, kind }: OneShotWatcher): boolean {
    const sharers = this.#known(path)?.in(tableOf(kind)) ?? []
    // If the read of a sharer fails, the watch is still there, and `giveUp` removes it.
    for (const sharer of sharers) sharer.sharesWatch = true
    return sharers.length > 0 || this.#keepIfNeeded(path, tableOf(kind))
  }

  /**
   * Keeps the watch in this table if its removal would also remove a persistent watch (up to 3.8), and notes that it is left
   * over. Returns whether it is kept.
   */
  #keepIfNeeded(path: string, table: WatchTable): boolean {
    const at = this.#known(path)
    // A persistent watch without watchers must stay, too: reads that set no watch may rely on it.
    if (at === undefined || !(at.isCovered || at.needs(table))) return false
    at.hasLeftover = true
    return true
  }

  // --- the watchers of an event ---------------------------------------------------------------------------------

  /** Notifies the one-shot watchers of the path that an event fires. Returns whether it is the event of a one-shot watch. */
  #fire(path: string, outcome: Extract<OneShotOutcome, { type: FiredType }>): boolean {
    const at = this.#known(path)
    const fired = at?.fire(outcome.type)
    if (fired === undefined) return false
    this.#prune(at!)
    for (const watcher of fired) this.#notify(watcher, outcome)
    return true
  }

  /** The persistent watchers that an event notifies, each with its notification. */
  #concerned(type: NodeEventType, path: string): [PersistentWatcher, { type: NodeEventType; path: string }][] {
    if (this.#longestPersistent === 0) return []
    const concerned: [PersistentWatcher, { type: NodeEventType; path: string }][] = []
    for (const from of upFrom(path, this.#longestPersistent)) {
      const at = this.#known(from)
      for (const watcher of at?.persistent.list() ?? []) {
        if (watcher.phase !== 'set') continue
        const isConcerned =
          type === 'NodeChildrenChanged'
            ? from === path && watcher.mode === 'persistent' && at?.confirmed === 'persistent'
            : from === path || watcher.mode === 'recursive'
        if (isConcerned) concerned.push([watcher, { type, path }])
      }
    }
    const parent = this.#impliedParent(type, path)
    for (const watcher of (parent !== undefined && this.#known(parent)?.persistent.list()) || []) {
      const isConcerned = watcher.phase === 'set' && watcher.mode === 'persistent'
      if (isConcerned) concerned.push([watcher, { type: 'NodeChildrenChanged', path: parent! }])
    }
    return concerned
  }

  /** The parent, if it has a recursive watch and a child was created or deleted: the server sends only the event of the child. */
  #impliedParent(type: FiredType, path: string): string | undefined {
    if (this.#longestPersistent === 0 || (type !== 'NodeCreated' && type !== 'NodeDeleted') || path === '/')
      return undefined
    const parent = parentOf(path)
    return this.#known(parent)?.mode === 'recursive' ? parent : undefined
  }

  /**
   * Whether the server may send an event of this path. It may if the path has a persistent watch or one above has a recursive
   * watch, or if the server has not confirmed the removal of that watch.
   */
  #expects(path: string): boolean {
    return upFrom(path, this.#longestPersistent).some((from) => {
      const at = this.#known(from)
      return from === path ? at?.mode !== undefined : at?.confirmed === 'recursive' || at?.requested === 'recursive'
    })
  }

  #notify(watcher: OneShotWatcher, outcome: OneShotOutcome): void
  #notify(watcher: PersistentWatcher, outcome: PersistentOutcome): void
  #notify(watcher: Watcher, outcome: OneShotOutcome | PersistentOutcome): void {
    this.#emit({ type: 'notify', watcher, outcome })
  }

  // --- the paths ------------------------------------------------------------------------------------------------

  #known(path: string): PathWatches | undefined {
    return this.#paths.get(path)
  }

  #at(path: string): PathWatches {
    const known = this.#paths.get(path)
    if (known !== undefined) return known
    const at = new PathWatches(path)
    this.#paths.set(path, at)
    return at
  }

  #prune(at: PathWatches): void {
    if (at.isEmpty && !this.#dirty.has(at)) this.#paths.delete(at.path)
  }

  #remove(watcher: OneShotWatcher): void {
    watcher.phase = 'gone'
    const at = this.#known(watcher.path)
    at?.oneShot.delete(watcher)
    if (at !== undefined) this.#prune(at)
  }

  /** False if it was already removed. */
  #removePersistent(watcher: PersistentWatcher): boolean {
    if (watcher.phase === 'gone') return false
    watcher.phase = 'gone'
    this.#known(watcher.path)?.persistent.delete(watcher)
    return true
  }

  #allPersistent(): PersistentWatcher[] {
    return [...this.#paths.values()].flatMap(({ persistent }) => persistent.list())
  }
}

export function setsWatches({ opCode }: Request): boolean {
  return opCode === OpCode.setWatches || opCode === OpCode.setWatches2
}

/** Whether a request may rely on a change of watches that was sent before it. */
export function reliesOn(request: Request, change: Request): boolean {
  if (setsWatches(request)) return true
  // Two removals have the same result in any order.
  const areRemovals = request.effect.type === 'remove' && change.effect.type === 'remove'
  return !areRemovals && watchedPath(request) === watchedPath(change)
}

export function changesWatches({ effect }: Request): boolean {
  return effect.type === 'addWatch' || effect.type === 'remove'
}

/** The path, as the server knows it, whose watches a request sets, changes or removes. */
function watchedPath({ effect }: Request): string | undefined {
  if (effect.type === 'watch') return effect.watcher.path
  return effect.type === 'addWatch' || effect.type === 'remove' ? effect.path : undefined
}

/** The list in setWatches for each kind of watch. */
const listOf = { data: 'dataWatches', exist: 'existWatches', child: 'childWatches' } as const satisfies Record<
  WatchKind,
  string
>

/** The lists in setWatches for these watchers, with each path once. */
function listsOf(watchers: readonly OneShotWatcher[]): Record<(typeof listOf)[WatchKind], string[]> {
  const lists = { dataWatches: new Set<string>(), existWatches: new Set<string>(), childWatches: new Set<string>() }
  for (const { kind, path } of watchers) lists[listOf[kind]].add(path)
  const { dataWatches, existWatches, childWatches } = lists
  return { dataWatches: [...dataWatches], existWatches: [...existWatches], childWatches: [...childWatches] }
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

/** The tables of one-shot watches, and the modes of persistent watches, that each type includes. */
const included: Record<WatcherType, { readonly tables: readonly WatchTable[]; readonly modes: readonly WatchMode[] }> =
  {
    Data: { tables: ['data'], modes: [] },
    Children: { tables: ['child'], modes: [] },
    Persistent: { tables: [], modes: ['persistent'] },
    PersistentRecursive: { tables: [], modes: ['recursive'] },
    Any: { tables: ['data', 'child'], modes: ['persistent', 'recursive'] },
  }

const tableOfType = { Data: 'data', Children: 'child' } as const
const typeOf = { data: 'Data', child: 'Children' } as const satisfies Record<WatchTable, WatcherType>
const removedFrom = { data: 'DataWatchRemoved', child: 'ChildWatchRemoved' } as const satisfies Record<
  WatchTable,
  FiredType
>
