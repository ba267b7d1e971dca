// A persistent watch that outlives connections and sessions, and its events as an async iterator.
import { onAbort } from '../base/aborts.ts'
import type { Chroot } from '../base/chroot.ts'
import { atCaller, KeeperError } from '../base/errors.ts'
import { EventQueue, OVER } from '../base/event-queue.ts'
import { inJson } from '../base/in-json.ts'
import type { WatchIterator } from '../base/watch-iterator.ts'
import { addWatch } from '../operations/add-watch.ts'
import type { Connection } from '../operations/session.ts'
import { checkBoolean } from '../base/arguments.ts'
import type { PersistentOutcome, PersistentWatcher, WatchMode } from '../session/watches/watchers.ts'
import { driverOf, type SessionDriver } from '../session/driver/session-driver.ts'
import type { CallLimits } from '../session/driver/session-listener.ts'
import type { SessionChain } from './session-chain.ts'
import type { NodeEvent, SessionEnded, WatchRemoved } from './call-watcher.ts'
import { type CallOptions, checkCallOptions, optionNames } from '../operations/call-options.ts'

/** Events may have been missed: read the nodes again. Events that happen after you have received the gap are not missed. */
export interface Gap {
  /** Distinguishes a gap from the events. */
  readonly type: 'Gap'
  /**
   * `reconnected`: the connection was lost, and the watch is set again on another one. `renewed`: the session ended, and the
   * watch is set in the next one. `overflow`: more than `maxQueued` events waited for the loop.
   */
  readonly cause: 'reconnected' | 'renewed' | 'overflow'
  /** The watched path. */
  readonly path: string
}

/** An event of a persistent watch. No event follows `SessionEnded` or `WatchRemoved`. */
export type PersistentWatchEvent = NodeEvent | Gap | SessionEnded | WatchRemoved

/** The options of a persistent watch. */
export interface WatchOptions {
  /**
   * Whether all nodes below are watched, too, at any depth. There are then no `NodeChildrenChanged` events. @default false
   */
  recursive?: boolean | undefined
  /** How many events may wait for the loop, at least 1. With one more, a `Gap` replaces all of them. @default 1_000 */
  maxQueued?: number | undefined
}

const MAX_QUEUED = 1_000
const watchOptions = optionNames('recursive', 'maxQueued')

/** Takes what a `PersistentWatch` reports, as soon as it is reported. Nothing follows `end` and `fail`. */
export interface EventSink {
  /** An event, or a gap. */
  push(event: PersistentWatchEvent): void
  /** No further event will come. */
  end(last: PersistentWatchEvent): void
  /** The server has refused to set the watch again. */
  fail(error: unknown): void
}

/** See `ZooKeeper.watch`. Queues the request before it returns. */
export async function watchNode(
  sessions: SessionChain,
  chroot: Chroot,
  path: string,
  options: WatchOptions & CallOptions,
): Promise<NodeEvents> {
  try {
    const events = new NodeEvents(sessions, chroot, path, options)
    await events.open()
    return events
  } catch (error) {
    throw atCaller(error, options?.signal)
  }
}

/**
 * The events of one persistent watch. An iterator that is merely dropped continues, and keeps up to `maxQueued` events, until the
 * client is closed.
 */
class NodeEvents implements WatchIterator<PersistentWatchEvent> {
  readonly #watch: PersistentWatch
  readonly #queue: EventQueue<PersistentWatchEvent>

  constructor(sessions: SessionChain, chroot: Chroot, path: string, options: WatchOptions & CallOptions) {
    checkCallOptions('watch', options, watchOptions, '{ recursive: true }')
    const { recursive = false, maxQueued = MAX_QUEUED } = options
    checkBoolean('recursive', recursive)
    if (!Number.isInteger(maxQueued) || maxQueued < 1) {
      throw new RangeError(`maxQueued must be an integer, 1 or more, not ${String(maxQueued)}`)
    }
    this.#queue = new EventQueue<PersistentWatchEvent>(maxQueued, () => ({ type: 'Gap', cause: 'overflow', path }))
    this.#watch = new PersistentWatch(sessions, chroot, path, options, this.#queue)
  }

  get isStale(): boolean {
    return this.#watch.isStale
  }

