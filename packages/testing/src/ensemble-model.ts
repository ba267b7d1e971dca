// The ensemble without I/O: it takes bytes and the time, and returns what to do. Two drivers use it.
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
  /** Its number in the history. */
  readonly id: number
  /**
   * Whether its bytes are taken. While they are not, the driver should leave them where they are: bytes that arrive are kept.
   * A driver may set 'clogged' while its output does not leave, and calls `received` without bytes when that has changed.
   */
  readonly gate: Pick<Gate, 'isOpen' | 'onChange' | 'set'>
}

/** What the driver must do now, in this order. */
export type Output =
  | { readonly type: 'send'; readonly link: Link; readonly bytes: Uint8Array }
  /** `end` comes after what was sent. No output follows for this link. */
  | { readonly type: 'close'; readonly link: Link; readonly how: 'end' | 'reset' }

/** The options of a model, and its surroundings. */
export interface ModelOptions extends EnsembleOptions {
  /** A number in [0, 1), like Math.random. */
  random: () => number
  /** The wall clock at a time of the driver's clock, in ms since the epoch. */
  wallNow: (now: number) => number
  /** The driver's clock, in ms from 0 on. It is read when a control is used. */
  now: () => number
  /** Clients may show certificates: ACLs may have the scheme `x509`. @default false */
  hasCertificates?: boolean | undefined
}

/**
 * Members, their clients, and faults of both. Every method takes the present time, in ms of a clock that never goes back, and
 * returns what the driver must do.
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
  /** All frames, connections, roles and controls. */
  readonly history: History
  /** A control was used: `elapse` is due now. */
  onWake: () => void = () => {}
  readonly #agenda = new Agenda()
  readonly #ensemble: Ensemble
  readonly #ports: ReadonlyMap<string, MemberPort>
  /** The connections that have something for their clients. */
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
      version: checked.version,
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
    // From now on: the first role of a standalone server is no change.
    ensemble.onRole = (member, role) => this.history.add({ from: 'member', at: agenda.now, member, role })
    const control = <Result>(what: string, action: () => Result) => this.#control(what, action)
    this.members = Array.from(this.#ports.values(), (port) => new TestMember(port, control))
    this.network = new TestNetwork(ensemble.network, names, control)
    this.sessions = new TestSessions(ensemble.sessions, names, control)
    this.nodes = new TestNodes(ensemble, control)
  }

  /**
   * The member that leads, or the standalone server; undefined while there is none. When two members believe that they lead,
   * it is the later one. A leader that is cut off stays it until another is elected: see `isServing`.
   */
  get leader(): TestMember | undefined {
    const { leader } = this.#ensemble
    return this.members.find(({ name }) => name === leader?.name)
  }

  /** Whether a quorum follows and reaches the leader, and all members that run and reach it serve clients. */
  get isServing(): boolean {
    return this.#ensemble.isServing
  }

  /** Throws a `RangeError` for a name that no member has. */
  member(name: string): TestMember {
    const member = this.members.find((member) => member.name === name)
    if (member === undefined) checkMember(name, [...this.#ports.keys()])
    return member!
  }

  /**
   * The transactions that the leader has applied after this one, in order: 0n for all. undefined while no member leads, and
   * where its log does not go back so far: some hundred transactions.
   */
  committedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    return this.#ensemble.leader?.appliedAfter(zxid)
  }

  // --- called by the driver -----------------------------------------------------------------------------------------

  /** Whether this member accepts connections. */
  isListening(member: string): boolean {
    return this.#port(member).isListening
  }

  /** A client connects. undefined where it is refused. */
  accept(member: string, remote: Remote, now: number): Link | undefined {
    this.#agenda.run(now)
    return this.#port(member).accept(remote)
  }

  /** Takes bytes of a client. They may be none: see `Link.gate`. */
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

  /** When `elapse` next has something to do, in ms; Infinity for never. */
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
