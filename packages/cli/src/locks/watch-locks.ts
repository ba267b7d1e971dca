// `zk locks --watch`: reads again what has changed, and shows it.
import { setTimeout as pause } from 'node:timers/promises'
import { isTransient, KeeperError, type ZooKeeper } from '@zk/client'
import { parentOf } from '@zk/wire'
import { printable } from '@zk/client/internal'
import { print, printJson, say } from '../command/output.ts'
import type { Addresses } from './addresses.ts'
import { Changes } from './changes.ts'
import { type Contender, contendersAt, hasPermits, isContenderName, isSemaphore, lockPathsBelow } from './contenders.ts'
import { LiveTable } from './live-table.ts'
import { contenderDocument, contenderSummary, contenderTable } from './shown-contenders.ts'

/** Before a read that has failed for a time is repeated; in ms. */
const PAUSE = 500

export interface WatchLocksOptions {
  readonly isRecursive: boolean
  readonly isJson: boolean
  readonly addresses: Addresses | undefined
  readonly signal: AbortSignal
}

/** Runs until the signal aborts: then it rejects. */
export async function watchLocks(
  zk: ZooKeeper,
  roots: readonly string[],
  { isRecursive, isJson, addresses, signal }: WatchLocksOptions,
): Promise<number> {
  const view = !isJson && LiveTable.isPossible ? new LiveView(addresses) : new LineView(isJson, addresses)
  const { tell } = view
  if (addresses !== undefined) addresses.tell = tell
  const locks = new WatchedLocks(zk, roots, { isRecursive, signal, tell })
  const show = async (changed: readonly string[]): Promise<void> => {
    const contenders = changed.flatMap((path) => locks.at(path))
    await addresses?.find(contenders.map(({ sessionId }) => sessionId))
    view.show(locks, changed)
  }
  try {
    const changes = await Changes.below(zk, roots, signal)
    await show(await locks.readAll())
    for (;;) {
      for (const change of await changes.next()) {
        if (change.name === 'connection') view.tellConnection(change.isConnected)
        else await show(await (change.name === 'all' ? locks.readAll() : locks.readChanged(change.paths)))
      }
    }
  } finally {
    view.dispose()
  }
}

/** What was last read. */
class WatchedLocks {
  readonly #zk: ZooKeeper
  readonly #roots: readonly string[]
  readonly #isRecursive: boolean
  readonly #signal: AbortSignal
  readonly #tell: View['tell']
  readonly #contenders = new Map<string, readonly Contender[]>()
  /** What may not be read. */
  readonly #unreadable = new Set<string>()

  constructor(
    zk: ZooKeeper,
    roots: readonly string[],
    { isRecursive, signal, tell }: Pick<WatchLocksOptions, 'isRecursive' | 'signal'> & Pick<View, 'tell'>,
  ) {
    this.#zk = zk
    this.#roots = roots
    this.#isRecursive = isRecursive
    this.#signal = signal
    this.#tell = tell
  }

