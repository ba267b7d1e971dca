import { parseConnectString } from '@zk/wire'
import type { ACL, Data } from '../base/arguments.ts'
import { Chroot, noChroot } from '../base/chroot.ts'
import { hex } from '../base/hex.ts'
import { inspected } from '../base/inspected.ts'
import type { WatchIterator } from '../base/watch-iterator.ts'
import { getACL, type NodeACL, setACL } from '../operations/acl.ts'
import type { CallOptions, EnsureOptions, ParentsOptions } from '../operations/call-options.ts'
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
import { create, type Created, type CreateOptions } from '../operations/create.ts'
import { getData, getDataAndWatch, type NodeData, setData } from '../operations/data.ts'
import { deleteNode, type VersionOptions } from '../operations/delete.ts'
import { exists, existsAndWatch } from '../operations/exists.ts'
import { getAllChildrenNumber } from '../operations/get-all-children-number.ts'
import { getEphemerals } from '../operations/get-ephemerals.ts'
import { multi, type MultiResults } from '../operations/multi.ts'
import { multiRead, type ReadResults } from '../operations/multi-read.ts'
import type { NameList } from '../operations/name-list.ts'
import type { Op, ReadOp } from '../operations/ops.ts'
import type { RemovableWatches } from '../operations/remove-watches.ts'
import type { Session } from '../operations/session.ts'
import type { Stat } from '../operations/stat.ts'
import { sync } from '../operations/sync.ts'
import { type ClientInfo, whoAmI } from '../operations/who-am-i.ts'
import type { Runtime } from '../runtime/runtime.ts'
import type { DetachedSession } from '../session/protocol/detached-session.ts'
import type { ClientState, FinalState } from '../telemetry/client-state.ts'
import type { LogLevel } from '../telemetry/logger.ts'
import type { ClientStats } from '../telemetry/stats.ts'
import { addAuthTo } from './add-auth.ts'
import type { Watched } from './call-watcher.ts'
import { Calls } from './calls.ts'
import { followServers } from './follow-servers.ts'
import { getChildNamesKey, logWithKey, type WatchInto, watchIntoKey, type WatchIntoOptions } from './for-recipes.ts'
import {
  type EventSink,
  PersistentWatch,
  type PersistentWatchEvent,
  watchNode,
  type WatchOptions,
} from './node-events.ts'
import { createWithParents, ensure } from './parents.ts'
import { removeWatchesOf } from './remove-watches.ts'
import type { SessionChain } from './session-chain.ts'

/** One object for all calls without options: an object for each call would take time. */
const noOptions = {}

/**
 * A client of one ensemble. Every call is queued before it returns its promise, so the calls of one turn are sent together,
 * in their order. A call rejects with a `KeeperError` if it fails in ZooKeeper, with a `TypeError` or `RangeError`, before
 * anything is sent, if an argument is invalid, and with the reason of the signal if it aborts.
 */
export class ZooKeeper {
  readonly #sessions: SessionChain
  readonly #chroot: Chroot
  readonly #calls: Calls
  readonly #kind: 'owner' | 'view'

  /** @internal Use `connect`. A view does not end its sessions. */
  constructor(sessions: SessionChain, chroot: Chroot, kind: 'owner' | 'view' = 'owner') {
    this.#sessions = sessions
    this.#chroot = chroot
    this.#calls = new Calls(sessions, chroot)
    this.#kind = kind
  }

  /** The chroot, to which all paths of this client are relative; '/' without one. */
  get chroot(): string {
    return this.#chroot.path
  }

  /** The name of the client on its diagnostics channels: the option `advanced.name`, or the connect string. */
  get name(): string {
    return this.#sessions.name
  }

  /** The current session, in which calls run. After an expiry this is another object. */
  get session(): Session {
    return this.#sessions.current
  }

  /** The runtime of the client, for code that uses the same clocks and random numbers. */
  get runtime(): Runtime {
    return this.#sessions.runtime
  }

  /** The statistics of the client since `connect`, and its current load. This is a snapshot, and cheap. */
  stats(): ClientStats {
    return this.#sessions.stats()
  }

