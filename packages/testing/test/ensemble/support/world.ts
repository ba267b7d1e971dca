// An ensemble in virtual time, and clients without a network: what they send is there at once.
import { ErrorCode, type EventType, OpCode, type OperationName, type RequestMessage, type RequestOf } from '@zk/wire'
import { Agenda, Ensemble, type EnsembleSettings, type Member } from '../../../src/ensemble/index.ts'
import type { Connection, ServerRequest } from '../../../src/server/request.ts'

export const TICK = 1_000
/** A session's timeout. */
export const T = 4_000

const OPEN_ACL = [{ perms: 31, id: { scheme: 'world', id: 'anyone' } }]

/** mulberry32 */
export function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export class World {
  readonly agenda = new Agenda()
  readonly ensemble: Ensemble

  constructor(members = 3, settings: Partial<EnsembleSettings> = {}) {
    const { agenda } = this
    this.ensemble = new Ensemble({
      members: Array.from({ length: members }, (_, index) => `zk${index + 1}`),
      agenda,
      random: randomFrom(1),
      wallNow: () => 1_700_000_000_000 + agenda.now,
      tickTime: TICK,
      latency: () => 1,
      ...settings,
    })
  }

  /** A world whose ensemble serves. */
  static ready(members = 3, settings: Partial<EnsembleSettings> = {}): World {
    const world = new World(members, settings)
    world.runUntil(() => world.ensemble.members.every((member) => member.isServing()))
    return world
  }

  get now(): number {
    return this.agenda.now
  }

  get leader(): Member {
    return this.ensemble.leader!
  }

  /** Those that are not the leader, by their number. */
  get followers(): Member[] {
    return this.ensemble.members.filter((member) => member !== this.ensemble.leader)
  }

  run(ms = 20): void {
    this.agenda.run(this.now + ms)
  }

  /** Event by event. */
  runUntil(isSo: () => boolean, ms = 60_000): void {
    const end = this.now + ms
    while (!isSo()) {
      const next = this.agenda.deadline()
      if (next > end) throw new Error(`not within ${ms} ms`)
      this.agenda.run(next)
    }
  }

  /** A client with a session, at rest. */
  client(member: Member, timeOut = T): TestClient {
    const client = new TestClient(this, member)
    client.connect({ timeOut })
    this.runUntil(() => client.state === 'established')
    return client
  }

  /** Sends pings every third of T, as clients do. */
  keepAlive(client: TestClient, until: () => boolean = () => false): void {
    if (client.state !== 'established' || until()) return
    client.send('ping', undefined, -2)
    this.agenda.at(this.now + T / 3, () => this.keepAlive(client, until))
  }
}

export interface Reply {
  readonly at: number
  readonly op: string | undefined
  readonly zxid: bigint
  readonly err: number
  readonly response: unknown
}

interface Handshake {
  readonly timeOut: number
  readonly sessionId: bigint
  readonly passwd: Uint8Array
  readonly lastZxidSeen: bigint
}

export class TestClient implements Connection {
  readonly world: World
  readonly member: Member
  readonly authInfo = [{ scheme: 'ip', id: '127.0.0.1' }]
  state: 'connecting' | 'established' | 'expired' | 'closed' = 'connecting'
  closedAt = 0
  sessionId = 0n
  timeOut = 0
  passwd: Uint8Array = new Uint8Array(16)
  readonly replies: Reply[] = []
  readonly events: { readonly type: EventType; readonly path: string }[] = []
  #xid = 0

  constructor(world: World, member: Member) {
    this.world = world
    this.member = member
  }

  /** Resumes a session if one is given. */
  connect({
    timeOut = T,
    sessionId = 0n,
    passwd = new Uint8Array(16),
    lastZxidSeen = 0n,
  }: Partial<Handshake> = {}): this {
    const request = { protocolVersion: 0, lastZxidSeen, timeOut, sessionId, passwd, readOnly: false }
    this.member.connect(this, request)
    return this
  }

  /** The same session on another connection. */
  resume(member: Member): TestClient {
    return new TestClient(this.world, member).connect(this)
  }

  get lastReply(): Reply | undefined {
    return this.replies.at(-1)
  }

  send<Name extends OperationName>(op: Name, request: RequestOf<Name>['request'], xid = ++this.#xid): this {
    const message = { type: 'request', op, opCode: OpCode[op], xid, request } as unknown as RequestMessage
    const { sessionId, authInfo, member } = this
    this.member.submit({ sessionId, message, authInfo, owner: member.name, connection: this })
    return this
  }

  ping(): this {
    return this.send('ping', undefined, -2)
  }

  create(path: string, { data = '', flags = 0 } = {}): this {
    return this.send('create', { path, data: new TextEncoder().encode(data), acl: OPEN_ACL, flags })
  }

  set(path: string, data: string): this {
    return this.send('setData', { path, data: new TextEncoder().encode(data), version: -1 })
  }

  get(path: string, watch = false): this {
    return this.send('getData', { path, watch })
  }

  sync(path = '/'): this {
    return this.send('sync', { path })
  }

  /** Runs until there is an answer to the last request. */
  async(): Reply {
    const count = this.replies.length
    this.world.runUntil(() => this.replies.length > count || this.state === 'closed')
    return this.replies.at(-1)!
  }

  // --- Connection ---------------------------------------------------------------------------------------------------

  established({ sessionId, timeOut, passwd }: Parameters<Connection['established']>[0]): void {
    this.state = timeOut === 0 ? 'expired' : 'established'
    this.sessionId = sessionId
    this.timeOut = timeOut
    this.passwd = passwd
  }

  reply({ message }: ServerRequest, zxid: bigint, err: number, response?: unknown): void {
    if (this.state === 'closed') throw new Error('a reply behind the end')
    this.replies.push({ at: this.world.now, op: message.op, zxid, err, response })
  }

  event(type: EventType, path: string): void {
    this.events.push({ type, path })
  }

  close(): void {
    if (this.state === 'closed') throw new Error('closed twice')
    if (this.state !== 'expired') this.state = 'closed'
    this.closedAt = this.world.now
  }
}

/** A tree as one text, to compare members by. */
export function treeOf({ tree }: Member): string {
  const lines: string[] = []
  for (const path of [...tree.paths()].sort()) {
    if (path.startsWith('/zookeeper')) continue
    const { data, czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner, children } =
      tree.get(path)!
    const fields = [czxid, mzxid, pzxid, ctime, mtime, version, cversion, aversion, ephemeralOwner]
    lines.push(
      `${path} ${new TextDecoder().decode(data ?? new Uint8Array())} ${fields.join(' ')} ${[...children].sort().join(' ')}`,
    )
  }
  return lines.join('\n')
}

export const has = (member: Member, path: string): boolean => member.tree.get(path) !== undefined

export { ErrorCode }
