// One history by a seed: a client whose watches share few paths, and a server that is slow, busy, or lost. Which features
// a history has is up to the caller.
import { connect, type ZooKeeper } from '../../../src/index.ts'
import { outcome, VirtualWorld } from '../../support/index.ts'
import { Calls } from './calls.ts'
import { type Choice, Draws, type Feature, PATHS } from './draws.ts'
import { Nodes } from './nodes.ts'
import { untold } from './promises.ts'
import { answerTrial, isTrial } from '../../support/fake-server.ts'
import { WatchServer } from './watch-server.ts'
import type { Kind } from './watch-table.ts'

export interface Played {
  /** One-shot watches that have fired. */
  readonly once: number
  /** Events of persistent watches. */
  readonly forGood: number
  /** All that happened, line by line. */
  readonly story: readonly string[]
}

const SERVERS = ['zk1:2181', 'zk2:2181']
/** Until whatever was put off, or waits for a connection, has happened, in ms. */
const QUIET = 8_000
const SOON = 500
/** So often a server that is not slow looks for requests, in ms. */
const LOOK = 100

/** Throws when a promise is broken, with all that happened. */
export async function playHistory(seed: number, kind: Kind, features: readonly Feature[]): Promise<Played> {
  const history = new History(seed, kind, features)
  try {
    return await history.play()
  } catch (cause) {
    const again = `again with ZK_WATCH_SEED=${seed} pnpm test:unit packages/client/test/watching/shared-paths.test.ts`
    const about = `seed ${seed}: ${(cause as Error).message}`
    throw new Error([about, ...history.story, about, again].join('\n'), { cause })
  }
}

class History {
  readonly story: string[] = []
  readonly #draws: Draws
  readonly #world: VirtualWorld
  readonly #nodes = new Nodes(['/a', '/b'])
  readonly #steps: readonly Choice<void | Promise<void>>[]
  readonly #calls: readonly Choice<void>[]
  /** The entries of the last connection. */
  #server!: WatchServer
  #zk!: ZooKeeper
  #user!: Calls