  /** The current state of the client: plain data for a health check. */
  get state(): ClientState {
    return this.#sessions.states.current
  }

  /** For `util.inspect` and `console.log`: the state, and no secret. */
  [inspected](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    const { state } = this
    const session = 'sessionId' in state ? { sessionId: hex(state.sessionId) } : {}
    return `ZooKeeper ${inspect({ ...state, ...session, chroot: this.chroot }, options)}`
  }

  /** For logs: the same in JSON. */
  toJSON(): object {
    return { ...this.state, chroot: this.chroot }
  }

  /**
   * The states of the client: first the current one, then each new one until the client has ended. A slow loop misses some
   * states, but always gets the latest one.
   *
   *     for await (const state of zk.watchState()) if (state.name === 'disconnected') …
   */
  watchState(): WatchIterator<ClientState> {
    return this.#sessions.states.watch()
  }

  /**
   * Resolves when the client has ended for good, with its last state: `closed` after `close` or `detach`, `authFailed` if a server
   * has refused the credentials, `expired` if the session has expired, and `renewSession` is false or `detach` was under way.
   * It never rejects, so you need not handle its errors.
   *
   *     const { name } = await zk.closed
   */
  get closed(): Promise<FinalState> {
    return this.#sessions.states.final
  }

  /** @internal */
  [logWithKey](level: LogLevel, message: string, fields: () => object): void {
    const { log, current } = this.#sessions
    log.line(level, message, current, fields)
  }

  /** @internal */
  [getChildNamesKey](path: string, options: CallOptions): Promise<NameList> {
    return this.#calls.call(getChildNamesOf, [path], options)
  }

