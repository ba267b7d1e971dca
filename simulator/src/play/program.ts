// The program of a client whose session may change hands, whose credentials may be refreshed, and which may watch a node.
import {
  connect,
  ConnectError,
  type DetachedSession,
  KeeperError,
  type Session,
  type Watched,
  type ZooKeeper,
} from '@zk/client'
import type { ClientPlan, HandOver } from '../scenario/scenario.ts'
import { followServers } from './follow-servers.ts'
import { Participant } from './participant.ts'
import { CONFIG } from './paths.ts'
import { saslOption } from './sasl-user.ts'

export abstract class Program<Client extends ClientPlan = ClientPlan> extends Participant<Client> {
  #watched: Watched | undefined
  #isClosed = false
  /** Cancels the timer of the next refresh. */
  #cancelRefresh = () => {}

  /** The work of a client. It begins when its session has changed hands. */
  protected abstract work(begun: Promise<void>): readonly Promise<void>[]

  override async close(): Promise<void> {
    this.#isClosed = true
    this.#cancelRefresh()
    await this.#watched?.unwatch().catch(() => {})
    await this.zk?.close()
  }

  override async connect(): Promise<void> {
    this.zk = await this.#connect(this.scenario.sessionTimeout)
    if (this.plan.follows) followServers(this.zk)
  }

  override begin(failed: (error: unknown) => void): readonly Promise<void>[] {
    const { watches, handOvers = [], refreshesEvery } = this.plan
    const begun = this.#handOver(handOvers)
    if (watches) begun.then(() => this.#watch()).catch(failed)
    if (refreshesEvery !== undefined) this.#refresh(refreshesEvery)
    return this.work(begun)
  }

  /** One client after another goes on with the session. If it is gone, the next client has a session of its own. */
  async #handOver(handOvers: readonly HandOver[]): Promise<void> {
    for (const { after, sessionTimeout } of handOvers) {
      await this.pause(after)
      let session = await this.#detach()
      for (let isConnected = false; !isConnected;) {
        try {
          this.zk = await this.#connect(sessionTimeout, session)
          if (this.plan.follows) followServers(this.zk)
          isConnected = true
        } catch (error) {
          if (!ConnectError.is(error) && !KeeperError.is(error)) throw error
          session = undefined
          await this.pause(1)
        }
      }
    }
  }

  #connect(sessionTimeout: number, session?: DetachedSession): Promise<ZooKeeper> {
    const times = { sessionTimeout, connectTimeout: sessionTimeout }
    const options = { runtime: this.runtime, ...times, ...saslOption(this.plan.usesSasl) }
    const { connectString } = this.context
    return connect(connectString, session === undefined ? options : { ...options, session })
  }

  async #detach(): Promise<DetachedSession | undefined> {
    try {
      return await this.zk!.detach()
    } catch (error) {
      if (!KeeperError.is(error)) throw error
      await this.zk!.close()
      return undefined
    }
  }

  /** As programs do whose credentials expire. */
  #refresh(every: number): void {
    this.#cancelRefresh = this.runtime.setTimer(every, () => {
      this.zk!.addAuth('digest', `client${this.client}:secret`).catch((error: unknown) => {
        // It may be between two connections, two sessions, or two clients.
        if (!KeeperError.is(error)) this.unexpected('addAuth', error)
      })
      this.#refresh(every)
    })
  }

  /** Reads a node, and again after every change of it, until the client is closed. */
  async #watch(): Promise<void> {
    let session: Session | undefined
    while (!this.#isClosed) {
      try {
        const read = await this.zk!.getDataAndWatch(CONFIG)
        this.#watched = read
        const { version } = read.stat
        // A later session may be at a server that is behind; one session never goes back in time.
        const isBack = version < this.seen && session === this.zk!.session
        if (isBack) this.unexpected('watch', `version ${version} was read after ${this.seen}`)
        session = this.zk!.session
        this.seen = version
        await read.changed
      } catch (error) {
        if (!KeeperError.is(error)) this.unexpected('watch', error)
      }
    }
  }
}
