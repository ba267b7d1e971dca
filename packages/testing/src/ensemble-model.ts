// The ensemble without I/O: it takes bytes and the time, and returns what its driver must do (over TCP: `listener.ts`).
import { Faults } from './connection/faults.ts'
import { checkMember } from './connection/fault.ts'
import type { Gate } from './connection/gate.ts'
import { History } from './connection/history.ts'
import type { Remote } from './connection/host.ts'
import { MemberPort } from './connection/member-port.ts'
import type { ServerConnection } from './connection/server-connection.ts'
import { TestNodes } from './controls/nodes.ts'
import { TestMember } from './controls/test-member.ts'
import { TestNetwork } from './controls/test-network.ts'
import { TestSessions } from './controls/test-sessions.ts'
import { Agenda, Ensemble } from './ensemble/index.ts'
import { checkOptions, type EnsembleOptions } from './options.ts'
import type { LoggedTxn } from './server/txn.ts'

/** The server's end of one connection of a client. */
export interface Link {
  /** The number of the connection in the history. */
  readonly id: number
  /**
   * Open while the model processes the bytes of the client. While the gate is closed, the driver should not read from the
   * client, but the model keeps bytes that arrive. A driver may set 'clogged' while the client does not read its output.
   * When it clears 'clogged', it calls `received` without bytes.
   */
  readonly gate: Pick<Gate, 'isOpen' | 'onChange' | 'set'>
}

/** What the driver must do now, in this order. */
export type Output =
  | { readonly type: 'send'; readonly link: Link; readonly bytes: Uint8Array }
  /** Close the connection, with 'end' after all bytes that were sent. This is the last output of the link. */
  | { readonly type: 'close'; readonly link: Link; readonly how: 'end' | 'reset' }

/** The options of the ensemble, and the clocks and random numbers that it uses. */
export interface ModelOptions extends EnsembleOptions {
  /** A number in [0, 1), like Math.random. */
  random: () => number
  /** The wall clock at a time of the driver's clock, in ms since the epoch. */
  wallNow: (now: number) => number
  /** The driver's clock, in ms from 0 on. It is read when a control is used. */
  now: () => number
  /** Whether clients can show certificates, and ACLs can have the scheme `x509`. @default false */
  hasCertificates?: boolean | undefined
}

/**
 * An ensemble, the connections of its clients, and its faults. `accept`, `received`, `closed` and `elapse` take the present
 * time, in ms of a clock that never goes back. All of these but `accept` return what the driver must do.
 */
export class EnsembleModel {
  /** The members, in the order of their names in the options. */
  readonly members: readonly TestMember[]
  /** The links between members. */
  readonly network: TestNetwork
  /** The sessions that the leader knows. */
  readonly sessions: TestSessions
  /** The tree, as an operator reads and changes it. */
  readonly nodes: TestNodes
  /** Makes requests and replies go wrong. */
  readonly faults: Faults
  /** The record of all frames, connections, changes of roles and used controls. */
  readonly history: History
  /** Called when a control was used. The driver must then call `elapse` at once. */
  onWake: () => void = () => {}
  readonly #agenda = new Agenda()
  readonly #ensemble: Ensemble
  readonly #ports: ReadonlyMap<string, MemberPort>
  /** The connections that have bytes to send, or that are to be closed. */
  readonly #due = new Set<ServerConnection>()
  readonly #now: () => number
  #connections = 0