  /** @internal */
  [watchIntoKey](path: string, options: WatchIntoOptions, sink: EventSink): WatchInto {
    const watch = new PersistentWatch(this.#sessions, this.#chroot, path, options, sink)
    return { opened: watch.open(() => {}), stop: () => watch.stop() }
  }

  // --- operations --------------------------------------------------------------------------------------------------

  /** Creates a node. The server appends a number of ten digits to the path of a sequential node. */
  create(
    path: string,
    data?: Data,
    options: CreateOptions & ParentsOptions & CallOptions = noOptions,
  ): Promise<Created> {
    // Most creates need no more than any other call.
    if (options?.parents === undefined) return this.#calls.call(create, [path, data, options], options)
    return createWithParents(this.#calls, path, data, options)
  }

  /**
   * Deletes a node. Rejects with `NoNode`, with `NotEmpty` if it has children, and with `BadVersion` if it has another
   * version.
   */
  delete(path: string, options: VersionOptions & CallOptions = noOptions): Promise<void> {
    return this.#calls.call(deleteNode, [path, options], options)
  }

  /** The Stat of the node; undefined if it does not exist. */
  exists(path: string, options: CallOptions = noOptions): Promise<Stat | undefined> {
    return this.#calls.call(exists, [path], options)
  }

  /** Like `exists`, with a watch. `changed` resolves when the node is created or deleted, or its data changes. */
  existsAndWatch(path: string, options: CallOptions = noOptions): Promise<{ stat: Stat | undefined } & Watched> {
    return this.#calls.watch(existsAndWatch, path, options, (stat) => ({ stat }))
  }

  /**
   * The data and the Stat of the node. Rejects with `NoNode`. The data may be old, because a server may be behind others, but
   * not older than what this session has already seen. For newer data call `sync` first.
   */
  getData(path: string, options: CallOptions = noOptions): Promise<NodeData> {
    return this.#calls.call(getData, [path], options)
  }

  /**
   * Like `getData`, with a watch. `changed` resolves when the data changes or the node is deleted. If the node is missing
   * (`NoNode`), no watch is set.
   */
  getDataAndWatch(path: string, options: CallOptions = noOptions): Promise<NodeData & Watched> {
    return this.#calls.watch(getDataAndWatch, path, options, (read) => read)
  }

  /**
   * Replaces all the data. Resolves with the new Stat of the node. Rejects with `NoNode`, and with `BadVersion` if the node
   * has another version.
   */
  setData(path: string, data: Data, options: VersionOptions & CallOptions = noOptions): Promise<Stat> {
    return this.#calls.call(setData, [path, data, options], options)
  }

  /** The names of the children, in no particular order, and the Stat of the node. Rejects with `NoNode`. */
  getChildren(path: string, options: CallOptions = noOptions): Promise<Children> {
    return this.#calls.call(getChildren, [path], options)
  }

  /**
   * Like `getChildren`, with a watch. `changed` resolves when a child is created or deleted, or the node is deleted, but not
   * when the data of a child changes.
   */
  getChildrenAndWatch(path: string, options: CallOptions = noOptions): Promise<Children & Watched> {
    return this.#calls.watch(getChildrenAndWatch, path, options, (read) => read)
  }

  /** The ACL of the node. This needs the right READ or ADMIN. Without ADMIN, servers hide the hashes of `digest`. */
  getACL(path: string, options: CallOptions = noOptions): Promise<NodeACL> {
    return this.#calls.call(getACL, [path], options)
  }

  /** Replaces the ACL. `version` is the version of the ACL: `stat.aversion`. */
  setACL(path: string, acl: readonly ACL[], options: VersionOptions & CallOptions = noOptions): Promise<Stat> {
    return this.#calls.call(setACL, [path, acl, options], options)
  }

  /**
   * Reads that follow a sync on the same connection see everything that was committed before the sync. There is one
   * exception: a leader answers a sync at once, and may be a moment behind what a follower has already answered to another
   * client (CommitProcessor.matchSyncs). A write has no such exception: any server answers it, even if it fails, after
   * everything that was committed before.
   */
  sync(path: string, options: CallOptions = noOptions): Promise<void> {
    return this.#calls.call(sync, [path], options)
  }

  /**
   * Executes all operations, made with `op`, in order and under one zxid, or none of them. If one fails, the error is that of
   * this operation, with its `index`. `results` of the error has the code of each operation.
   */
  multi<const Ops extends readonly Op<unknown>[]>(
    ops: Ops,
    options: CallOptions = noOptions,
  ): Promise<MultiResults<Ops>> {
    return this.#calls.call(multi(ops), [], options)
  }

  /**
   * Executes reads, made with `op`, all at one moment. Each result has its own `value` or `error`. For servers from 3.6 on.
   */
  multiRead<const Ops extends readonly ReadOp<unknown>[]>(
    ops: Ops,
    options: CallOptions = noOptions,
  ): Promise<ReadResults<Ops>> {
    return this.#calls.call(multiRead(ops), [], options)
  }

  /** The paths of this session's ephemeral nodes that begin with this text. For servers from 3.6 on. */
  getEphemerals(prefix = '/', options: CallOptions = noOptions): Promise<string[]> {
    return this.#calls.call(getEphemerals, [prefix], options)
  }

  /** The number of nodes below this one, at any depth. The server counts them one by one. For servers from 3.6 on. */
  getAllChildrenNumber(path: string, options: CallOptions = noOptions): Promise<number> {
    return this.#calls.call(getAllChildrenNumber, [path], options)
  }

  /** The identities of the connection on the server. For servers from 3.7 on. */
  whoAmI(options: CallOptions = noOptions): Promise<ClientInfo[]> {
    return this.#calls.call(whoAmI, [], options)
  }

  /** The configuration of the ensemble. Its servers need not be those of the connect string. */
  getConfig(options: CallOptions = noOptions): Promise<NodeConfig> {
    return this.#calls.call(getConfig, [CONFIG_NODE], options, noChroot)
  }

  /** Like `getConfig`, with a watch. `changed` resolves after a reconfiguration; its `path` is the path of the config node. */
  getConfigAndWatch(options: CallOptions = noOptions): Promise<NodeConfig & Watched> {
    return this.#calls.watch(getConfigAndWatch, CONFIG_NODE, options, (read) => read, noChroot)
  }

  /**
   * Changes the ensemble. Resolves with the new configuration. Servers must have `reconfigEnabled` (otherwise
   * `ReconfigDisabled`). The client needs the right to write the config node, which at first only the superuser has.
   */
  reconfig(change: Reconfiguration, options: CallOptions = noOptions): Promise<NodeConfig> {
    return this.#calls.call(reconfig, [change], options)
  }

  /** Whether the server has such a watch on the node: of this client from 3.9 on, and of any client on older servers. */
  checkWatches(path: string, type: RemovableWatches = 'Any', options: CallOptions = noOptions): Promise<boolean> {
    return this.#calls.call(checkWatches, [path, type], options)
  }

  /**
   * Resolves, when the server has set the watch, with all events of the node from then on, or with `recursive` of the node and all
   * nodes below it, until the loop is left, the signal aborts, or the client is closed:
   *
   *     for await (const event of await zk.watch('/config', { recursive: true })) …
   *
   * The watch outlives connections and sessions, but servers do not send the events in between. A `Gap` then comes, and after
   * it all events again. Read the nodes again after a `Gap`. The node need not exist. Servers before 3.6 refuse the watch
   * with `Unimplemented`.
   */
  watch(path: string, options: WatchOptions & CallOptions = noOptions): Promise<WatchIterator<PersistentWatchEvent>> {
    return watchNode(this.#sessions, this.#chroot, path, options)
  }

  /**
   * Removes all watches of this client from the node, locally and on the server. `changed` of a read resolves with the removal,
   * and the events of `watch` end. The client delivers no event of them after the call, even if it is already on its way. If
   * this client still needs a watch, for instance for a read under way, the server keeps it for as long. Rejects with
   * `NoWatcher` if there were no watches at the call. A call under way that may set a watch counts as one.
   */
  removeWatches(path: string, type: RemovableWatches = 'Any', options: CallOptions = noOptions): Promise<void> {
    return removeWatchesOf(this.#calls, path, type, options)
  }

  /**
   * Adds an identity to this session and to all later sessions of the client. It is sent before the calls that still wait. If a server
   * refuses the identity, the client ends with `AuthFailed`.
   */
  addAuth(scheme: string, auth: Uint8Array | string, options: CallOptions = noOptions): Promise<void> {
    return addAuthTo(this.#calls, scheme, auth, options)
  }

  /**
   * Creates the node and every missing node above it, including the chroot, as persistent nodes. Existing nodes do not change.
   */
  async ensurePath(path: string, options: EnsureOptions = {}): Promise<void> {
    await ensure(this.#calls, 'ensurePath', 'PERSISTENT', path, options)
  }

  /**
   * Like `ensurePath`, with containers. Servers delete a container after its last child was deleted, and then empty
   * containers above it. So a later create below it needs `parents`. (Servers before 3.5.1 do not know containers: there the
   * nodes are persistent.)
   */
  async ensureContainer(path: string, options: EnsureOptions = {}): Promise<void> {
    await ensure(this.#calls, 'ensureContainer', 'CONTAINER', path, options)
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
   * proven that it serves, and its requests are answered. It keeps its session. Until then it stays connected to its present
   * server.
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
   * signal aborts or the client is closed. They are used like those of `updateServers`, and the program's own list is tried
   * whenever all of them have failed. Resolves after the first time. Servers without an address that this client can use are
   * left out. Rejects with `NoUsableServer` if no server is left: the message says why, and what to do.
   */
  followServers(options: Pick<CallOptions, 'signal'> = noOptions): Promise<void> {
    return followServers(this, this.#sessions, options)
  }

  /**
   * Leaves the session without ending it, and ends the client. The ephemeral nodes stay for the session timeout, or longer if
   * another client resumes the session in that time (`connect(…, { session })`). Earlier calls are answered first. Whatever
   * `@zk/recipes` holds or waits for in the session is given up, and its nodes are deleted. This takes half a session timeout
   * at most. Watches end.
   */
  detach(): Promise<DetachedSession> {
    if (this.#kind === 'owner') return this.#sessions.detach()
    return Promise.reject(new TypeError('detach: this is a view; detach the client whose withChroot made it'))
  }

  /**
   * Ends the session, which deletes its ephemeral nodes at once, and ends the client. Settles within half a session timeout.
   */
  close(): Promise<void> {
    return this.#kind === 'owner' ? this.#sessions.close() : Promise.resolve()
  }

  /** Like `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
