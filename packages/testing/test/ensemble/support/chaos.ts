// Random faults in an ensemble that is used meanwhile, by seed.
import { OpCode } from '@zk/wire'
import type { Member } from '../../../src/ensemble/index.ts'
import { randomFrom, T, TestClient, TICK, treeOf, World } from './world.ts'

export interface ChaosOptions {
  readonly seed: number
  /** Whether members are stopped and go on. */
  readonly freezes: boolean
  /** In ms. */
  readonly duration?: number
}

/** What must not be, in words. */
export type Violation = string

export class Chaos {
  readonly world: World
  readonly violations: Violation[] = []
  /** How many were proven. */
  leases = 0
  /** Paths whose creation was answered OK. */
  readonly written: string[] = []
  /** The least time between the end of a proven lease and that of its session. */
  slack = Infinity
  /** How often an answered ping alone would have been believed too long. */
  wrongBeliefs = 0
  leaders = 0
  readonly #random: () => number
  readonly #options: Required<ChaosOptions>
  readonly #leases = new Map<bigint, number>()
  readonly #believed = new Map<bigint, number>()
  readonly #endedAt = new Map<bigint, number>()
  /** By session the members that know it. */
  readonly #alive = new Map<bigint, Set<Member>>()
  #count = 0

  constructor(options: ChaosOptions) {
    this.#options = { duration: 60_000, ...options }
    const random = randomFrom(options.seed)
    this.#random = random
    const slowness = random() * 60
    this.world = new World(random() < 0.7 ? 3 : 5, { random, latency: () => random() * random() * slowness })
  }

  /** Faults and work, then everything heals, and all members must agree. */
  run(): this {
    const { world } = this
    this.#later(0, () => this.#hurt())
    for (let i = 0; i < 3; i++) this.#later(0, () => this.#work())
    for (let i = 0; i < 2; i++) this.#later(0, () => this.#hold())
    let leader: Member | undefined
    while (world.now < this.#options.duration) {
      world.agenda.run(Math.min(world.agenda.deadline(), this.#options.duration))
      this.#look()
      if (world.ensemble.leader !== leader && world.ensemble.leader !== undefined) this.leaders++
      leader = world.ensemble.leader
    }
    this.#heal()
    this.#compare()
    return this
  }

  get #isOver(): boolean {
    return this.world.now >= this.#options.duration
  }

  #later(ms: number, action: () => void): void {
    this.world.agenda.at(this.world.now + ms, () => {
      if (!this.#isOver) action()
    })
  }

  #pick<Item>(items: readonly Item[]): Item {
    return items[Math.floor(this.#random() * items.length)]!
  }

  // --- faults -------------------------------------------------------------------------------------------------------

  #hurt(): void {
    const { ensemble } = this.world
    const member = this.#pick(ensemble.members)
    const other = this.#pick(ensemble.members)
    const faults: (() => void)[] = [
      () => member !== other && ensemble.network.cut(member.name, other.name),
      () => this.#isolate(member),
      () => this.#isolate(ensemble.leader ?? member),
      () => this.#halves(),
      () => ensemble.network.heal(),
      () => ensemble.network.heal(),
      () => ensemble.network.heal(member.name),
      () => this.#kill(member),
      () => this.#kill(ensemble.leader ?? member),
      () => member.lag(this.#random() * 3_000),
      () => member.catchUp(),
    ]
    if (this.#options.freezes)
      faults.push(
        () => this.#freeze(member),
        () => this.#freeze(ensemble.leader ?? member),
      )
    this.#pick(faults)()
    this.#later(this.#random() * this.#random() * 4_000, () => this.#hurt())
  }

  #isolate(member: Member): void {
    const { ensemble } = this.world
    const others = ensemble.members.filter((other) => other !== member)
    ensemble.network.partition(others.map(({ name }) => name))
  }

  #halves(): void {
    const { members, network } = this.world.ensemble
    const half = members.filter(() => this.#random() < 0.5)
    const rest = members.filter((member) => !half.includes(member))
    network.partition(
      half.map(({ name }) => name),
      rest.map(({ name }) => name),
    )
  }

  #kill(member: Member): void {
    member.kill()
    this.#later(this.#random() * 8_000, () => member.restart())
  }

  #freeze(member: Member): void {
    member.freeze()
    this.#later(this.#random() * this.#random() * 9_000, () => member.thaw())
  }

