import { parentOf, parseConnectString } from '@zk/wire'
import { wasAborted } from '../base/aborts.ts'
import {
  type CallOptions,
  checkCallOptions,
  type EnsureOptions,
  expecting,
  optionNames,
  type ParentsOptions,
} from '../operations/call-options.ts'
import { Chroot, noChroot } from '../base/chroot.ts'
import { atCaller, KeeperError, throwAtCaller } from '../base/errors.ts'
import { getACL, type NodeACL, setACL } from '../operations/acl.ts'
import { addAuth } from '../operations/add-auth.ts'
import type { ErrorReply } from '../operations/error-reply.ts'
import { type ACL, checkACL, type Data, toBytes } from '../base/arguments.ts'
import { checkWatches } from '../operations/check-watches.ts'
import {
  type Children,
  getChildNames as getChildNamesOf,
  getChildren,
  getChildrenAndWatch,
} from '../operations/children.ts'
import {
  CONFIG_NODE,
  getConfig,
  getConfigAndWatch,
  type NodeConfig,
  reconfig,
  type Reconfiguration,
} from '../operations/config.ts'
import { create, type Created, type CreateOptions, isSequential } from '../operations/create.ts'
import { getData, getDataAndWatch, type NodeData, setData } from '../operations/data.ts'
import { deleteNode, type VersionOptions } from '../operations/delete.ts'
import { exists, existsAndWatch } from '../operations/exists.ts'
import { getAllChildrenNumber } from '../operations/get-all-children-number.ts'
import { getEphemerals } from '../operations/get-ephemerals.ts'
import type { NameList } from '../operations/name-list.ts'
import { multi, type MultiResults } from '../operations/multi.ts'
import { multiRead, type ReadResults } from '../operations/multi-read.ts'
import type { Operation, WatchingOperation, WireOperation } from '../operations/operation.ts'
import type { Op, ReadOp } from '../operations/ops.ts'
import { checkedType, type RemovableWatches, removeWatches } from '../operations/remove-watches.ts'
import { sync } from '../operations/sync.ts'
import { type ClientInfo, whoAmI } from '../operations/who-am-i.ts'
import {
  type EventSink,
  NodeEventsSource,
  type OpeningNodeEvents,
  PersistentWatch,
  type WatchOptions,
} from './node-events.ts'
import { openNodeEvents } from './opening-node-events.ts'
import { checkAuth } from './options.ts'
import { createBelow, type MakeNode, makePath, type PathMode, snapshot, wantsParents } from './parents.ts'
import { followServers } from './follow-servers.ts'
import type { ClientState, ClientStates } from '../telemetry/client-state.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { DetachedSession } from '../session/protocol/detached-session.ts'
import { inspected } from '../base/inspected.ts'
import { driverOf, type SessionDriver } from '../session/driver/session-driver.ts'
import type { Session } from '../operations/session.ts'
import { throwIfAborted } from '../base/signals.ts'
import type { LogLevel } from '../telemetry/logger.ts'
import type { ClientStats } from '../telemetry/stats.ts'
import type { SessionChain } from './session-chain.ts'
import type { Stat } from '../operations/stat.ts'
import { CallWatcher, type Watched } from './call-watcher.ts'

// What recipes need of a client besides its public methods. These are methods of the object, and their names are known to all
// copies of this package: the recipes of one copy also work with a client of another.
const logWithKey = Symbol.for('@zk/ZooKeeper.logWith')
const getChildNamesKey = Symbol.for('@zk/ZooKeeper.getChildNames')
const watchIntoKey = Symbol.for('@zk/ZooKeeper.watchInto')

/** Logs like the client itself, with its session and its server. For `@zk/client/internal`. */
export function logWith(zk: ZooKeeper, level: LogLevel, message: string, fields: () => object): void {
  zk[logWithKey](level, message, fields)
}

/** Like `getChildren`, but makes no string for each name. For `@zk/client/internal`. */
export function getChildNames(zk: ZooKeeper, path: string, options: CallOptions): Promise<NameList> {
  return zk[getChildNamesKey](path, options)
}

/**
 * Like `watch`, but the events go to a sink, which gets each before a reply that shows its change settles.
 * For `@zk/client/internal`.
 */
