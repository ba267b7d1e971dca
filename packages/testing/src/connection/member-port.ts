import type { Member } from '../ensemble/index.ts'
import { answer } from './four-letter-words.ts'
import type { Host, Remote } from './host.ts'
import { ServerConnection } from './server-connection.ts'
import type { Clock } from './silence.ts'
import { ServerStats } from './stats.ts'

/** The port of an address without a port, as in virtual time. */
const USUAL_PORT = 2181

/** The client port of one member (NIOServerCnxnFactory). */
export class MemberPort {
  readonly host: Host
  readonly member: Member
  /** The address for clients: the member's name, until a driver sets another one. */
  address: string
  readonly connections = new Set<ServerConnection>()
  stats = new ServerStats()
  /** Whether the user has made it refuse connections. */
  isRefusing = false
  /** The clock of the member's process. While the process is stopped, no timer runs. */
  readonly clock: Clock
  /** The connections that were frozen with the member, including ended ones: their last bytes leave when it thaws. */
  readonly #frozen = new Set<ServerConnection>()
  #startedAt: number

  constructor(host: Host, member: Member) {
    this.host = host
    this.member = member
    this.address = member.name
    this.clock = {
      get now() {
        return host.now
      },
      after(ms, action) {
        const timer = member.process.at(host.now + ms, action)
        return () => timer.cancel()
      },
    }
    this.#startedAt = host.now
  }

  get name(): string {
    return this.member.name
  }

  /** The port of its address. */
  get clientPort(): number {
    return Number(/:(\d+)$/.exec(this.address)?.[1] ?? USUAL_PORT)
  }

  /** Whether a server listens there. */
  get isListening(): boolean {
    return this.member.role !== 'down' && !this.isRefusing
  }

  /** Returns undefined if the connection is refused. */
  accept(remote: Remote): ServerConnection | undefined {
    if (!this.isListening || this.#isFull(remote)) return undefined
    const connection = new ServerConnection(this.host.nextConnectionId(), this, remote)
    this.connections.add(connection)
    if (this.member.isFrozen) this.#freeze(connection)
    return connection
  }

  /** Closes the other connections of a session that is resumed on this one (ServerCnxnFactory.closeSession). */
  closeSession(sessionId: bigint, but: ServerConnection): void {
    for (const connection of this.connections) {
      if (connection.sessionId === sessionId && connection !== but) connection.end('the session was resumed on another')
    }
  }

  closed(connection: ServerConnection): void {
    this.connections.delete(connection)
  }

  kill(): void {
    for (const connection of this.connections) connection.cut('end', 'the member was killed')
    this.member.kill()
    this.#thaw()
  }

  restart(): void {
    this.member.restart()
    this.stats = new ServerStats()
    this.#startedAt = this.host.now
  }

  freeze(): void {
    this.member.freeze()
    for (const connection of this.connections) this.#freeze(connection)
  }

  thaw(): void {
    this.member.thaw()
    this.#thaw()
  }

  answerWord(word: string): string {
    const { member, connections, stats, host, clientPort } = this
    const { followers, settings, limits } = host
    const uptime = host.now - this.#startedAt
    const limitsOfSessions = settings.memberOptions[this.name]
    const configuration = { ...settings, ...limitsOfSessions, maxClientCnxns: limits.clientConnections, clientPort }
    const wallAt = (time: number) => host.wallNow() - host.now + time
    return answer(word, limits.fourLetterWords, {
      member,
      connections,
      stats,
      uptime,
      wallAt,
      followers,
      configuration,
    })
  }

  #freeze(connection: ServerConnection): void {
    this.#frozen.add(connection)
    connection.freeze('member')
  }

  #thaw(): void {
    const frozen = [...this.#frozen]
    this.#frozen.clear()
    for (const connection of frozen) connection.thaw('member')
  }

  #isFull({ address }: Remote): boolean {
    const most = this.host.limits.clientConnections
    if (most === 0) return false
    let same = 0
    for (const { remote } of this.connections) if (remote.address === address) same++
    return same >= most
  }
}
