import type { Faults } from './connection/faults.ts'
import type { History } from './connection/history.ts'
import type { TestNodes } from './controls/nodes.ts'
import type { TestMember } from './controls/test-member.ts'
import type { TestNetwork } from './controls/test-network.ts'
import type { TestSessions } from './controls/test-sessions.ts'
import { Listener } from './listener.ts'
import type { ListenOptions } from './listener-options.ts'

/** The options of an ensemble, and its addresses. */
export interface TestEnsembleOptions extends ListenOptions {}

/**
 * A ZooKeeper ensemble in this process, on TCP ports of this machine, for tests.
 *
 *     await using ensemble = await TestEnsemble.start({ members: 3 })
 *     const zk = await connect(ensemble.connectString)
 *
 * A control of a member, a connection or a link has taken effect when it returns. A change on which the members must agree
 * comes later, when a quorum can agree (`serving`). A wrong argument throws a `TypeError` or a `RangeError`.
 */
export class TestEnsemble implements AsyncDisposable {
  /** The addresses of all members, for the connect method of any client. */
  readonly connectString: string
  /** All members, including those that are down. */
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

  /** Resolves when every member serves clients. Rejects with an `Error` of the system if a port is not free. */
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

  /** For logs. The history has its own. */
  toJSON(): object {
    const { connectString, members } = this
    return { connectString, members }
  }

  /**
   * The member that leads; undefined while there is none. A leader that is cut off or frozen remains the leader until
   * another one is elected: `serving` waits for that.
   */
  get leader(): TestMember | undefined {
    return this.#listener.model.leader
  }

  /** The members that serve clients and do not lead. */
  get followers(): readonly TestMember[] {
    return this.members.filter(({ role }) => role === 'follower')
  }

  /** The ports of the members, in order. They can be passed as the option `ports`. */
  get ports(): readonly number[] {
    return this.members.map(({ port }) => port)
  }

  /** The member with this name. Throws a `RangeError` if there is none. */
  member(name: string): TestMember {
    return this.#listener.model.member(name)
  }

  /** The time since the ensemble began, in ms, as in the history. */
  get now(): number {
    return this.#listener.now
  }

  /**
   * Resolves with the leader when a quorum follows it, and all running members that can reach it serve clients. Wait for
   * this after a kill, a partition, a restart or a heal. It does not wait for a member that is frozen or cut off from the
   * leader. Rejects with an `Error` after `timeout` ms (30 s by default).
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

  /** Does the same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }
}