  constructor({ random, wallNow, now, hasCertificates = false, ...options }: ModelOptions) {
    const { electionTime, history, ...checked } = checkOptions(options)
    const names = checked.members
    const agenda = this.#agenda
    this.#now = now
    this.#ensemble = new Ensemble({
      members: names,
      agenda,
      random,
      wallNow: () => wallNow(agenda.now),
      tickTime: checked.tickTime,
      syncLimit: checked.syncLimit,
      initLimit: checked.initLimit,
      minSessionTimeout: checked.minSessionTimeout,
      maxSessionTimeout: checked.maxSessionTimeout,
      memberOptions: checked.memberOptions,
      latency: checked.latency,
      sequenceOverflow: checked.sequenceOverflow,
      watchModes: checked.watchModes,
      readOnlyMode: checked.readOnlyMode,
      containerCheckInterval: checked.containerCheckInterval,
      extendedTypesEnabled: checked.extendedTypesEnabled,
      reconfigEnabled: checked.reconfigEnabled,
      enforceQuota: checked.enforceQuota,
      requestThrottleMaxRequests: checked.requestThrottleMaxRequests,
      throttledOpWaitTime: checked.throttledOpWaitTime,
      release: checked.release,
      schemes: hasCertificates ? new Set([...checked.schemes, 'x509']) : checked.schemes,
      ...(electionTime !== undefined && { electionTime }),
    })
    this.faults = new Faults(names)
    this.history = new History(history, names)
    const ensemble = this.#ensemble
    const host = {
      faults: this.faults,
      history: this.history,
      limits: {
        juteMaxBuffer: checked.juteMaxBuffer,
        outstanding: checked.globalOutstandingLimit,
        clientConnections: checked.maxClientCnxns,
        fourLetterWords: checked.fourLetterWords,
        superDigest: checked.superDigest,
        sasl: checked.sasl,
      },
      settings: checked,
      get now() {
        return agenda.now
      },
      wallNow: () => wallNow(agenda.now),
      random,
      after: (ms: number, action: () => void) => {
        const appointment = agenda.at(agenda.now + ms, action)
        return () => appointment.cancel()
      },
      isDue: (connection: ServerConnection) => this.#due.add(connection),
      nextConnectionId: () => ++this.#connections,
      get followers() {
        return ensemble.members.filter(({ role }) => role === 'follower').length
      },
    }
    this.#ports = new Map(ensemble.members.map((member) => [member.name, new MemberPort(host, member)]))
    // Only set now, because the first role of a standalone server is not a change.
    ensemble.onRole = (member, role) => this.history.add({ from: 'member', at: agenda.now, member, role })
    const control = <Result>(what: string, action: () => Result) => this.#control(what, action)
    this.members = Array.from(this.#ports.values(), (port) => new TestMember(port, control))
    this.network = new TestNetwork(ensemble.network, names, control)
    this.sessions = new TestSessions(ensemble.sessions, names, control)
    this.nodes = new TestNodes(ensemble, control)
  }

  /**
   * The member that leads, or the standalone server; undefined while there is none. If two members believe that they lead,
   * it is the later one. A leader that is cut off stays leader until another is elected: see `isServing`.
   */
  get leader(): TestMember | undefined {
    const { leader } = this.#ensemble
    return this.members.find(({ name }) => name === leader?.name)
  }

  /** Whether a quorum follows the leader and can reach it, and all running members that can reach it serve clients. */
  get isServing(): boolean {
    return this.#ensemble.isServing
  }

  /** The member with this name. Throws a `RangeError` if there is none. */
  member(name: string): TestMember {
    const member = this.members.find((member) => member.name === name)
    if (member === undefined) checkMember(name, [...this.#ports.keys()])
    return member!
  }

  /**
   * The transactions that the leader has applied after the one with this zxid, in order; 0n means all. undefined while no
   * member leads, or if the log of the leader does not go back that far: it keeps a few hundred transactions.
   */
  committedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    return this.#ensemble.leader?.appliedAfter(zxid)
  }

  // --- called by the driver -----------------------------------------------------------------------------------------

  /** Whether this member accepts connections. */
  isListening(member: string): boolean {
    return this.#port(member).isListening
  }

  /** A client connects. Returns undefined if the connection is refused. */
  accept(member: string, remote: Remote, now: number): Link | undefined {
    this.#agenda.run(now)
    return this.#port(member).accept(remote)
  }

  /** Bytes of a client have arrived. `bytes` is empty if only `Link.gate` has changed. */
  received(link: Link, bytes: Uint8Array, now: number): readonly Output[] {
    this.#agenda.run(now)
    asConnection(link).received(bytes)
    return this.elapse(now)
  }

  /** The client has closed the connection, or it broke. */
  closed(link: Link, now: number): readonly Output[] {
    this.#agenda.run(now)
    asConnection(link).lost()
    return this.elapse(now)
  }

  /** Time has passed: does everything that is due by now. */
  elapse(now: number): readonly Output[] {
    this.#agenda.run(now)
    if (this.#due.size === 0) return NOTHING
    const outputs: Output[] = []
    for (const link of this.#due) {
      const { bytes, close } = link.takeDue()
      if (bytes !== undefined) outputs.push({ type: 'send', link, bytes })
      if (close !== undefined) outputs.push({ type: 'close', link, how: close })
    }
    this.#due.clear()
    return outputs
  }

  /** The time at which `elapse` has something to do next, in ms; Infinity if there is nothing. */
  deadline(): number {
    return this.#due.size > 0 ? this.#agenda.now : this.#agenda.deadline()
  }

  #port(member: string): MemberPort {
    const port = this.#ports.get(member)
    if (port === undefined) checkMember(member, [...this.#ports.keys()])
    return port!
  }

  #control<Result>(what: string, action: () => Result): Result {
    this.#agenda.run(this.#now())
    this.history.add({ from: 'control', at: this.#agenda.now, what })
    try {
      const result = action()
      this.#agenda.run(this.#agenda.now)
      return result
    } finally {
      this.onWake()
    }
  }
}

const NOTHING: readonly Output[] = []

const asConnection = (link: Link) => link as ServerConnection
