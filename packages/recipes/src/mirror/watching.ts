// How a mirror learns of changes: from one persistent recursive watch, or from two one-shot watches on each node if servers do
// not know the former (before 3.6).
import {
  type CallOptions,
  type Children,
  type NodeData,
  type PersistentWatchEvent,
  type Session,
  type Stat,
  type Watched,
  type ZooKeeper,
} from '@zk/client'
import { watchInto } from '@zk/client/internal'
import { unwatch } from '../kernel/promises.ts'
import { BeginAnew } from '../kernel/sessions.ts'

/** What watches report, at once: before the reply of a read that shows the change is handled. */
export interface WatchListener {
  /** The node was created, deleted or written. */
  changed(path: string): void
  /** Children of the node were created or deleted. */
  childrenChanged(path: string): void
  /** All changes up to this transaction were reported. */
  seen(zxid: bigint): void
  /** Changes may have been missed. From now on none is. */
  missed(): void
  /** The watch was refused, or no longer exists although the session lives. */
  lost(error: unknown): void
}

// What was read, with the watch that the read has set, if any.
export type DataRead = NodeData & Partial<Watched>
export type StatRead = { readonly stat: Stat | undefined } & Partial<Watched>
export type ListRead = Children & Partial<Watched>

/** What handles a reply. */
export interface Handler<Read, Result> {
  readonly read: (read: Read) => Result
  readonly refused: (error: unknown) => Result
}

/**
 * The watches of one session, and the reads that set the necessary ones. A reply is handled in the turn in which the client's
 * promise settles: so replies are handled in their order.
 */
export interface Watching {
  /** Whether one watch reports all events, even of nodes that do not exist yet. */
  readonly isRecursive: boolean
  data<R>(path: string, options: CallOptions, handler: Handler<DataRead, R>): Promise<R>
  stat<R>(path: string, options: CallOptions, handler: Handler<StatRead, R>): Promise<R>
  list<R>(path: string, options: CallOptions, handler: Handler<ListRead, R>): Promise<R>
  /** Keeps the watch that came with a read. */
  keep(path: string, kind: 'data' | 'list', read: Partial<Watched>): void
  /** Whether a watch on the list of this node is set. */
  watchesList(path: string): boolean
  /** The node is no longer mirrored. */
  forget(path: string): void
  /** Removes all watches, in the background: leaving does not wait for a silent server. */
  stop(): void
}

export interface WatchedTree {
  readonly zk: ZooKeeper
  readonly root: string
  /** Whether only the node of the path is mirrored. */
  readonly isFlat: boolean
}

/**
 * Asks for the watch. Reads may follow in the same segment: a server executes them after it. If it refuses the watch, `lost` is
 * called before their replies are handled: with `Unimplemented` if the server does not know such a watch.
 */
export function watchRecursively(
  { zk, root, isFlat }: WatchedTree,
  options: CallOptions,
  listener: WatchListener,
): Watching {
  const push = (event: PersistentWatchEvent) => {
    if (event.type === 'Gap') return listener.missed()
    if (event.type === 'NodeChildrenChanged') return
    listener.changed(event.path)
    if ('zxid' in event && event.zxid !== undefined) listener.seen(event.zxid)
  }
  const watch = watchInto(
    zk,
    root,
    // If the client repeated it for a busy server, it would come after the reads.
    { ...options, recursive: !isFlat, repeatThrottled: false },
    {
      push,
      end: ({ type }) => {
        // A program's `removeWatches` also removes the watch of its mirror. The watch is set again.
        if (type === 'PersistentWatchRemoved') listener.lost(new BeginAnew())
      },
      fail: (error) => listener.lost(error),
    },
  )
  watch.opened.catch((error: unknown) => listener.lost(error))
  return {
    isRecursive: true,
    data: (path, asking, { read, refused }) => zk.getData(path, asking).then(read, refused),
    stat: (path, asking, { read, refused }) => zk.exists(path, asking).then((stat) => read({ stat }), refused),
    list: (path, asking, { read, refused }) => zk.getChildren(path, asking).then(read, refused),
    keep: () => {},
    watchesList: () => true,
    forget: () => {},
    stop: watch.stop,
  }
}

interface NodeWatches {
  data?: Watched
  list?: Watched
}

/** One-shot watches: one on the data of each node, and one on its list of children. */
export class OneShotWatching implements Watching {
  readonly isRecursive = false
  readonly #zk: ZooKeeper
  readonly #session: Session
  readonly #listener: WatchListener
  readonly #watches = new Map<string, NodeWatches>()
  #isStopped = false

  constructor(zk: ZooKeeper, session: Session, listener: WatchListener) {
    this.#zk = zk
    this.#session = session
    this.#listener = listener
  }

  data<R>(path: string, options: CallOptions, { read, refused }: Handler<DataRead, R>): Promise<R> {
    return this.#zk.getDataAndWatch(path, options).then(read, refused)
  }

  stat<R>(path: string, options: CallOptions, { read, refused }: Handler<StatRead, R>): Promise<R> {
    return this.#zk.existsAndWatch(path, options).then(read, refused)
  }

  list<R>(path: string, options: CallOptions, { read, refused }: Handler<ListRead, R>): Promise<R> {
    return this.#zk.getChildrenAndWatch(path, options).then(read, refused)
  }

  keep(path: string, kind: keyof NodeWatches, read: Partial<Watched>): void {
    const watched = read as Watched
    if (this.#isStopped) return unwatch(watched)
    let watches = this.#watches.get(path)
    if (watches === undefined) this.#watches.set(path, (watches = {}))
    unwatch(watches[kind])
    watches[kind] = watched
    void watched.changed.then(({ type }) => {
      if (this.#watches.get(path)?.[kind] !== watched) return
      delete watches[kind]
      if (watches.data === undefined && watches.list === undefined) this.#watches.delete(path)
      if (type === 'SessionEnded' || this.#session.signal.aborted) return
      if (kind === 'data') this.#listener.changed(path)
      else if (type !== 'NodeDeleted') this.#listener.childrenChanged(path)
    })
  }

  watchesList(path: string): boolean {
    return this.#watches.get(path)?.list !== undefined
  }

  forget(path: string): void {
    const watches = this.#watches.get(path)
    this.#watches.delete(path)
    unwatch(watches?.data)
    unwatch(watches?.list)
  }

  stop(): void {
    this.#isStopped = true
    for (const { data, list } of this.#watches.values()) {
      unwatch(data)
      unwatch(list)
    }
    this.#watches.clear()
  }
}
