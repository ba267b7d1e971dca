// The ensemble without I/O: what is told of bytes and the time, and tells what to do. Both drivers drive it.
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
   * Whether its bytes are taken; while not, they are best left where they are: what comes is kept. A driver may set
   * 'clogged' while what it was told to send does not leave, and calls `received` without bytes when that has changed.
   */
  readonly gate: Pick<Gate, 'isOpen' | 'onChange' | 'set'>
}

/** What is to be done now, in this order. */
export type Output =
  | { readonly type: 'send'; readonly link: Link; readonly bytes: Uint8Array }
  /** `end` is behind what was sent. Nothing more is told of it. */
  | { readonly type: 'close'; readonly link: Link; readonly how: 'end' | 'reset' }

/** What a model is made of, and the world that it asks. */
export interface ModelOptions extends EnsembleOptions {
  /** In [0, 1), like Math.random. */
  random: () => number
  /** What the wall clock shows at a time of the driver's clock, in ms since the epoch. */
  wallNow: (now: number) => number
  /** The driver's clock, in ms from 0 on: asked when a control is used. */
  now: () => number
  /** Clients may show certificates: ACLs may have the scheme `x509`. @default false */
  hasCertificates?: boolean | undefined
}

/**
 * Members, their clients and what befalls them. Every method takes the present time, in ms of a clock that never goes
 * back, and returns what is to be done.
 */
export class EnsembleModel {
  /** In the order in which they were named. */
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
  /** A control was used: `elapse` is due now. */
  onWake: () => void = () => {}
  readonly #agenda = new Agenda()
  readonly #ensemble: Ensemble
  readonly #ports: ReadonlyMap<string, MemberPort>
  /** Connections that have something for their clients. */
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
    // From now on: what a standalone server begins as is no change.
    ensemble.onRole = (member, role) => this.history.add({ from: 'member', at: agenda.now, member, role })
    const control = <Result>(what: string, action: () => Result) => this.#control(what, action)
    this.members = Array.from(this.#ports.values(), (port) => new TestMember(port, control))
    this.network = new TestNetwork(ensemble.network, names, control)
    this.sessions = new TestSessions(ensemble.sessions, names, control)
    this.nodes = new TestNodes(ensemble, control)
  }

  /**
   * The member that leads, or serves alone; undefined while none does. Of two that both believe to lead it is the later;
   * of one that was cut off and not replaced yet, see `isServing`.
   */
  get leader(): TestMember | undefined {
    const { leader } = this.#ensemble
    return this.members.find(({ name }) => name === leader?.name)
  }

  /** A quorum follows the leader, reaches it, and all members that run and reach it serve clients. */
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
   * What the leader has applied after this transaction, in order: 0n for the beginning. undefined while no member leads, and
   * where its log no longer goes back so far: some hundred transactions.
   */
  committedAfter(zxid: bigint): readonly LoggedTxn[] | undefined {
    return this.#ensemble.leader?.appliedAfter(zxid)
  }

  // --- the driver's side --------------------------------------------------------------------------------------------

  /** Whether connections to this member are taken, or refused. */
  isListening(member: string): boolean {
    return this.#port(member).isListening
  }

  /** A client connects; undefined where it is refused. */
  accept(member: string, remote: Remote, now: number): Link | undefined {
    this.#agenda.run(now)
    return this.#port(member).accept(remote)
  }

  /** Bytes of a client. None are fine: see `Link.gate`. */
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

  /** Time has passed: does all that is due by now. */
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

  /** When `elapse` has something to do again, in ms; Infinity for never. */
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