  /** Queues the request of the watch before it returns. */
  open(): Promise<unknown> {
    const { signal } = this.#watch.options
    const unlisten = signal === undefined || signal.aborted ? () => {} : onAbort(signal, () => this.#stop())
    const added = this.#watch.open(unlisten)
    added.catch(() => this.#stop())
    return added
  }

  // It has one await, like every operation: so promises settle in the order of the events.

  async next(): Promise<IteratorResult<PersistentWatchEvent, undefined>> {
    try {
      return await this.#queue.take()
    } catch (error) {
      throw atCaller(error)
    }
  }

  /** Removes the watch locally. The watch on the server is removed with the next requests. */
  async return(): Promise<IteratorResult<PersistentWatchEvent, undefined>> {
    this.#stop()
    return OVER
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #stop(): void {
    this.#queue.close()
    this.#watch.stop()
  }
}

/**
 * A persistent watch, whose events go to a sink. The sink gets each event before the reply of any read that shows its change
 * settles.
 */
export class PersistentWatch {
  readonly options: WatchOptions & CallOptions
  readonly #sessions: SessionChain
  readonly #chroot: Chroot
  readonly #path: string
  readonly #absolute: string
  readonly #mode: WatchMode
  readonly #sink: EventSink
  #session: SessionDriver
  #watcher: PersistentWatcher | undefined
  /** The connection on which the server has set the watch. */
  #setOn: Connection | undefined
  /** The cause of the `Gap` when the watch is set the next time; undefined before the first time. */
  #missed: 'reconnected' | 'renewed' | undefined
  #ended = () => {}
  /** Aborts the requests that the watch itself makes. */
  readonly #left = new AbortController()

  constructor(
    sessions: SessionChain,
    chroot: Chroot,
    path: string,
    options: WatchOptions & CallOptions,
    sink: EventSink,
  ) {
    // A copy: it is read again in the next session, and the caller may change its own.
    this.options = Object.assign({}, options)
    this.#sessions = sessions
    this.#chroot = chroot
    this.#path = path
    this.#absolute = chroot.absolute(path)
    this.#mode = options.recursive === true ? 'recursive' : 'persistent'
    this.#sink = sink
    this.#session = options.session === undefined ? sessions.current : driverOf(options.session)
  }

  /** Whether events may be missing: the watch is not set on the present connection, or its server has no quorum. */
  get isStale(): boolean {
    const { connection } = this.#session
    return connection === undefined || connection !== this.#setOn || connection.readOnly
  }

  /** Queues the request of the watch before it returns. `ended` is called when the watch has ended. */
  open(ended: () => void): Promise<unknown> {
    this.#ended = ended
    return this.#add(this.options)
  }

  /** Removes the watch locally. The watch on the server is removed with the next requests. */
  stop(): void {
    this.#ended()
    const watcher = this.#watcher
    this.#watcher = undefined
    this.#left.abort()
    if (watcher !== undefined) this.#session.unsubscribe(watcher)
  }

  #add(waiting: CallLimits): Promise<unknown> {
    const session = this.#session
    const watcher: PersistentWatcher = {
      path: this.#absolute,
      mode: this.#mode,
      phase: 'unsent',
      notify: (outcome) => this.#deliver(outcome),
    }
    this.#watcher = watcher
    const effect = { type: 'addWatch', path: watcher.path, watcher, mode: undefined } as const
    return session.call(addWatch, this.#chroot, [this.#path], waiting, effect)
  }

  #deliver(outcome: PersistentOutcome): void {
    switch (outcome.type) {
      case 'Set':
        this.#setOn = this.#session.connection
        if (this.#missed !== undefined) this.#sink.push({ type: 'Gap', cause: this.#missed, path: this.#path })
        this.#missed = 'reconnected'
        return
      case 'Refused':
        return this.#fail(
          new KeeperError(outcome.code, { path: this.#path, chroot: this.#chroot.shown, ...outcome.details }),
        )
      case 'PersistentWatchRemoved':
        return this.#end({ type: 'PersistentWatchRemoved', path: this.#path })
      case 'SessionEnded':
        // The next session, if there is one, exists when the signal of this one aborts.
        onAbort(this.#session.signal, () => this.#renew())
        return
      case 'NodeCreated':
      case 'NodeDeleted':
      case 'NodeDataChanged':
      case 'NodeChildrenChanged':
        return this.#sink.push(this.#shown(outcome))
    }
  }

  /** The event with its path relative to the chroot, as the caller knows it. */
  #shown(outcome: NodeEvent): NodeEvent {
    const event = { ...outcome, path: this.#chroot.relative(outcome.path) }
    return 'zxid' in event ? inJson(event) : event
  }

  #renew(): void {
    if (this.#watcher === undefined) return
    const { current } = this.#sessions
    const isLast = current === this.#session || this.options.session !== undefined
    if (isLast) return this.#end({ type: 'SessionEnded', path: this.#path })
    this.#session = current
    this.#missed = 'renewed'
    // The request has no timeout: only the loop waits for the answer.
    const added = this.#add({ timeout: Infinity, signal: this.#left.signal, isOwn: true })
    added.catch((error: unknown) => {
      if (this.#session.signal.aborted) this.#renew()
      else this.#fail(error)
    })
  }

  #fail(error: unknown): void {
    this.#sink.fail(error)
    this.stop()
  }

  #end(last: PersistentWatchEvent): void {
    this.#sink.end(last)
    this.stop()
  }
}