  #heal(): void {
    const { world } = this
    const { ensemble } = world
    ensemble.network.heal()
    for (const member of ensemble.members) {
      member.thaw()
      member.restart()
      member.catchUp()
    }
    const isWhole = () =>
      ensemble.members.every((member) => member.isServing()) &&
      ensemble.members.filter(({ role }) => role === 'leader').length === 1
    world.run(12 * TICK)
    world.runUntil(isWhole)
    const last = world.client(world.leader)
    last.create('/last').async()
    world.run(T + 2 * TICK)
  }

  #compare(): void {
    const { members } = this.world.ensemble
    const trees = new Set(members.map(treeOf))
    if (trees.size > 1) this.violations.push(`the members differ:\n${[...trees].join('\n---\n')}`)
    for (const path of this.written) {
      if (members[0]!.tree.get(path) === undefined) this.violations.push(`${path} was answered OK, and is lost`)
    }
  }

  // --- work ---------------------------------------------------------------------------------------------------------

  /** Creates nodes, one after the other, wherever it gets through. */
  #work(): void {
    const again = () => this.#work()
    const path = `/n${this.#count++}`
    this.#connect(undefined, (client) => {
      const create = () => client.create(path, { data: path })
      this.#ask(client, create, again, () => {
        if (client.lastReply!.err === 0) this.written.push(path)
        client.member.disconnected(client)
        again()
      })
    })
  }

  /** A holder, which proves its lease by the rule of a ping, a `sync` and a committed check. */
  #hold(before?: TestClient): void {
    this.#connect(before, (client) => {
      if (!this.#alive.has(client.sessionId)) this.#alive.set(client.sessionId, new Set())
      this.#round(client)
    })
  }

  #round(client: TestClient): void {
    const again = () => this.#hold(client)
    const sentAt = this.world.now
    const check = () => client.send('multi', [{ type: OpCode.check, request: { path: '/', version: -1 } }] as never)
    this.#ask(
      client,
      () => client.ping(),
      again,
      () => {
        this.#believed.set(client.sessionId, sentAt + T)
        if ((this.#endedAt.get(client.sessionId) ?? Infinity) < sentAt + T) this.wrongBeliefs++
        this.#later(T / 3, () =>
          this.#ask(
            client,
            () => client.sync(),
            again,
            () =>
              this.#ask(client, check, again, () => {
                const [result] = client.lastReply!.response as { readonly type: number }[]
                // A refused one is an error.
                if (result!.type === OpCode.check) this.#proven(client, sentAt + T)
                if (this.#random() < 0.8) return this.#round(client)
                // Stalled for so long that only the lease may count.
                this.#later(T * (1 + this.#random()), () => this.#round(client))
              }),
          ),
        )
      },
    )
  }

  #proven({ sessionId }: TestClient, end: number): void {
    this.leases++
    this.#leases.set(sessionId, end)
    const endedAt = this.#endedAt.get(sessionId) ?? Infinity
    if (endedAt < end) this.violations.push(`lease until ${end} proven for a session that ended at ${endedAt}`)
  }

  /** Sessions whose end was observable. */
  #look(): void {
    const { now, ensemble } = this.world
    for (const [id, knowing] of this.#alive) {
      for (const member of ensemble.members) {
        if (!member.isServing()) continue
        if (member.sessionTimeouts.has(id)) knowing.add(member)
        else if (knowing.has(member)) this.#ended(id, now)
      }
    }
  }

  #ended(id: bigint, now: number): void {
    const end = this.#leases.get(id) ?? 0
    if (now < (this.#believed.get(id) ?? 0)) this.wrongBeliefs++
    this.slack = Math.min(this.slack, end === 0 ? Infinity : now - end)
    if (now < end) this.violations.push(`a session ended at ${now}, its lease at ${end}`)
    this.#alive.delete(id)
    this.#endedAt.set(id, now)
  }

  #connect(before: TestClient | undefined, then: (client: TestClient) => void): void {
    const member = this.#pick(this.world.ensemble.members)
    const client = new TestClient(this.world, member)
    const connect = () => client.connect(before)
    const retry = () => this.#connect(client.state === 'expired' ? undefined : before, then)
    this.#ask(client, connect, retry, () => (client.state === 'established' ? then(client) : retry()))
  }

  /** `then` once there is something new: an answer, or what became of the handshake. Gives up after a while, as clients do. */
  #ask(client: TestClient, ask: () => void, otherwise: () => void, then: () => void): void {
    const { state, world } = { state: client.state, world: this.world }
    const count = client.replies.length
    const since = world.now
    const look = () => {
      if (client.state === 'closed') return this.#later(this.#random() * 300, otherwise)
      if (client.replies.length > count || client.state !== state) return then()
      if (world.now - since < (T * 2) / 3) return this.#later(this.#random() * 30, look)
      client.member.disconnected(client)
      otherwise()
    }
    if (client.state !== 'closed') ask()
    look()
  }
}
