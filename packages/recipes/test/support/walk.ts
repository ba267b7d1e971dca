// Random histories: clients that acquire, hold and release, or give up, while connections, sessions, servers and nodes
// fail. The same seed gives the same history.
import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import { type Acquirable, type Held, Lock, LockTimeoutError, op, SharedLock, type ZooKeeper } from '../../src/index.ts'
import { drop, fail, type Fault, garbage, ignore, loseReply, loseRequest } from './faults.ts'
import { outcome, type Outcome, SeededRandom } from './outside.ts'
import { nothing, Scene } from './scene.ts'

export interface WalkOptions {
  readonly seed: number
  readonly recipe: 'Lock' | 'SharedLock'
  /**
   * Whether an operator deletes nodes and ends sessions too. What was held then may be granted to the next before its
   * holder can know, and only the fence protects.
   */
  readonly isForced: boolean
}

type Kind = 'read' | 'write'

interface Hold {
  readonly kind: Kind
  readonly held: Held
  /** Positions in the order of everything that happened. */
  readonly from: number
  until: number
}

const PATH = '/locks/walk'
const LOG = '/log'
/** In ms. A short one, so that sessions do expire. */
const SESSION_TIMEOUT = 3_000
const CLIENTS = 3
const WORKERS = 2
const ROUNDS = 2
const FAULTS = 5
/** How long faults go on, in ms. */
const STORM = 5_000
/** After the last fault every contender is granted within this: all holds, and the time sessions take to end. */
const CALM = 4 * SESSION_TIMEOUT + 10_000

const ops = [
  'create2',
  'createContainer',
  'getChildren2',
  'getData',
  'multi',
  'delete',
  'sync',
  'exists',
  'removeWatches',
] as const
const faults: Fault[] = [loseRequest, loseReply, drop, garbage, ignore, fail('ThrottledOp')]

export class Walk {
  readonly holds: Hold[] = []
  readonly #options: WalkOptions
  readonly #scene: Scene
  readonly #random: SeededRandom
  #clients: ZooKeeper[] = []
  #happened = 0

  constructor(options: WalkOptions) {
    this.#options = options
    this.#scene = new Scene({ members: 3, seed: options.seed })
    this.#random = new SeededRandom(options.seed * 7_919)
  }

  async play(): Promise<void> {
    const { world, network, ensemble } = this.#scene
    ensemble.nodes.create(LOG)
    for (let each = 0; each < CLIENTS; each++) {
      this.#clients.push(await this.#scene.client({ sessionTimeout: SESSION_TIMEOUT }))
    }
    network.latency = () => this.#random.below(20)
    const working = this.#clients.flatMap((zk) => Array.from({ length: WORKERS }, () => outcome(this.#work(zk))))
    for (let each = 0; each < FAULTS; each++) {
      world.setTimer(this.#random.below(STORM), () => this.#strike())
    }
    await world.advance(STORM)
    this.#calm()
    const isOver = () =>
      working.every(({ status }) => status !== 'pending') &&
      ensemble.leader !== undefined &&
      isDeepStrictEqual(this.#scene.leftovers(), nothing)
    for (let time = 0; time < CALM && !isOver(); time += 250) await world.advance(250)
    this.#check(working)
  }

  // --- what clients do --------------------------------------------------------------------------------------------

  async #work(zk: ZooKeeper): Promise<void> {
    for (let round = 0; round < ROUNDS; round++) {
      await this.#pause(this.#random.below(500))
      const kind = this.#options.recipe === 'Lock' || this.#random.below(2) === 0 ? 'write' : 'read'
      const held = await this.#acquire(zk, kind)
      if (held !== undefined) await this.#hold(held, kind)
    }
  }

  async #acquire(zk: ZooKeeper, kind: Kind): Promise<Held | undefined> {
    const aborting = new AbortController()
    const isAborted = this.#random.below(5) === 0
    if (isAborted) this.#scene.world.setTimer(this.#random.below(1_000), () => aborting.abort())
    const timeout = this.#random.below(5) === 0 ? this.#random.below(1_000) : undefined
    try {
      const acquirable = this.#acquirable(zk, kind)
      return await acquirable.acquire({ signal: aborting.signal, ...(timeout !== undefined && { timeout }) })
    } catch (error) {
      expect(
        error === aborting.signal.reason || (timeout !== undefined && LockTimeoutError.is(error)),
        String(error),
      ).toBe(true)
      return undefined
    }
  }

