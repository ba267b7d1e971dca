import type { Member } from '../ensemble/index.ts'
import { answer } from './four-letter-words.ts'
import type { Host, Remote } from './host.ts'
import { ServerConnection } from './server-connection.ts'
import { ServerStats } from './stats.ts'

/** What `conf` says where there are no sockets. */
const USUAL_PORT = 2181

/** The client port of one member (NIOServerCnxnFactory). */
export class MemberPort {
  readonly host: Host
  readonly member: Member
  /** Where clients reach it: its name, until a driver says otherwise. */
  address: string
  readonly connections = new Set<ServerConnection>()
  stats = new ServerStats()
  /** Nobody can connect, by the will of the user. */
  isRefusing = false
  #startedAt: number

  constructor(host: Host, member: Member) {
    this.host = host
    this.member = member
    this.address = member.name
    this.#startedAt = host.now
  }

  get name(): string {
    return this.member.name
  }

  /** Whether anybody listens there. */
  get isListening(): boolean {
    return this.member.role !== 'down' && !this.isRefusing
  }

  /** undefined where it is refused. */
  accept(remote: Remote): ServerConnection | undefined {
    if (!this.isListening || this.#isFull(remote)) return undefined
    const connection = new ServerConnection(this.host.nextConnectionId(), this, remote)
    this.connections.add(connection)
    if (this.member.isFrozen) connection.freeze('member')
    return connection
  }

  /** Others of this session: it is resumed (ServerCnxnFactory.closeSession). */
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
  }

  restart(): void {
    this.member.restart()
    this.stats = new ServerStats()
    this.#startedAt = this.host.now
  }

  freeze(): void {
    this.member.freeze()
    for (const connection of this.connections) connection.freeze('member')
  }

  thaw(): void {
    this.member.thaw()
    for (const connection of this.connections) connection.thaw('member')
  }

  answerWord(word: string): string {
    const { member, connections, stats, host } = this
    const { followers, settings, limits } = host
    const uptime = host.now - this.#startedAt
    const clientPort = Number(/:(\d+)$/.exec(this.address)?.[1] ?? USUAL_PORT)
    const configuration = { ...settings, maxClientCnxns: limits.clientConnections, clientPort }
    return answer(word, { member, connections, stats, uptime, followers, configuration })
  }

  #isFull({ address }: Remote): boolean {
    const most = this.host.limits.clientConnections
    if (most === 0) return false
    let same = 0
    for (const { remote } of this.connections) if (remote.address === address) same++
    return same >= most
  }
}
