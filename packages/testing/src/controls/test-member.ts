import type { MemberPort } from '../connection/member-port.ts'
import type { Role } from '../ensemble/index.ts'
import type { Control } from './control.ts'
import { hex } from './in-json.ts'
import { readNode, type TestNode } from './nodes.ts'
import { TestConnection } from './test-connection.ts'

/** One server of the ensemble. */
export class TestMember {
  readonly #port: MemberPort
  readonly #control: Control

  /** @internal */
  constructor(port: MemberPort, control: Control) {
    this.#port = port
    this.#control = control
  }

  /** Its name, such as `zk1`. */
  get name(): string {
    return this.#port.name
  }

  /** The address for clients: `127.0.0.1:40123` over TCP, otherwise its name. */
  get address(): string {
    return this.#port.address
  }

  /** The TCP port of `address`, even while the member is down. 2181 in virtual time. */
  get port(): number {
    return this.#port.clientPort
  }

  /** @internal */
  set address(address: string) {
    this.#port.address = address
  }

  /**
   * `leader`, `follower` or `standalone` while the member serves clients. `looking` until it has found a leader. `read-only`
   * while it serves reads without a leader. `down` after `kill`.
   */
  get role(): Role {
    return this.#port.member.role
  }

  /** The zxid of the last transaction in its tree. */
  get zxid(): bigint {
    return this.#port.member.tree.lastProcessedZxid
  }

  /** Whether the member is stopped by `freeze`. */
  get isFrozen(): boolean {
    return this.#port.member.isFrozen
  }

  /** Its connections with clients. */
  get connections(): readonly TestConnection[] {
    return Array.from(this.#port.connections, (connection) => new TestConnection(connection, this.#control))
  }

  /** For logs. */
  toJSON(): object {
    const { name, address, role, zxid, isFrozen } = this
    return { name, address, role, zxid: hex(zxid), isFrozen }
  }

  /** The node in the tree of this member, which may be behind the leader; undefined if there is none. */
  node(path: string): TestNode | undefined {
    return readNode(this.#port.member.tree, path)
  }

  /** Ends the process: its connections break, and its port is closed. Its log survives. Does nothing if it is down. */
  kill(): void {
    if (this.role !== 'down') this.#do('kill()', () => this.#port.kill())
  }

  /** Starts the process again, with its log. Does nothing if it is up. */
  restart(): void {
    if (this.role === 'down') this.#do('restart()', () => this.#port.restart())
  }

  /** Stops the process (SIGSTOP). Connections stay, and new ones can be made. Nothing happens on them until `thaw`. */
  freeze(): void {
    if (this.role !== 'down' && !this.isFrozen) this.#do('freeze()', () => this.#port.freeze())
  }

  /** Lets the process continue, as SIGCONT does. */
  thaw(): void {
    if (this.isFrozen) this.#do('thaw()', () => this.#port.thaw())
  }

  /**
   * From now on applies each commit with this delay, in ms. Infinity means that commits wait for `catchUp`. So reads from this
   * member are stale, and writes are answered late.
   */
  lag(ms: number): void {
    if (typeof ms !== 'number' || !(ms >= 0)) throw new RangeError(`lag must be a number of ms, 0 or more, not ${ms}`)
    this.#do(`lag(${ms})`, () => this.#port.member.lag(ms))
  }

  /** Applies all commits that wait, and ends the lag. */
  catchUp(): void {
    this.#do('catchUp()', () => this.#port.member.catchUp())
  }

  /**
   * Loses the next touch that this follower records: the leader never gets it, as if it was recorded while the touch table
   * was being sent (LearnerSessionTracker). Later touches are sent. False if the member follows no leader.
   */
  loseTouch(): boolean {
    return this.#do('loseTouch()', () => this.#port.member.loseTouch())
  }

  /** Refuses new connections from now on. The current ones stay. */
  refuse(): void {
    this.#do('refuse()', () => (this.#port.isRefusing = true))
  }

  /** Accepts connections again. */
  accept(): void {
    this.#do('accept()', () => (this.#port.isRefusing = false))
  }

  #do<Result>(what: string, action: () => Result): Result {
    return this.#control(`${this.name}.${what}`, action)
  }
}