export function watchInto(
  zk: ZooKeeper,
  path: string,
  options: Pick<WatchOptions, 'recursive'> & CallOptions,
  sink: EventSink,
): WatchInto {
  return zk[watchIntoKey](path, options, sink)
}

/** A watch whose events go to a sink. */
interface WatchInto {
  /** Settles as `watch` does. */
  readonly opened: Promise<unknown>
  /** Removes the watch here. The watch at the server is removed with the next requests. */
  readonly stop: () => void
}

const ensureOptions = optionNames('acl')
/** One object for all calls without options: an object for each call would take time. */
const noOptions = {}
const followOptions = ['signal']

/**
 * A client of one ensemble. Every call is queued before it returns its promise, so the calls of one turn are sent together,
 * in their order. A call rejects with a `KeeperError` if it fails in ZooKeeper, with a `TypeError` or `RangeError`, before
 * anything is sent, if an argument is invalid, and with the reason of the signal if it aborts.
 */
export class ZooKeeper {
  readonly #sessions: SessionChain
  readonly #chroot: Chroot
  readonly #kind: 'owner' | 'view'

  /** @internal Use `connect`. A view does not end its sessions. */
  constructor(sessions: SessionChain, chroot: Chroot, kind: 'owner' | 'view' = 'owner') {
    this.#sessions = sessions
    this.#chroot = chroot
    this.#kind = kind
  }

  /** The chroot, below which all paths of this client are; '/' if there is none. */
  get chroot(): string {
    return this.#chroot.path
  }

  /** The present session, in which calls run. After an expiry this is another object. */
  get session(): Session {
    return this.#sessions.current
  }

  /** The runtime of the client, for code that uses the same clocks and random numbers. */
  get runtime(): Runtime {
    return this.#sessions.runtime
  }

  /** The statistics of the client since `connect`, and its present load. This is a snapshot, and cheap. */
  stats(): ClientStats {
    return this.#sessions.stats()
  }

  /** The present state of the client: plain data for a health check. */
  get state(): ClientState {
    return this.#sessions.states.current
  }

  /** For `util.inspect` and `console.log`: the state, and no secret. */
  [inspected](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `ZooKeeper ${inspect({ ...this.state, chroot: this.chroot }, options)}`
  }

  /**
   * The states of the client: first the present one, then each new one until the client has ended. A slow loop misses some
   * states, but always gets the latest one.
   *
   *     for await (const state of zk.states()) if (state.name === 'disconnected') …
   */
  states(): ClientStates {
    return this.#sessions.states.follow()
  }

  /** @internal */
  [logWithKey](level: LogLevel, message: string, fields: () => object): void {
    const { log, current } = this.#sessions
    log.line(level, message, current, fields)
  }

  /** @internal */
  [getChildNamesKey](path: string, options: CallOptions): Promise<NameList> {
    return this.#call(getChildNamesOf, [path], options)
  }