  #acquirable(zk: ZooKeeper, kind: Kind): Acquirable<Held> {
    return this.#options.recipe === 'Lock' ? new Lock(zk, PATH) : new SharedLock(zk, PATH)[kind]
  }

  async #hold(held: Held, kind: Kind): Promise<void> {
    const hold: Hold = { kind, held, from: this.#happened++, until: Infinity }
    this.holds.push(hold)
    held.signal.addEventListener('abort', () => (hold.until = this.#happened++), { once: true })
    expect(held.isHeld()).toBe(true)
    for (let writes = this.#random.below(3); writes > 0 && held.isHeld(); writes--) {
      await this.#pause(this.#random.below(100))
      // Whatever comes of it: what was applied is in the log.
      const line = op.create(`${LOG}/`, String(held.fencingToken), { mode: 'PERSISTENT_SEQUENTIAL' })
      await held.multi([line]).catch(() => {})
    }
    await this.#pause(this.#random.below(200))
    // One that takes long goes on in the background.
    await held.release().catch((error: unknown) => expect(error).toMatchObject({ code: 'RequestTimeout' }))
    expect(held.isHeld()).toBe(false)
  }

  #pause(delay: number): Promise<void> {
    return new Promise((resolve) => {
      this.#scene.world.setTimer(delay, resolve)
    })
  }

  // --- what goes wrong --------------------------------------------------------------------------------------------

  #strike(): void {
    const { ensemble } = this.#scene
    const zk = this.#one(this.#clients)
    const { id } = zk.session
    const harm = [
      () => this.#scene.cut(zk),
      () => this.#scene.freeze(zk),
      () => this.#one(faults)(ensemble.faults, { op: this.#one(ops), session: id }),
      () => this.#one(faults)(ensemble.faults, { op: this.#one(ops), nth: 2 }),
      () => this.#one(ensemble.members).lag(this.#random.below(SESSION_TIMEOUT)),
      () => this.#kill(),
      () => this.#partition(zk),
    ]
    const force = [
      () => ensemble.sessions.get(id) && ensemble.sessions.expire(id),
      () => this.#delete(this.#one(ensemble.nodes.ephemerals())),
      () => this.#delete(PATH),
    ]
    // An operator asks the leader.
    const isForced = this.#options.isForced && ensemble.leader !== undefined
    this.#one([...harm, ...(isForced ? force : [])])()
  }

  /** One member dies for a while. The others go on. */
  #kill(): void {
    const { ensemble, world } = this.#scene
    if (ensemble.members.some(({ role }) => role === 'down')) return
    const member = this.#one(ensemble.members)
    member.kill()
    world.setTimer(this.#random.below(STORM), () => member.restart())
  }

  /** No client can connect for a while, and one client receives nothing. */
  #partition(zk: ZooKeeper): void {
    this.#scene.refuse()
    this.#scene.freeze(zk)
    this.#scene.world.setTimer(this.#random.below(2 * SESSION_TIMEOUT), () => this.#scene.accept())
  }

  /** If it is there, also where the leader does not show yet that it is not. */
  #delete(path: string | undefined): void {
    const { nodes } = this.#scene.ensemble
    if (path === undefined || nodes.get(path) === undefined) return
    try {
      nodes.delete(path)
    } catch (error) {
      expect(String(error)).toMatch(/NoNode|NotEmpty/)
    }
  }

  #calm(): void {
    const { ensemble } = this.#scene
    ensemble.faults.clear()
    this.#scene.accept()
    for (const member of ensemble.members) {
      member.restart()
      member.catchUp()
    }
  }

  #one<T>(all: readonly T[]): T {
    return all[this.#random.below(all.length)]!
  }

  // --- what must be true ------------------------------------------------------------------------------------------

  #check(working: readonly Outcome<void>[]): void {
    // I6, I12: every contender is granted in the end.
    expect(working.map(({ status, error }) => (status === 'rejected' ? error : status))).toEqual(
      working.map(() => 'fulfilled'),
    )
    // I4, I10, I15: nothing is left of contenders that released, nor of those that gave up.
    expect(this.#scene.leftovers()).toEqual(nothing)
    // I11: what was lost stays lost.
    expect(this.holds.filter(({ held }) => held.isHeld())).toEqual([])
    this.#checkLog()
    if (!this.#options.isForced) this.#checkHolds()
  }

  /** I3: what is guarded is done in the order of the holders, whatever they believed. Readers do not exclude each other. */
  #checkLog(): void {
    if (this.#options.recipe !== 'Lock') return
    const { nodes } = this.#scene.ensemble
    const lines = nodes
      .get(LOG)!
      .children.map((name) => BigInt(new TextDecoder().decode(nodes.get(`${LOG}/${name}`)!.data)))
    expect(lines).toEqual([...lines].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0)))
  }

  /** I1, I2, I7: of two that exclude each other the second is granted after the first is over, and has the higher fence. */
  #checkHolds(): void {
    const wrong = this.holds.flatMap((first, index) =>
      this.holds
        .slice(index + 1)
        .filter((second) => first.kind === 'write' || second.kind === 'write')
        .filter((second) => second.from < first.until || second.held.fencingToken < first.held.fencingToken)
        .map((second) => `${first.held.path} and ${second.held.path}`),
    )
    expect(wrong).toEqual([])
  }
}
