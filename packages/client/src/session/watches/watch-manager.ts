// The watches of a session: which watchers each event notifies, and which watches the server must have. When a
// request is sent, this class chooses its watch. Only then is it known which requests the server executes before it.
import { setWatchesRequests, type WatcherType } from '@zk/wire'
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
import { afterAdd, afterClear, type Change, type PathWatches, reconcile } from './path-watches.ts'
import { WatchedPaths } from './watched-paths.ts'
import {
  type FiredType,
  modeFor,
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
  readonly #paths = new WatchedPaths()
  readonly #emit: (output: Output) => void
  readonly #lastZxid: () => bigint
  readonly #batchSize: () => number
  readonly #isUnsettled: (path: string) => boolean

  constructor({ emit, lastZxid, batchSize, isUnsettled }: WatchContext) {
    this.#emit = emit
    this.#lastZxid = lastZxid
    this.#batchSize = batchSize
    this.#isUnsettled = isUnsettled
  }

  // --- calls of the caller --------------------------------------------------------------------------------------

  add({ effect }: Request): void {
    if (effect.type === 'watch') this.#paths.add(effect.watcher)
    if (effect.type === 'addWatch' && effect.watcher !== undefined) this.#paths.addPersistent(effect.watcher)
  }

  remove({ effect }: Request): void {
    if (effect.type === 'watch') this.#paths.remove(effect.watcher)
    if (effect.type === 'addWatch') this.unsubscribe(effect.watcher)
  }

  /** Stops notifying this watcher. If no other watcher needs the watch on the server, the next requests remove it. */
  unsubscribe(persistent: PersistentWatcher | undefined): void {
    if (persistent === undefined || !this.#paths.removePersistent(persistent)) return
    const at = this.#paths.at(persistent.path)
    if (at.mode !== undefined || at.hasLeftover) this.#paths.dirty.add(at)
    else this.#paths.prune(at)
  }

  /**
   * Removes the watcher and notifies it. Returns what removeWatches must remove from the server; undefined for nothing, for
   * instance because other watchers need the watch. Does nothing if the watcher is not set.
   */
  unwatch(watcher: OneShotWatcher): WatcherType | undefined {
    if (watcher.phase !== 'set') return undefined
    this.#paths.remove(watcher)
    this.#notify(watcher, { type: removedFrom[tableOf(watcher.kind)] })
    return this.#share(watcher) ? undefined : typeOf[tableOf(watcher.kind)]
  }

  /**
   * Removes the watcher without notifying it. Returns the request that removes its watch from the server, if one is needed.
   * `isAtServer` says whether the server may have the watch. By default this is so if a removed watcher has set it.
   */
  giveUp(watcher: OneShotWatcher, isAtServer = watcher.sharesWatch ?? false): Request | undefined {
    this.#paths.remove(watcher)
    if (!isAtServer || this.#share(watcher)) return undefined
    return dropWatchRequest(watcher.path, tableOf(watcher.kind))
  }

  /**
   * Removes and notifies the watchers of a path whose watches are of this type. Watchers whose requests have no reply yet are
   * included: the server sets their watches before it removes them. False if there were none.
   */
  take(path: string, type: WatcherType): boolean {
    const { tables, modes } = included[type]
    const at = this.#paths.known(path)
    const oneShot = tables.flatMap((table) => at?.in(table) ?? [])
    const persistent = (at?.persistent.list() ?? []).filter(({ mode }) => modes.includes(mode))
    for (const watcher of oneShot) {
      this.#paths.remove(watcher)
      this.#notify(watcher, { type: removedFrom[tableOf(watcher.kind)] })
    }
    for (const watcher of persistent) {
      this.unsubscribe(watcher)
      this.#notify(watcher, { type: 'PersistentWatchRemoved' })
    }
    return oneShot.length + persistent.length > 0
  }

  /**
   * What removeWatches must remove from the server after the watchers of this type were removed; undefined for nothing. A
   * one-shot watch that must stay because of a persistent watch is removed together with the persistent watch.
   */
  removal(path: string, type: WatcherType): WatcherType | undefined {
    const at = this.#paths.known(path)
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
    if (this.#paths.isEmpty) return []
    const oneShot: OneShotWatcher[] = []
    const away = new Map<string, WatchMode>()
    for (const at of this.#paths.all()) {
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
      const at = this.#paths.at(path)
      for (const watcher of at.oneShot.list()) watcher.isArmed = !at.isCovered
    }
    return requests.map((request, index) =>
      // Until the last of these requests is answered, events of earlier changes may come. So the persistent watchers count as
      // set only then.
      setWatchesRequest(request, index === requests.length - 1 ? () => this.#restored(away) : undefined),
    )
  }

  interrupted(): void {
    this.#paths.dirty.clear()
    for (const at of this.#paths.all()) {
      at.interrupted()
      this.#paths.prune(at)
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
        watcher.isArmed = isWanted && this.#paths.known(watcher.path)?.isCovered !== true
        request.askForWatch(watcher.isArmed)
        return nothing
      }
      case 'remove': {
        if (effect.watches !== 'Any') return nothing
        const at = this.#paths.at(effect.path)
        this.#paths.dirty.delete(at)
        return this.#changed(at, { type: 'clear' }, afterClear(at))
      }
      case 'addWatch': {
        const { watcher } = effect
        // A request of the session itself is not queued, and has its mode.
        if (watcher === undefined) return nothing
        const at = this.#paths.at(effect.path)
        if (watcher.phase === 'unsent') watcher.phase = 'sent'
        if (watcher.phase === 'gone') this.#paths.dirty.add(at)
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
    if (this.#paths.dirty.size === 0) return nothing
    // A path with reads under way is left for later: their replies decide which watches are set again.
    const due = [...this.#paths.dirty].filter(({ hasReadUnderWay }) => !hasReadUnderWay)
    return due.flatMap((at) => {
      this.#paths.dirty.delete(at)
      const changes = reconcile(at)
      if (changes.length === 0) this.#paths.prune(at)
      return this.#requests(at, changes)
    })
  }

  /**
   * A request was executed. So the server has its persistent watch. After a removal of all watches it has none. This is also
   * called if no caller waits for the request.
   */
  executed({ effect }: Request): void {
    if (effect.type === 'remove' && effect.watches === 'Any') this.#confirm(effect.path, undefined)
    if (effect.type === 'addWatch') this.#confirm(effect.path, effect.mode)
  }

  /** A request was not executed, and no later request relies on it. The watches on the server are as before. */
  notExecuted({ effect }: Request): void {
    const watcher = effect.type === 'watch' || effect.type === 'addWatch' ? effect.watcher : undefined
    if (watcher?.phase === 'sent') watcher.phase = 'unsent'
    const isOfPersistent = effect.type === 'addWatch' || (effect.type === 'remove' && effect.watches === 'Any')
    if (!isOfPersistent) return
    const at = this.#paths.at(effect.path)
    at.requested = at.confirmed
    this.#paths.prune(at)
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
    const persistent = isOfNode ? this.#paths.concernedBy(type, path) : []
    if (!isOfOneShot && persistent.length === 0 && !this.#paths.expectsEventOf(path) && !this.#isUnsettled(path)) {
      this.#emit({ type: 'anomaly', what: `${type} for ${path}, which has no watcher` })
    }
    const parent = this.#paths.impliedParent(type, path)
    if (parent !== undefined) this.#fire(parent, { ...outcome, type: 'NodeChildrenChanged' })
    for (const [watcher, event] of persistent) {
      this.#notify(watcher, zxid > 0n ? { ...event, zxid } : event)
    }
  }

  /** The server does not know setWatches2, so it cannot set persistent watches: their watchers are removed and notified. */
  refused(code: KeeperErrorCode, details: KeeperErrorDetails): void {
    for (const watcher of this.#paths.allPersistent()) {
      if (watcher.phase !== 'away') continue
      this.#paths.removePersistent(watcher)
      this.#notify(watcher, { type: 'Refused', code, details })
    }
  }

  /** The session is over: removes and notifies every watcher. */
  end(): void {
    for (const watcher of this.#paths.all().flatMap(({ oneShot }) => oneShot.list())) {
      this.#paths.remove(watcher)
      this.#notify(watcher, { type: 'SessionEnded' })
    }
    for (const watcher of this.#paths.allPersistent()) {
      this.#paths.removePersistent(watcher)
      this.#notify(watcher, { type: 'SessionEnded' })
    }
  }

  // --- the watches on the server --------------------------------------------------------------------------------

  #changed(at: PathWatches, change: Change, following: readonly Change[]): Request[] {
    at.apply(change)
    return this.#requests(at, following)
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
        // later than the zxid of the last reply, and the server reports it.
        return setWatchesRequests(this.#lastZxid(), listsOf(change.watchers), this.#batchSize()).map((each) =>
          setWatchesRequest(each),
        )
    }
  }

  #confirm(path: string, mode: WatchMode | undefined): void {
    const at = this.#paths.at(path)
    at.confirmed = mode
    this.#paths.prune(at)
  }

  #restored(modes: ReadonlyMap<string, WatchMode>): void {
    for (const [path, mode] of modes) {
      this.#confirm(path, mode)
      for (const watcher of this.#paths.at(path).persistent.list()) if (watcher.phase === 'away') this.#set(watcher)
    }
  }

  #set(watcher: PersistentWatcher): void {
    watcher.phase = 'set'
    this.#notify(watcher, { type: 'Set' })
  }

  /**
   * Lets the other watchers in the same table share this watcher's watch on the server. Returns whether the watch must stay, for
   * them or for a persistent watch.
   */
  #share({ path, kind }: OneShotWatcher): boolean {
    const sharers = this.#paths.known(path)?.in(tableOf(kind)) ?? []
    // If the read of a sharer fails, the watch is still there, and `giveUp` removes it.
    for (const sharer of sharers) sharer.sharesWatch = true
    return sharers.length > 0 || this.#keepIfNeeded(path, tableOf(kind))
  }

  /**
   * Keeps the watch in this table if its removal would also remove a persistent watch (up to 3.8), and notes that it is left
   * over. Returns whether it is kept.
   */
  #keepIfNeeded(path: string, table: WatchTable): boolean {
    const at = this.#paths.known(path)
    // A persistent watch without watchers must stay, too: reads that set no watch may rely on it.
    if (at === undefined || !(at.isCovered || at.needs(table))) return false
    at.hasLeftover = true
    return true
  }

  // --- the watchers of an event ---------------------------------------------------------------------------------

  /** Notifies the one-shot watchers of the path that an event fires. Returns whether it is the event of a one-shot watch. */
  #fire(path: string, outcome: Extract<OneShotOutcome, { type: FiredType }>): boolean {
    const at = this.#paths.known(path)
    const fired = at?.fire(outcome.type)
    if (fired === undefined) return false
    this.#paths.prune(at!)
    for (const watcher of fired) this.#notify(watcher, outcome)
    return true
  }

  #notify(watcher: OneShotWatcher, outcome: OneShotOutcome): void
  #notify(watcher: PersistentWatcher, outcome: PersistentOutcome): void
  #notify(watcher: Watcher, outcome: OneShotOutcome | PersistentOutcome): void {
    this.#emit({ type: 'notify', watcher, outcome })
  }
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
