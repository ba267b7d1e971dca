// What the server is to watch for this session, and who is told of what it sees.
//
// One-shot and persistent watches of one path get into each other's way: up to 3.8 a server keeps one of them for a path
// and a table, the last one set. So a read asks for a watch only where no persistent one tells the same already; and
// whenever a persistent one comes or goes, what else the path needs is set again. Which request asks for what is decided
// as it is sent, when it is known what the server will have done before it.
import { OpCode, setWatchesRequests, type WatcherType, type WatchesRequest } from '@zk/wire'
import type { KeeperError } from '../../errors.ts'
import type { Output } from '../protocol/output.ts'
import {
  addWatchRequest,
  clearWatchesRequest,
  dropModeRequest,
  dropWatchRequest,
  setWatchesRequest,
} from '../requests/internal-requests.ts'
import {
  type PersistentOutcome,
  type PersistentWatcher,
  PersistentWatches,
  type WatchMode,
} from './persistent-watches.ts'
import type { Request } from '../requests/request.ts'
import { type FiredType, tableOf, type Watcher, OneShotWatches, type WatchTable } from './one-shot-watches.ts'

export class WatchManager {
  readonly #oneShot = new OneShotWatches()
  readonly #persistent = new PersistentWatches()
  readonly #emit: (output: Output) => void
  readonly #lastZxid: () => bigint
  readonly #maxRequestSize: number
  /** Paths of which the server may keep more or less than is wanted. */
  readonly #dirty = new Set<string>()
  /** Paths of which a one-shot watch may be left that nobody waits for. */
  readonly #leftovers = new Set<string>()

  constructor(emit: (output: Output) => void, lastZxid: () => bigint, maxRequestSize: number) {
    this.#emit = emit
    this.#lastZxid = lastZxid
    this.#maxRequestSize = maxRequestSize
  }

  // --- the caller's side ----------------------------------------------------------------------------------------

  add({ watcher, persistent }: Request): void {
    if (watcher !== undefined) this.#oneShot.add(watcher)
    if (persistent !== undefined) this.#persistent.add(persistent)
  }

  remove({ watcher, persistent }: Request): void {
    if (watcher !== undefined) this.#oneShot.remove(watcher)
    this.unsubscribe(persistent)
  }