  /** @internal */
  [watchIntoKey](path: string, options: Pick<WatchOptions, 'recursive'> & CallOptions, sink: EventSink): WatchInto {
    const watch = new PersistentWatch(this.#sessions, this.#chroot, path, options, sink)
    return { opened: watch.open(() => {}), stop: () => watch.stop() }
  }

  // --- operations --------------------------------------------------------------------------------------------------

  /** Creates a node. To the path of a sequential node the server appends a number of ten digits. */
  async create(
    path: string,
    data?: Data,
    options: CreateOptions & ParentsOptions & CallOptions = noOptions,
  ): Promise<Created> {
    checkCallOptions('create', options, create.options?.known, create.options?.example)
    const session = this.#sessionOf(options)
    const { timeout = session.timeout, signal } = options
    const isBelow = wantsParents(options.parents)
    const creation = isBelow ? snapshot({ data, options }) : { data, options }
    const until = this.runtime.now() + timeout
    try {
      const callOptions = isBelow ? expecting(options, 'NoNode') : options
      return await this.#submit(create, [path, creation.data, creation.options], callOptions)
    } catch (error) {
      const isMissing = isBelow && !wasAborted(error, signal) && KeeperError.is(error, 'NoNode')
      if (!isMissing) throw atCaller(error, signal)
      const { parents, ...each } = { ...creation.options, session }
      const parentPath = parentOf(this.#chroot.absolute(path, { sequential: isSequential(each.mode) }))
      const makeNode = this.#maker(typeof parents === 'object' ? parents.acl : undefined, each)
      const again = (timeout: number) => this.create(path, creation.data, { ...each, timeout })
      return createBelow({ parentPath, makeNode, create: again }, { runtime: this.runtime, until, signal }, error)
    }
  }

  /**
   * Deletes a node. Rejects with `NoNode`, with `NotEmpty` if it has children, and with `BadVersion` if it has another
   * version.
   */
  delete(path: string, options: VersionOptions & CallOptions = noOptions): Promise<void> {
    return this.#call(deleteNode, [path, options], options)
  }

  /** The Stat of the node; undefined if it does not exist. */
  exists(path: string, options: CallOptions = noOptions): Promise<Stat | undefined> {
    return this.#call(exists, [path], options)
  }

  /** Like `exists`, with a watch. `changed` resolves when the node is created or deleted, or its data changes. */
  existsAndWatch(path: string, options: CallOptions = noOptions): Promise<{ stat: Stat | undefined } & Watched> {
    return this.#watch(existsAndWatch, path, options, (stat) => ({ stat }))
  }

  /**
   * The data and the Stat of the node. Rejects with `NoNode`. The data may be old, because a server may be behind others, but
   * not older than what this session has already seen. For newer data call `sync` first.
   */
  getData(path: string, options: CallOptions = noOptions): Promise<NodeData> {
    return this.#call(getData, [path], options)
  }

  /**
   * Like `getData`, with a watch. `changed` resolves when the data changes or the node is deleted. If the node is missing
   * (`NoNode`), no watch is set.
   */
  getDataAndWatch(path: string, options: CallOptions = noOptions): Promise<NodeData & Watched> {
    return this.#watch(getDataAndWatch, path, options, (read) => read)
  }

  /**
   * Replaces all the data. Resolves with the new Stat of the node. Rejects with `NoNode`, and with `BadVersion` if the node
   * has another version.
   */
  setData(path: string, data: Data, options: VersionOptions & CallOptions = noOptions): Promise<Stat> {
    return this.#call(setData, [path, data, options], options)
  }

  /** The names of the children, in no particular order, and the Stat of the node. Rejects with `NoNode`. */
  getChildren(path: string, options: CallOptions = noOptions): Promise<Children> {
    return this.#call(getChildren, [path], options)
  }

  /**
   * Like `getChildren`, with a watch. `changed` resolves when a child is created or deleted, or the node is deleted, but not
   * when the data of a child changes.
   */
  getChildrenAndWatch(path: string, options: CallOptions = noOptions): Promise<Children & Watched> {
    return this.#watch(getChildrenAndWatch, path, options, (read) => read)
  }

  /** The ACL of the node. This needs the right READ or ADMIN. Without ADMIN, servers hide the hashes of `digest`. */
  getACL(path: string, options: CallOptions = noOptions): Promise<NodeACL> {
    return this.#call(getACL, [path], options)
  }

  /** Replaces the ACL. `version` is that of the ACL: `stat.aversion`. */
  setACL(path: string, acl: readonly ACL[], options: VersionOptions & CallOptions = noOptions): Promise<Stat> {
    return this.#call(setACL, [path, acl, options], options)
  }

  /**
   * Reads that follow a sync on the same connection see everything that was committed before the sync. There is one
   * exception: a leader answers a sync at once, and may be a moment behind what a follower has already answered to another
   * client (CommitProcessor.matchSyncs). A write has no such exception: any server answers it, even if it fails, after
   * everything that was committed before.
   */
  sync(path: string, options: CallOptions = noOptions): Promise<void> {
    return this.#call(sync, [path], options)
  }

  /**
   * Executes all operations, made with `op`, in order and under one zxid, or none of them. If one fails, the error is that of
   * this operation, with its `index`. `results` of the error has the code of each operation.
   */
  multi<const Ops extends readonly Op<unknown>[]>(
    ops: Ops,
    options: CallOptions = noOptions,
  ): Promise<MultiResults<Ops>> {
    return this.#call(multi(ops), [], options)
  }

  /**
   * Executes reads, made with `op`, all at one moment. Each result has its own `value` or `error`. For servers from 3.6 on.
   */
  multiRead<const Ops extends readonly ReadOp<unknown>[]>(
    ops: Ops,
    options: CallOptions = noOptions,
  ): Promise<ReadResults<Ops>> {
    return this.#call(multiRead(ops), [], options)
  }

  /** The paths of this session's ephemeral nodes that begin with this text. For servers from 3.6 on. */
  getEphemerals(prefix = '/', options: CallOptions = noOptions): Promise<string[]> {
    return this.#call(getEphemerals, [prefix], options)
  }

  /** The number of nodes below this one, at any depth. The server counts them one by one. For servers from 3.6 on. */
  getAllChildrenNumber(path: string, options: CallOptions = noOptions): Promise<number> {
    return this.#call(getAllChildrenNumber, [path], options)
  }

  /** The identities of the connection at the server. For servers from 3.7 on. */
  whoAmI(options: CallOptions = noOptions): Promise<ClientInfo[]> {
    return this.#call(whoAmI, [], options)
  }

  /** The configuration of the ensemble. Its servers need not be those of the connect string. */
  getConfig(options: CallOptions = noOptions): Promise<NodeConfig> {
    return this.#call(getConfig, [CONFIG_NODE], options, noChroot)
  }

  /** Like `getConfig`, with a watch. `changed` resolves after a reconfiguration; its `path` is that of the config node. */
  getConfigAndWatch(options: CallOptions = noOptions): Promise<NodeConfig & Watched> {
    return this.#watch(getConfigAndWatch, CONFIG_NODE, options, (read) => read, noChroot)
  }

  /**
   * Changes the ensemble. Resolves with the new configuration. Servers must have `reconfigEnabled` (otherwise
   * `ReconfigDisabled`). The client needs the right to write the config node, which at first only the superuser has.
   */
  reconfig(change: Reconfiguration, options: CallOptions = noOptions): Promise<NodeConfig> {
    return this.#call(reconfig, [change], options)
  }

  /** Whether the server has such a watch on the node: of this client from 3.9 on, and of any client at older servers. */
  checkWatches(path: string, type: RemovableWatches = 'Any', options: CallOptions = noOptions): Promise<boolean> {
    return this.#call(checkWatches, [path, type], options)
  }

  /**
   * All events of the node from now on, or with `recursive` of the node and all nodes below it, until the loop is left, the
   * signal aborts, or the client is closed:
   *
   *     for await (const event of zk.watch('/config', { recursive: true })) …
   *
   * `await zk.watch(…)` resolves with the same iterator when the server has set the watch: later events are not missed.
   * Without the `await`, the first `next()` rejects if the server refuses the watch.
   *
   * The watch outlives connections and sessions, but servers do not send the events in between. A `Gap` then comes, and after
   * it all events again. Read the nodes again after a `Gap`. The node need not exist. Servers before 3.6 refuse the watch
   * with `Unimplemented`.
   */
  watch(path: string, options: WatchOptions & CallOptions = noOptions): OpeningNodeEvents {
    return openNodeEvents(() => new NodeEventsSource(this.#sessions, this.#chroot, path, options), options?.signal)
  }

  /**
   * Removes all watches of this client from the node, here and at the server. `changed` of a read resolves with the removal,
   * and the events of `watch` end. The client delivers no event of them after the call, even if it is already on its way. If
   * this client still needs a watch, for instance for a read under way, the server keeps it for as long. Rejects with
   * `NoWatcher` if there were no watches at the call. A call under way that may set a watch counts as one.
   */
  async removeWatches(path: string, type: RemovableWatches = 'Any', options: CallOptions = noOptions): Promise<void> {
    // All checks come before any watcher is removed: a refused call changes nothing.
    checkCallOptions('removeWatches', options)
    const session = this.#sessionOf(options)
    throwIfAborted(options.signal)
    const absolute = this.#chroot.absolute(path)
    const wereThere = session.takeWatchers(absolute, checkedType(type))
    if (!wereThere && !session.signal.aborted) {
      const { shown: chroot } = this.#chroot
      throw new KeeperError('NoWatcher', { op: 'removeWatches', path, chroot, ...session.errorContext })
    }
    const removal = session.removal(absolute, type)
    if (removal === undefined) return session.notifyTaken()
    try {
      const effect = { type: 'remove', path: absolute, watches: removal } as const
      // Before the watchers are notified: a diagnostics subscriber may set a watch then, which this must not remove.
      const removed = session.call(removeWatches, this.#chroot, [path, removal], options, effect)
      session.notifyTaken()
      await removed
    } catch (error) {
      throw atCaller(error, options?.signal)
    }
  }

  /**
   * Adds an identity to this session and to those that follow. It is sent before the calls that still wait. If a server
   * refuses the identity, the client ends with `AuthFailed`.
   */
  async addAuth(scheme: string, auth: Uint8Array | string, options: CallOptions = noOptions): Promise<void> {
    checkAuth(scheme, auth)
    checkCallOptions('addAuth', options)
    const session = this.#sessionOf(options)
    // A copy: the credential is sent again on later connections, and the caller may overwrite its own memory.
    const credential = { scheme, auth: new Uint8Array(toBytes(auth)) }
    try {
      await session.call(addAuth, noChroot, [credential], options, { type: 'addAuth', credential })
    } catch (error) {
      throw atCaller(error, options?.signal)
    }
  }

  /**
   * Creates the node and every missing node above it, the chroot included, as persistent nodes. Existing nodes do not change.
   */
  async ensurePath(path: string, options: EnsureOptions = {}): Promise<void> {
    await this.#ensure('ensurePath', 'PERSISTENT', path, options)
  }

  /**
   * Like `ensurePath`, with containers. Servers delete a container after its last child was deleted, and then empty
   * containers above it. So a later create below it needs `parents`. (Servers before 3.5.1 do not know containers: there the
   * nodes are persistent.)
   */
  async ensureContainer(path: string, options: EnsureOptions = {}): Promise<void> {
    await this.#ensure('ensureContainer', 'CONTAINER', path, options)
  }

  async #ensure(name: string, mode: PathMode, path: string, given: EnsureOptions): Promise<void> {
    checkCallOptions(name, given, ensureOptions)
    const { acl: callersACL, ...options } = given
    // A copy: it is read again for each node, and the caller may overwrite its own.
    const acl = callersACL && checkACL(callersACL)
    const session = this.#sessionOf(options)
    const { timeout = session.timeout, signal } = options
    const absolute = this.#chroot.absolute(path)
    // The root exists: nothing is sent.
    if (absolute === '/') {
      throwIfAborted(signal)
      throwIfAborted(session.signal)
    }
    const limit = { runtime: this.runtime, until: this.runtime.now() + timeout, signal }
    const failure = await makePath(absolute, mode, this.#maker(acl, { ...options, session }), limit)
    if (failure !== undefined) throw atCaller(failure, signal)
  }

  /**
   * A view of this client, whose paths are below this path. The view shares the sessions and connections of this client, the
   * order of its calls, its watches and its end. `close` of a view does nothing, and `detach` of a view rejects: close the
   * client itself. The node need not exist.
   */
  withChroot(path: string): ZooKeeper {
    return new ZooKeeper(this.#sessions, new Chroot(this.#chroot.absolute(path)), 'view')
  }

  // --- servers and the end -----------------------------------------------------------------------------------------

  /**
   * Replaces the list of servers: `host:port,…`, with the client's own chroot or none. Some clients of the ensemble then move
   * to another server, so that each server has its share of the clients. A client moves when a server of the new list has
   * proven that it serves, and its requests are answered. It keeps its session. Until then it stays connected where it is.
   */
  updateServers(connectString: string): void {
    const { servers, chroot } = parseConnectString(connectString)
    if (chroot !== '/' && chroot !== this.chroot) {
      throw new TypeError(`updateServers: the chroot stays ${this.chroot}, it cannot become ${chroot}`)
    }
    this.#sessions.updateServers(servers, 'program')
  }

  /**
   * Takes the servers from the ensemble's own configuration, `/zookeeper/config`, now and whenever it changes, until the
   * signal aborts or the client is closed. They are used as those of `updateServers` are, and the program's own list is
   * tried whenever all of them have failed. Resolves after the first time. Servers without an address that this client can
   * use are left out. Rejects with `NoUsableServer` if no server is left: the message says why, and what to do.
   */
  async followServers(options: Pick<CallOptions, 'signal'> = noOptions): Promise<void> {
    checkCallOptions('followServers', options, followOptions, '{ signal }')
    const { signal } = options
    try {
      await followServers(this, this.#follower, signal)
    } catch (error) {
      throw atCaller(error, signal)
    }
  }

  /**
   * Leaves the session without ending it, and ends the client. The ephemeral nodes stay for the session timeout, or longer if
   * another client resumes the session in that time (`connect(…, { session })`). Earlier calls are answered first. Whatever
   * `@zk/recipes` holds or waits for in the session is given up, and its nodes are deleted. This takes half a session timeout
   * at most. Watches end.
   */
  async detach(): Promise<DetachedSession> {
    if (this.#kind === 'view') throw new TypeError('detach: this is a view; detach the client whose withChroot made it')
    const session = this.#sessions.current
    const { id: sessionId } = session
    // A subscriber may be notified of the end of the session before the signal aborts.
    if (session.isOver) await Promise.resolve()
    throwIfAborted(session.signal)
    throwIfAborted(session.detaching)
    // No other server knows the session of a read-only server. A session that no server has given cannot be resumed either.
    const reason = sessionId === 0n ? 'ConnectionLoss' : 'NotReadOnly'
    if (session.detached === undefined) throw new KeeperError(reason, { op: 'detach' })
    await session.detach()
    const { detached } = session
    if (detached === undefined) throw new KeeperError('SessionExpired', { op: 'detach', sessionId })
    return detached
  }

  /**
   * Ends the session, which deletes its ephemeral nodes at once, and ends the client. Settles within half a session timeout.
   */
  async close(): Promise<void> {
    if (this.#kind === 'view') return
    // A listener of the end of a session may close the client before the next session exists.
    for (let closed: SessionDriver | undefined; closed !== this.#sessions.current;) {
      closed = this.#sessions.current
      await closed.close()
    }
  }

  /** Like `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  // --- shared by the methods ---------------------------------------------------------------------------------------

  /** The session that a call is pinned to, or the current one. */
  #sessionOf({ session }: CallOptions): SessionDriver {
    return session === undefined ? this.#sessions.current : driverOf(session)
  }

  get #follower(): Parameters<typeof followServers>[1] {
    return {
      isSecure: this.#sessions.isSecure,
      update: (servers) => this.#sessions.updateServers(servers, 'ensemble'),
      ignored: (why) => this.#sessions.report({ type: 'serversIgnored', why }),
      gaveUp: (why) => {
        this.#sessions.report({
          type: 'anomaly',
          what: `the client follows /zookeeper/config no longer: ${String(why)}`,
        })
      },
    }
  }

  /** Makes the function that creates missing nodes. Their paths already include the chroot. */
  #maker(acl: CreateOptions['acl'], options: CallOptions): MakeNode {
    return (path, mode, timeout) =>
      this.#submit(create, [path, undefined, { mode, acl }], expecting({ ...options, timeout }, 'NodeExists'), noChroot)
  }

  // Every public operation has exactly one `then` or `await` of ours: so promises settle in the order of the replies.

  /** Not async: an async function makes five more objects for each call, which take a tenth of the time of a small read. */
  #call<Args extends readonly unknown[], W extends WireOperation, Result>(
    operation: Operation<Args, W, Result>,
    args: Args,
    options: CallOptions,
    chroot?: Chroot,
  ): Promise<Exclude<Result, ErrorReply>> {
    try {
      const answer = this.#submit(operation, args, options, chroot)
      const { signal } = options
      return answer.then(undefined, signal === undefined ? throwAtCaller : (error) => throwAtCaller(error, signal))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #watch<W extends WireOperation, Result, Read extends object>(
    operation: WatchingOperation<W, Result>,
    path: string,
    options: CallOptions,
    read: (result: Exclude<Result, ErrorReply>) => Read,
    chroot = this.#chroot,
  ): Promise<Read & Watched> {
    checkCallOptions(operation.name, options)
    const session = this.#sessionOf(options)
    const watcher = new CallWatcher(operation.watch, path, chroot)
    try {
      const result = await session.call(operation, chroot, [path], options, { type: 'watch', watcher })
      return watcher.addTo(read(result), session)
    } catch (error) {
      throw atCaller(error, options?.signal)
    }
  }

  /** Queues the request before it returns. */
  #submit<Args extends readonly unknown[], W extends WireOperation, Result>(
    operation: Operation<Args, W, Result>,
    args: Args,
    options: CallOptions,
    chroot = this.#chroot,
  ): Promise<Exclude<Result, ErrorReply>> {
    checkCallOptions(operation.name, options, operation.options?.known, operation.options?.example)
    return this.#sessionOf(options).call(operation, chroot, args, options)
  }
}
