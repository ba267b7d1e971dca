import type { Faults } from './connection/faults.ts'
import type { History } from './connection/history.ts'
import type { TestNodes } from './controls/nodes.ts'
import type { TestMember } from './controls/test-member.ts'
import type { TestNetwork } from './controls/test-network.ts'
import type { TestSessions } from './controls/test-sessions.ts'
import { Listener } from './listener.ts'
import type { ListenOptions } from './listening.ts'

/** The options of an ensemble, and its addresses. */
export interface TestEnsembleOptions extends ListenOptions {}

/**
 * A ZooKeeper ensemble in this process, on TCP ports of this machine, for tests.
 *
 *     await using ensemble = await TestEnsemble.start({ members: 3 })
 *     const zk = await connect(ensemble.connectString)
 *
 * A control of a member, a connection or a link has taken effect when it returns. A change on which the members must agree
 * follows as soon as a quorum can agree (`serving`). Misuse is a `TypeError` or a `RangeError` that says what would be right.
 */
export class TestEnsemble implements AsyncDisposable {
  /** All members, for the connect method of any client. */
  readonly connectString: string
  /** All members, those that are down included. */
  readonly members: readonly TestMember[]
  /** The links between members. */
  readonly network: TestNetwork
  /** The sessions that the leader knows. */
  readonly sessions: TestSessions
  /** The tree, as an operator reads and changes it. */
  readonly nodes: TestNodes
  /** Makes requests and replies go wrong. */
  readonly faults: Faults
  /** All frames, connections, roles and controls. */
  readonly history: History
  readonly #listener: Listener

  /** Resolves when every member serves. Rejects with an `Error` of the system where a port is not free. */
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
   * The member that leads; undefined while there is none. A leader that was cut off, or is frozen, stays it until another is
   * elected: `serving` waits for that.
   */
  get leader(): TestMember | undefined {
    return this.#listener.model.leader
  }

  /** The members that serve clients and do not lead. */
  get followers(): readonly TestMember[] {
    return this.members.filter(({ role }) => role === 'follower')
  }

  /** The ports of the members, in their order, as the option `ports` takes them. */
  get ports(): readonly number[] {
    return this.members.map(({ port }) => port)
  }

  /** Throws a `RangeError` for a name that no member has. */
  member(name: string): TestMember {
    return this.#listener.model.member(name)
  }

  /** The time since the ensemble began, in ms, as in the history. */
  get now(): number {
    return this.#listener.now
  }

  /**
   * Resolves with the leader when a quorum follows it, and all members that are up and in touch with it serve clients. Use it
   * after a kill, a partition, a restart or a heal. It does not wait for a member that is cut off from the leader, or frozen.
   * Rejects with an `Error` when that takes longer than `timeout`, in ms.
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
