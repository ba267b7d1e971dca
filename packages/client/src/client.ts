// What a client has besides operations: sessions, servers, an end.
import { parseConnectString } from '@zk/wire'
import type { CallOptions } from './call-options.ts'
import type { ClientStates } from './telemetry/client-state.ts'
import { atCaller, KeeperError } from './errors.ts'
import { followServers } from './helpers/follow-servers.ts'
import type { NodeConfig } from './operations/config.ts'
import type { Runtime } from './runtime/runtime.ts'
import type { DetachedSession } from './session/protocol/detached-session.ts'
import type { Session } from './session/driver/session.ts'
import type { Sessions } from './sessions.ts'
import type { ClientStats } from './telemetry/stats.ts'
import type { Watched } from './watches/watcher.ts'

export abstract class Client {
  readonly #sessions: Sessions
  readonly #kind: 'owner' | 'view'

  /** @internal A view does not end its sessions. */
  constructor(sessions: Sessions, kind: 'owner' | 'view') {
    this.#sessions = sessions
    this.#kind = kind
  }

  abstract get chroot(): string
  abstract getConfigAndWatch(options?: CallOptions): Promise<NodeConfig & Watched>

  /** The session that calls run in now. After an expiry it is another object. */
  get session(): Session {
    return this.#sessions.current
  }

  /** What `connect` was given, or its default: for code that wants to share the client's time and randomness. */
  get runtime(): Runtime {
    return this.#sessions.runtime
  }

  /** What the client has done since `connect`, in numbers, and how much waits and is in flight. A snapshot; cheap to ask for. */
  stats(): ClientStats {
    return this.#sessions.stats()
  }

  /**
   * How the client stands with its ensemble: at once the state there is, then every other until it is closed. Whoever does
   * not ask for the next one in time misses some, and gets the last.
   *
   *     for await (const state of zk.states()) if (state.name === 'disconnected') …
   */
  states(): ClientStates {
    return this.#sessions.telemetry.states()
  }

  /**
   * Goes by another list of servers from now on: `host:port,…`, with the client's own chroot or none. Of the clients of an
   * ensemble as many move to another server as it takes for each to have its share; one moves when what it has asked is
   * answered, and stays in its session.
   */
  updateServers(connectString: string): void {
    const { servers, chroot } = parseConnectString(connectString)
    if (chroot !== '/' && chroot !== this.chroot) {
      throw new TypeError(`updateServers: the chroot stays ${this.chroot}, it cannot become ${chroot}`)
    }
    this.#sessions.updateServers(servers)
  }

  /**
   * Takes the servers from the ensemble's own configuration, `/zookeeper/config`, now and whenever it changes, until the
   * signal aborts or the client is closed. Resolves when it has them for the first time. Servers whose line does not say
   * where they take clients are left out; rejects when none is left.
   */
  async followServers({ signal }: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    try {
      await followServers(this, this.#follower, signal)
    } catch (error) {
      throw atCaller(error, signal)
    }
  }

  get #follower(): Parameters<typeof followServers>[1] {
    return {
      update: (servers) => this.#sessions.updateServers(servers),
      gaveUp: (why) =>
        this.#sessions.telemetry.anomaly(`/zookeeper/config is followed no more: ${String(why)}`, this.session),
    }
  }

  /**
   * Leaves the session without ending it, and ends the client: its ephemeral nodes stay until the session timeout has
   * passed, or another client goes on with it (`connect(…, { session })`). What was called before is answered first,
   * and what @zk/recipes hold or wait for in the session is given up, nodes and all: this takes half a session timeout at most.
   * Watches go.
   */
  async detach(): Promise<DetachedSession> {
    if (this.#kind === 'view') throw new TypeError('detach: this is a view; detach the client that it was made of')
    const { session } = this
    const { id: sessionId } = session
    // Who is told of its end may be so ahead of its signal.
    if (session.isOver) await Promise.resolve()
    session.signal.throwIfAborted()
    session.detaching.throwIfAborted()
    // A read-only server's session is nothing to go on with elsewhere; nor is one that no server has given yet.
    const reason = sessionId === 0n ? 'ConnectionLoss' : 'NotReadOnly'
    if (session.detached === undefined) throw new KeeperError(reason, { op: 'detach' })
    await session.detach()
    const { detached } = session
    if (detached === undefined) throw new KeeperError('SessionExpired', { op: 'detach', sessionId })
    return detached
  }

  /** Ends the session, which removes its ephemeral nodes at once, and the client. Settles within half a session timeout. */
  async close(): Promise<void> {
    if (this.#kind === 'view') return
    // Who is told of the end of a session may close the client before the next one is there.
    for (let closed: Session | undefined; closed !== this.session;) {
      closed = this.session
      await closed.close()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
