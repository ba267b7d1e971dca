import type { MemberPort } from '../connection/member-port.ts'
import type { Role } from '../ensemble/index.ts'
import type { Control } from './control.ts'
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

  /** Such as `zk1`. */
  get name(): string {
    return this.#port.name
  }

  /** Where clients reach it: `127.0.0.1:40123` over TCP, else its name. */
  get address(): string {
    return this.#port.address
  }

  /** Where it listens, or will again: the TCP port of `address`. 2181 where there are no sockets. */
  get port(): number {
    return this.#port.clientPort
  }

  /** @internal */
  set address(address: string) {
    this.#port.address = address
  }

  /** `leader` and `follower` once it serves clients, `looking` before; `read-only` without a leader; `standalone` if alone. */
  get role(): Role {
    return this.#port.member.role
  }

  /** The last transaction in its tree. */
  get zxid(): bigint {
    return this.#port.member.tree.lastProcessedZxid
  }

  /** Whether it stands still: `freeze`. */
  get isFrozen(): boolean {
    return this.#port.member.isFrozen
  }

  /** Its connections with clients. */
  get connections(): readonly TestConnection[] {
    return Array.from(this.#port.connections, (connection) => new TestConnection(connection, this.#control))
  }

  /** What this member knows of a node: a follower may be behind. undefined where there is none. */
  node(path: string): TestNode | undefined {
    return readNode(this.#port.member.tree, path)
  }

  /** The process dies, its connections break, and its port is closed. What it has logged survives. Does nothing where it is down. */
  kill(): void {
    if (this.role !== 'down') this.#do('kill()', () => this.#port.kill())
  }

  /** Does nothing where it is up. */
  restart(): void {
    if (this.role === 'down') this.#do('restart()', () => this.#port.restart())
  }

  /** The process is stopped (SIGSTOP): connections stay and can be made, and nothing happens on them until it thaws. */
  freeze(): void {
    if (this.role !== 'down' && !this.isFrozen) this.#do('freeze()', () => this.#port.freeze())
  }

  /** It goes on, as after SIGCONT. */
  thaw(): void {
    if (this.isFrozen) this.#do('thaw()', () => this.#port.thaw())
  }

  /**
   * From now on it applies what is committed this much later, in ms; with Infinity not before `catchUp`. What is read
   * there is stale, and its own writes are answered late.
   */
  lag(ms: number): void {
    if (typeof ms !== 'number' || !(ms >= 0)) throw new RangeError(`lag must be a number of ms, 0 or more, not ${ms}`)
    this.#do(`lag(${ms})`, () => this.#port.member.lag(ms))
  }

  /** Applies all that is committed, and lags no more. */
  catchUp(): void {
    this.#do('catchUp()', () => this.#port.member.catchUp())
  }

  /**
   * While it follows a leader: the next touch that it records is never sent to the leader, as when it is recorded while the table
   * is being sent (LearnerSessionTracker). Later touches are sent. False where it does not follow.
   */
  loseTouch(): boolean {
    return this.#do('loseTouch()', () => this.#port.member.loseTouch())
  }

  /** From now on connections are refused. Those that are there stay. */
  refuse(): void {
    this.#do('refuse()', () => (this.#port.isRefusing = true))
  }

  /** Takes connections again. */
  accept(): void {
    this.#do('accept()', () => (this.#port.isRefusing = false))
  }

  #do<Result>(what: string, action: () => Result): Result {
    return this.#control(`${this.name}.${what}`, action)
  }
}
