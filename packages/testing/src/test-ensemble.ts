import type { Faults } from './connection/faults.ts'
import type { History } from './connection/history.ts'
import type { TestNodes } from './controls/nodes.ts'
import type { TestMember } from './controls/test-member.ts'
import type { TestNetwork } from './controls/test-network.ts'
import type { TestSessions } from './controls/test-sessions.ts'
import { Listener } from './listener.ts'
import type { ListenOptions } from './listening.ts'

/** What an ensemble is made of, and where it is reached. */
export interface TestEnsembleOptions extends ListenOptions {}

/**
 * A ZooKeeper ensemble in this process, on TCP ports of this machine, for tests.
 *
 *     await using ensemble = await TestEnsemble.start({ members: 3 })
 *     const zk = await connect(ensemble.connectString)
 *
 * What a method does to a member, a connection or a link is done when it returns; what the members must agree on follows,
 * as soon as a quorum can (`serving`). Misuse is a `TypeError` or a `RangeError` that says what would be right.
 */
export class TestEnsemble implements AsyncDisposable {
  /** For the connect method of any client: all members. */
  readonly connectString: string
  /** All of them, those that are down too. */
  readonly members: readonly TestMember[]
  /** The links between members. */
  readonly network: TestNetwork
  /** The sessions that the leader knows. */
  readonly sessions: TestSessions
  /** The tree, as an operator sees and changes it. */
  readonly nodes: TestNodes
  /** Requests and replies that shall go wrong. */
  readonly faults: Faults
  /** All that was said. */
  readonly history: History
  readonly #listener: Listener

  /** Resolves when every member serves. Rejects with an `Error` of the system where a port cannot be had. */
  static async start(options: TestEnsembleOptions = {}): Promise<TestEnsemble> {
    return new TestEnsemble(await Listener.open(options))
  }

  /** @internal */
  constructor(listener: Listener) {
    const { members, network, sessions, nodes, faults, history } = listener.model
    this.#listener = listener
    this.connectString = listener.connectString
    this.members = members
    this.network = network
    this.sessions = sessions
    this.nodes = nodes
    this.faults = faults
    this.history = history
  }

  /**
   * The member that leads; undefined while none does. One that was cut off, or is frozen, believes so for a time, and is
   * the leader until another is elected: `serving` waits for that.
   */
  get leader(): TestMember | undefined {
    return this.#listener.model.leader
  }

  /** Those that serve clients and do not lead. */
  get followers(): readonly TestMember[] {
    return this.members.filter(({ role }) => role === 'follower')
  }

  /** Where the members listen, in their order: what the option `ports` takes. */
  get ports(): readonly number[] {
    return this.members.map(({ port }) => port)
  }

  /** Throws a `RangeError` for a name that no member has. */
  member(name: string): TestMember {
    return this.#listener.model.member(name)
  }

  /** Time since the ensemble began, in ms: what the history goes by. */
  get now(): number {
    return this.#listener.now
  }

  /**
   * Resolves with the leader when a quorum follows it, and all that are up and in touch with it serve clients: after a
   * kill, a partition, a restart or a heal. A member that is cut off from it, or frozen, is not waited for. Rejects with an
   * `Error` when that takes longer than `timeout`, in ms.
   */
  async serving({ timeout = 30_000 }: { readonly timeout?: number | undefined } = {}): Promise<TestMember> {
    const { model } = this.#listener
    let leader: TestMember | undefined
    const isServing = () => (leader = model.isServing ? model.leader : undefined) !== undefined
    await this.#listener.within(timeout, isServing, () => {
      const roles = this.members.map(({ name, role, isFrozen }) => `${name} is ${role}${isFrozen ? ', frozen' : ''}`)
      return new Error(`not all members serve after ${timeout} ms: ${roles.join(', ')}`)
    })
    return leader!
  }

  /** Cuts all connections and frees the ports. */
  async close(): Promise<void> {
    await this.#listener.close()
  }

  /** As `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