  constructor(seed: number, kind: Kind, features: readonly Feature[]) {
    this.#draws = new Draws(seed, features)
    this.#world = new VirtualWorld(seed)
    this.#steps = this.#draws.possible<void | Promise<void>>([
      { weight: 34, act: () => this.#call() },
      { weight: 26, act: () => this.#execute() },
      { weight: 15, act: () => this.#deliver() },
      { weight: 20, act: () => this.#change() },
      { weight: 8, feature: 'abort', act: () => this.#abort() },
      { weight: 2, feature: 'loss', act: () => this.#lose() },
      { weight: 1, feature: 'move', act: () => this.#move() },
      { weight: 4, feature: 'time', act: () => this.#world.advance(this.#draws.below(200)) },
    ])
    this.#calls = this.#draws.possible([
      {
        weight: 6,
        act: () => this.#user.readAndWatch(this.#draws.reading(), this.#draws.path(), this.#draws.waiting()),
      },
      { weight: 3, act: () => this.#user.watch(this.#draws.path(), this.#draws.oneIn(2), this.#draws.waiting()) },
      { weight: 1, act: () => this.#user.getData(this.#draws.path(), this.#draws.waiting()) },
      {
        weight: 1,
        feature: 'remove',
        act: () => this.#user.removeWatches(this.#draws.path(), this.#draws.removable(), this.#draws.waiting()),
      },
      { weight: 4, act: () => this.#leave() },
    ])
    for (const name of SERVERS) {
      this.#world.listen(name, {
        dialed: (link) => {
          this.#say(`the client dials ${name}`)
          let server: WatchServer | undefined
          const received = (segment: Uint8Array) => {
            if (isTrial(segment)) return answerTrial(link)
            server ??= this.#server = new WatchServer(this.#nodes, link, kind, (line) => this.#say(line))
            server.received(segment)
          }
          link.open({ received, closed: () => server?.closed() })
        },
      })
    }
  }

  async play(): Promise<Played> {
    await this.#connect()
    for (let steps = 40 + this.#draws.below(60); steps > 0; steps--) await this.#draws.pick(this.#steps).act()
    await this.#quiet(QUIET)
    this.#must(untold(this.#user, this.#nodes))
    await this.#changeAll()
    this.#must(untold(this.#user, this.#nodes))
    await this.#leaveAll()
    this.#must(this.#server.watches.entries.map((watch) => `left at the server: ${watch}`))
    this.#must(this.#user.pending.map((call) => `never settled: ${call}`))
    await this.#close()
    const { oneShots, loops } = this.#user
    const once = oneShots.filter(({ isNotified }) => isNotified).length
    return { once, forGood: loops.reduce((sum, { notified }) => sum + notified.length, 0), story: this.story }
  }

  async #connect(): Promise<void> {
    const connecting = outcome(
      connect(SERVERS[0]!, { runtime: this.#world, sessionTimeout: 30_000, ...this.#draws.mostInFlight() }),
    )
    await this.#world.settle()
    this.#zk = connecting.value
    this.#user = new Calls(
      this.#zk,
      () => this.#nodes.zxid,
      (line) => this.#say(line),
    )
  }

  // --- what may happen --------------------------------------------------------------------------------------------

  /** Some calls of one turn. */
  async #call(): Promise<void> {
    for (let calls = 1 + this.#draws.below(3); calls > 0; calls--) this.#draws.pick(this.#calls).act()
    if (this.#draws.oneIn(4)) this.#abortOne()
    if (!this.#draws.oneIn(3)) await this.#world.settle()
  }

  async #execute(): Promise<void> {
    const isBusy = this.#draws.isBusy()
    for (let requests = 1 + this.#draws.below(3); requests > 0; requests--) this.#server.execute(isBusy)
    if (this.#draws.oneIn(2)) await this.#deliver()
  }

  async #deliver(): Promise<void> {
    this.#server.deliver()
    await this.#world.settle()
  }

  #change(): void {
    const path = this.#draws.changingPath()
    if (this.#draws.oneIn(2)) this.#nodes.set(path)
    else if (this.#nodes.get(path) === undefined) this.#nodes.create(path)
    else this.#nodes.delete(path)
    const { type, path: changed, zxid } = this.#nodes.log.at(-1)!
    this.#say(`the last change is ${type} ${changed} @${zxid}`)
  }

  async #abort(): Promise<void> {
    this.#abortOne()
    if (this.#draws.oneIn(2)) await this.#world.settle()
  }

  async #lose(): Promise<void> {
    this.#say('the connection is lost')
    this.#server.reset()
    await this.#world.settle()
    if (this.#draws.oneIn(2)) await this.#world.advance(this.#draws.below(1_200))
  }

  #move(): void {
    const server = this.#draws.pick(SERVERS)
    this.#say(`the one server is ${server}`)
    this.#zk.updateServers(server)
  }

  #leave(): void {
    const standing = this.#user.oneShots.filter(({ isNotified }) => !isNotified)
    const loops = this.#user.loops.filter(({ isOver }) => !isOver)
    if (this.#draws.oneIn(2) && standing.length > 0) this.#user.unwatch(this.#draws.pick(standing))
    else if (loops.length > 0) this.#user.leave(this.#draws.pick(loops))
  }

  #abortOne(): void {
    const controller = this.#draws.abort()
    if (controller === undefined) return
    this.#say('abort')
    controller.abort()
  }

  // --- the end ----------------------------------------------------------------------------------------------------

  async #changeAll(): Promise<void> {
    this.#say('--- everything changes')
    for (const path of PATHS) {
      this.#nodes.create(path)
      this.#nodes.set(path)
      this.#nodes.create(`${path}/z`)
    }
    await this.#quiet(SOON)
  }

  async #leaveAll(): Promise<void> {
    this.#say('--- all leave')
    for (const oneShot of this.#user.oneShots) this.#user.unwatch(oneShot)
    for (const loop of this.#user.loops) this.#user.leave(loop)
    await this.#quiet(QUIET)
  }

  async #close(): Promise<void> {
    const closing = outcome(this.#zk.close())
    await this.#quiet(SOON)
    this.#must(closing.status === 'fulfilled' ? [] : [`close is ${closing.status}`])
    this.#must(this.#world.timers === 0 ? [] : [`${this.#world.timers} timers are left`])
  }

  /** The server does all that it is asked for, while so many ms pass. */
  async #quiet(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += LOOK) {
      while (this.#server.execute());
      await this.#deliver()
      await this.#world.advance(LOOK)
    }
  }

  #say(line: string): void {
    this.story.push(line)
  }

  #must(faults: Iterable<string>): void {
    const all = [...faults]
    if (all.length > 0) throw new Error(all.join('\n'))
  }
}