  /** It is not to be told any more; what the server keeps for it alone is removed with what is sent next. */
  unsubscribe(persistent: PersistentWatcher | undefined): void {
    if (persistent === undefined || !this.#persistent.remove(persistent)) return
    const { path } = persistent
    const { sent, live } = this.#persistent.at(path)
    if (sent === undefined && live === undefined && !this.#leftovers.has(path)) this.#persistent.forget(path)
    else this.#dirty.add(path)
  }

  /** True when the server keeps a watch that nobody else waits for. */
  unwatch(watcher: Watcher): boolean {
    if (watcher.phase !== 'set') return false
    this.#oneShot.remove(watcher)
    return !this.#transfer(watcher)
  }

  /** Like `unwatch`, of one whose caller does not wait for the removal: the request for it, where it takes one. */
  giveUp(watcher: Watcher, isSet = watcher.inherits ?? false): Request | undefined {
    this.#oneShot.remove(watcher)
    if (!isSet || this.#transfer(watcher)) return undefined
    return dropWatchRequest(watcher.path, tableOf(watcher.kind))
  }

  /**
   * Takes out the one-shot watchers of a path in these tables; telling them is up to the caller. Those only asked for go
   * too: the server sets their watches before it removes them.
   */
  take(path: string, tables: readonly WatchTable[]): Watcher[] {
    const watchers = tables.flatMap((table) => this.#oneShot.at(path, table))
    for (const watcher of watchers) this.#oneShot.remove(watcher)
    return watchers
  }

  persistentAt(path: string, modes: readonly WatchMode[]): PersistentWatcher[] {
    return this.#persistent.on(path).filter(({ mode }) => modes.includes(mode))
  }

  /**
   * What removeWatches is to remove at the server once the watchers it names were taken; undefined for nothing. What must
   * stay there for a persistent watch goes with that.
   */
  removal(path: string, type: WatcherType): WatcherType | undefined {
    const tables = (['data', 'child'] as const).filter((table) => this.#persistent.needs(path, table))
    if (type === 'Data' || type === 'Children') return this.#keeps(path, tableOfType[type]) ? undefined : type
    // Older servers know no other type for persistent ones; one-shot watches of the path are set again. Where their reads
    // are still to be answered it waits for that.
    const isAwaited = this.#oneShot.on(path).some(({ phase }) => phase !== 'set')
    return tables.length === 0 && !isAwaited ? 'Any' : undefined
  }

  // --- the connection's side ------------------------------------------------------------------------------------

  /** A connection stands: the requests that set again what the last one had. */
  connected(): Request[] {
    const once = this.#oneShot.standing()
    const away = this.#persistent.away()
    for (const [path, mode] of away) this.#persistent.at(path).sent = mode
    const isRecursive = (path: string) => away.get(path) === 'recursive'
    const requests = this.#requests({
      // First the one-shot ones, which are told what they missed: up to 3.8 those behind them take their places.
      ...once,
      persistentWatches: [...away.keys()].filter((path) => !isRecursive(path)),
      persistentRecursiveWatches: [...away.keys()].filter(isRecursive),
    })
    for (const path of Object.values(once).flat()) {
      for (const watcher of this.#oneShot.on(path)) watcher.isArmed = !this.#persistent.covers(path)
    }
    return requests.map((request, index) =>
      // Only behind the last of them nothing is told any more of what happened before.
      setWatchesRequest(request, index === requests.length - 1 ? () => this.#restored(away) : undefined),
    )
  }

  interrupted(): void {
    this.#oneShot.interrupted()
    this.#persistent.interrupted()
    this.#dirty.clear()
    this.#leftovers.clear()
  }

  /** A request leaves: decides what it asks the server to watch, and says what must leave right behind it. */
  sending(request: Request): Request[] {
    const { watcher, persistent, removes } = request
    if (watcher !== undefined) {
      // One that was removed while its read waited is set no more.
      const isWanted = watcher.phase !== 'gone'
      if (isWanted) watcher.phase = 'sent'
      watcher.isArmed = isWanted && !this.#persistent.covers(watcher.path)
      request.askForWatch(watcher.isArmed)
    }
    if (removes?.type === 'Any') return this.#cleared(removes.path)
    if (persistent === undefined) return []
    const { path, phase } = persistent
    if (phase === 'asked') persistent.phase = 'sent'
    if (phase === 'gone') this.#dirty.add(path)
    const mode = this.#persistent.wanted(path) ?? persistent.mode
    request.askForMode(mode)
    return this.#switched(path, mode)
  }

  /** What must be sent besides, now that the queue has been. */
  due(): Request[] {
    // What a read on its way has set or counts on is taken off when it is answered: what to set again is known then.
    const paths = [...this.#dirty].filter((path) => !this.#oneShot.awaits(path))
    for (const path of paths) this.#dirty.delete(path)
    return paths.flatMap((path) => this.#settle(path))
  }

  /** A request was done; whether anybody waits for it or not, the server watches as it says. */
  done({ persistent, removes, mode }: Request): void {
    if (removes?.type === 'Any') this.#stopped(removes.path)
    if (persistent !== undefined) this.#persistent.at(persistent.path).live = mode
  }

  /** A request was not executed, and nothing that counts on it was sent behind it: the server watches as before. */
  undone({ watcher, persistent, removes }: Request): void {
    if (watcher?.phase === 'sent') watcher.phase = 'asked'
    if (persistent?.phase === 'sent') persistent.phase = 'asked'
    const path = removes?.type === 'Any' ? removes.path : persistent?.path
    if (path === undefined) return
    const place = this.#persistent.at(path)
    place.sent = place.live
    this.#persistent.forget(path)
  }

  /** Those who wait for it hear that it is done. */
  answered({ watcher, persistent }: Request): void {
    if (watcher?.phase === 'sent') watcher.phase = 'set'
    if (persistent !== undefined && persistent.phase !== 'gone') this.#set(persistent)
  }

  event(type: FiredType, path: string, zxid: bigint): void {
    const once = this.#oneShot.fired(type, path)
    const isOfNode = type !== 'DataWatchRemoved' && type !== 'ChildWatchRemoved'
    const forGood = isOfNode ? this.#persistent.concerned(type, path, zxid) : []
    if (once.length + forGood.length === 0 && !this.#persistent.expects(path)) {
      this.#emit({ type: 'anomaly', what: `${type} for ${path}, which nobody watches` })
    }
    for (const watcher of once) this.#notify(watcher, type, zxid)
    const parent = this.#persistent.impliedParent(type, path)
    for (const watcher of parent === undefined ? [] : this.#oneShot.fired('NodeChildrenChanged', parent)) {
      this.#notify(watcher, 'NodeChildrenChanged', zxid)
    }
    for (const [watcher, outcome] of forGood) this.#tell(watcher, outcome)
  }

  /** The server does not know setWatches2. */
  refused(error: KeeperError): void {
    for (const watcher of this.#persistent.all()) {
      if (watcher.phase !== 'away') continue
      this.#persistent.remove(watcher)
      this.#tell(watcher, { type: 'Refused', error })
    }
  }

  /** The session is over: everybody is told. */
  end(): void {
    for (const watcher of this.#oneShot.clear()) {
      this.#emit({ type: 'notify', watcher, outcome: { type: 'SessionEnded' } })
    }
    for (const watcher of this.#persistent.all()) {
      this.#persistent.remove(watcher)
      this.#tell(watcher, { type: 'SessionEnded' })
    }
  }

  // --- what the server has --------------------------------------------------------------------------------------

  /** The server was asked to watch the path in this mode, whatever it did before. */
  #switched(path: string, mode: WatchMode): Request[] {
    const place = this.#persistent.at(path)
    const before = place.sent
    place.sent = mode
    // From 3.9 on the other one is still there; before, the server does not know the type.
    const drop = before === undefined || before === mode ? [] : [dropModeRequest(path, before)]
    return [...drop, ...this.#rearm(path)]
  }

  /** The server was asked to forget all watches of the path. */
  #cleared(path: string): Request[] {
    this.#dirty.delete(path)
    this.#leftovers.delete(path)
    this.#persistent.at(path).sent = undefined
    return this.#rearm(path)
  }

  /** It has forgotten them. */
  #stopped(path: string): void {
    this.#persistent.at(path).live = undefined
    this.#persistent.forget(path)
  }

  #settle(path: string): Request[] {
    const { sent } = this.#persistent.at(path)
    const wanted = this.#persistent.wanted(path)
    if (wanted === undefined && (sent !== undefined || this.#leftovers.has(path))) {
      return [clearWatchesRequest(path), ...this.#cleared(path)]
    }
    if (wanted !== undefined && wanted !== sent) {
      const add = addWatchRequest(path, wanted, () => (this.#persistent.at(path).live = wanted))
      return [add, ...this.#switched(path, wanted)]
    }
    this.#persistent.forget(path)
    return this.#setAgain(path)
  }

  /** The one-shot watches of the path may be lost: sets again those that no persistent one stands in for. */
  #rearm(path: string): Request[] {
    for (const watcher of this.#oneShot.on(path)) watcher.isArmed = false
    return this.#setAgain(path)
  }

  #setAgain(path: string): Request[] {
    if (this.#persistent.covers(path)) return []
    const lost = this.#oneShot.on(path).filter(({ isArmed, phase }) => isArmed === false && phase === 'set')
    for (const watcher of lost) watcher.isArmed = true
    // It leaves together with what took them off: what happens in between is younger than the last reply.
    return this.#requests(OneShotWatches.lists(lost)).map((each) => setWatchesRequest(each))
  }

  #requests(lists: Parameters<typeof setWatchesRequests>[1]): WatchesRequest[] {
    return setWatchesRequests(this.#lastZxid(), lists, this.#maxRequestSize)
  }

  #restored(modes: ReadonlyMap<string, WatchMode>): void {
    for (const [path, mode] of modes) {
      const place = this.#persistent.at(path)
      place.live = mode
      for (const watcher of place.watchers) if (watcher.phase === 'away') this.#set(watcher)
      this.#persistent.forget(path)
    }
  }

  #set(watcher: PersistentWatcher): void {
    watcher.phase = 'set'
    this.#tell(watcher, { type: 'Set' })
  }

  #notify(watcher: Watcher, type: FiredType, zxid: bigint): void {
    this.#emit({ type: 'notify', watcher, outcome: { type, ...(zxid > 0n ? { zxid } : {}) } })
  }

  #tell(watcher: PersistentWatcher, outcome: PersistentOutcome): void {
    this.#emit({ type: 'tell', watcher, outcome })
  }

  /** Leaves a watch that the server keeps to the others who wait for the same. False when there are none. */
  #transfer({ path, kind }: Watcher): boolean {
    const heirs = this.#oneShot.at(path, tableOf(kind))
    // One that is only asked for may yet be refused: then the watch is still there.
    for (const heir of heirs) heir.inherits = true
    return heirs.length > 0 || this.#keeps(path, tableOf(kind))
  }

  #keeps(path: string, table: WatchTable): boolean {
    // Up to 3.8 a persistent watch would go with it, that of nobody too: reads may still count on that.
    const keeps = this.#persistent.covers(path) || this.#persistent.needs(path, table)
    if (keeps) this.#leftovers.add(path)
    return keeps
  }
}

export function setsWatches({ opCode }: Request): boolean {
  return opCode === OpCode.setWatches || opCode === OpCode.setWatches2
}

/** Whether a request may count on a change of watches that was sent before it. */
export function countsOn(request: Request, change: Request): boolean {
  if (setsWatches(request)) return true
  // Whatever two removals take off, in the end it is gone.
  const areRemovals = request.opCode === OpCode.removeWatches && change.opCode === OpCode.removeWatches
  return !areRemovals && watchedPath(request) === watchedPath(change)
}

export function changesWatches({ opCode }: Request): boolean {
  return opCode === OpCode.addWatch || opCode === OpCode.removeWatches
}

/** The server's path whose watches a request sets, adds or removes. */
function watchedPath(request: Request): string | undefined {
  const { watcher, persistent, removes } = request
  // Of our own it is the path.
  const own = changesWatches(request) ? request.path : undefined
  return (watcher ?? persistent ?? removes)?.path ?? own
}

const tableOfType = { Data: 'data', Children: 'child' } as const