  get paths(): readonly string[] {
    return [...this.#contenders.keys()].sort()
  }

  at(path: string): readonly Contender[] {
    return this.#contenders.get(path) ?? []
  }

  /** Resolves with the paths of the locks that have changed. */
  readAll(): Promise<readonly string[]> {
    return this.#insist(async () => {
      const paths = new Set(this.#contenders.keys())
      for (const root of this.#roots) {
        if (!this.#isRecursive) paths.add(root)
        else for await (const path of this.#found(root)) paths.add(path)
      }
      return this.#read(paths)
    })
  }

  /** The same after these nodes have changed. */
  readChanged(nodes: ReadonlySet<string>): Promise<readonly string[]> {
    return this.#insist(async () => {
      const paths = new Set<string>()
      for (const node of nodes) for (const path of await this.#locksOf(node)) paths.add(path)
      return this.#read(paths)
    })
  }

  async #read(paths: ReadonlySet<string>): Promise<readonly string[]> {
    const changed: string[] = []
    for (const path of paths) {
      const before = this.#contenders.get(path)
      const now = (await this.#ifReadable(contendersAt(this.#zk, path, { signal: this.#signal }))) ?? []
      // A path that is named is shown when it is free, too.
      if (now.length === 0 && this.#isRecursive) this.#contenders.delete(path)
      else this.#contenders.set(path, now)
      if (before === undefined ? this.#contenders.has(path) : !areSame(before, now)) changed.push(path)
    }
    return changed
  }

  async *#found(root: string): AsyncGenerator<string> {
    try {
      yield* lockPathsBelow(this.#zk, root, { signal: this.#signal, onUnreadable: this.#sayOnce })
    } catch (error) {
      if (!KeeperError.is(error, 'NoNode')) throw error
    }
  }

  /** The locks that a change of this node may concern. */
  async #locksOf(node: string): Promise<readonly string[]> {
    if (!this.#isRecursive) return this.#roots.filter((root) => node === root || node.startsWith(`${root}/`))
    if (!isContenderName(node.slice(node.lastIndexOf('/') + 1))) return []
    const parent = parentOf(node)
    if (!/.\/(locks|leases)$/.test(parent)) return [parent]
    const semaphore = parentOf(parent)
    if (this.#contenders.has(semaphore)) return [semaphore]
    const options = { signal: this.#signal }
    const around = await this.#ifReadable(this.#zk.getChildren(semaphore, options))
    const isOfSemaphore =
      around !== undefined &&
      (isSemaphore(around.children) || (await this.#ifReadable(hasPermits(this.#zk, semaphore, options))) === true)
    return [isOfSemaphore ? semaphore : parent]
  }

  /** undefined if the node is gone, or may not be read. */
  async #ifReadable<T>(reading: Promise<T>): Promise<T | undefined> {
    try {
      return await reading
    } catch (error) {
      if (KeeperError.is(error, 'NoAuth')) this.#sayOnce(error)
      else if (!KeeperError.is(error, 'NoNode')) throw error
      return undefined
    }
  }

  readonly #sayOnce = (error: KeeperError): void => {
    if (this.#unreadable.has(error.path!)) return
    this.#unreadable.add(error.path!)
    this.#tell(error.message)
  }

  /** Repeats what fails because no server answers, or because the session has ended: the next one is opened. */
  async #insist<T>(body: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await body()
      } catch (error) {
        if (!isTransient(error) && !KeeperError.is(error, 'SessionExpired')) throw error
        await pause(PAUSE, undefined, { signal: this.#signal })
      }
    }
  }
}

function areSame(one: readonly Contender[], other: readonly Contender[]): boolean {
  const key = ({ fencingToken, path, isGranted, behind, label }: Contender): string =>
    [fencingToken, path, isGranted, behind?.path, label].join(' ')
  return one.length === other.length && one.every((each, index) => key(each) === key(other[index]!))
}

interface View {
  show(locks: WatchedLocks, changed: readonly string[]): void
  tellConnection(isConnected: boolean): void
  /** What standard error gets, if it does not disturb a table. */
  readonly tell: (text: string) => void
  dispose(): void
}

/** A table that is drawn again. */
class LiveView implements View {
  readonly #table = new LiveTable()
  readonly #addresses: Addresses | undefined
  #body = ''
  #notices = ''
  #status = ''

  constructor(addresses: Addresses | undefined) {
    this.#addresses = addresses
  }

  show(locks: WatchedLocks): void {
    const parts = locks.paths.map((path) => {
      const contenders = locks.at(path)
      const lines = contenders.length === 0 ? 'nobody holds or waits\n' : contenderTable(contenders, this.#addresses)
      return `${printable(path)}\n${lines}\n`
    })
    this.#body = parts.length === 0 ? 'nobody holds or waits\n\n' : parts.join('')
    this.#status = `as of ${new Date().toISOString()}`
    this.#draw()
  }

  tellConnection(isConnected: boolean): void {
    const [asOf] = this.#status.split(': ')
    this.#status = isConnected ? asOf! : `${asOf}: the connection is lost`
    this.#draw()
  }

  readonly tell = (text: string): void => {
    this.#notices += `${text}\n`
    this.#draw()
  }

  dispose(): void {
    this.#table.dispose()
  }

  #draw(): void {
    this.#table.draw(`${this.#body}${this.#notices}${this.#status}\n`)
  }
}

/** A line, or a document, for each lock that has changed. */
class LineView implements View {
  readonly #isJson: boolean
  readonly #addresses: Addresses | undefined

  constructor(isJson: boolean, addresses: Addresses | undefined) {
    this.#isJson = isJson
    this.#addresses = addresses
  }

  show(locks: WatchedLocks, changed: readonly string[]): void {
    const at = new Date()
    for (const path of changed) {
      const contenders = locks.at(path)
      if (!this.#isJson) print(`${at.toISOString()}  ${contenderSummary(path, contenders)}\n`)
      else {
        const shown = contenders.map((contender) => contenderDocument(contender, this.#addresses))
        printJson({ at: at.toISOString(), atMs: at.getTime(), path, contenders: shown })
      }
    }
  }

  tellConnection(isConnected: boolean): void {
    say(isConnected ? 'connected again' : 'the connection is lost: waiting for a server')
  }

  readonly tell = say

  dispose(): void {}
}
