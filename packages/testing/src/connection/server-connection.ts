import {
  type ConnectMessage,
  decodeClientFrame,
  encodeMessage,
  ErrorCode,
  EventType,
  FrameDecoder,
  type Id,
  KeeperState,
  OpCode,
  ProtocolError,
  type ReplyMessage,
  type RequestMessage,
  type ServerMessage,
  Xid,
} from '@zk/wire'
import type { Connection, EstablishedSession, ServerRequest } from '../server/request.ts'
import { ConnectionLog } from './connection-log.ts'
import type { Ending, Subject } from './fault.ts'
import type { FaultRule } from './fault-rule.ts'
import { Gate } from './gate.ts'
import { isWord, WORD_SIZE } from './words.ts'
import { connected, EXPIRED, handshake, type Handshake } from './handshake.ts'
import type { Member } from '../ensemble/index.ts'
import type { Host, Remote } from './host.ts'
import { Identity, isProof } from './identity.ts'
import { type Due, Outgoing } from './outgoing.ts'
import { pathsOf } from './paths-of.ts'
import { type Parsed, parseRequest, type Pending, pendingOf, refusalOf, releaseUnstruck } from './requests.ts'
import { type Clock, Silence } from './silence.ts'
import type { ServerStats } from './stats.ts'
import { strikeReply, strikeRequest } from './strike.ts'
import { Unanswered } from './unanswered.ts'

/** The zxid of the answer to an operation that the server does not know (UnimplementedRequestProcessor). */
const UNKNOWN = -1n

type Asked = Pick<RequestMessage, 'op' | 'opCode' | 'xid'>

/** What a connection needs from the port of its member. */
interface Port {
  readonly name: string
  readonly host: Host
  readonly member: Member
  /** The clock of the member's process. */
  readonly clock: Clock
  readonly stats: ServerStats
  answerWord(word: string): string
  /** Ends the other connections of this session. */
  closeSession(sessionId: bigint, but: ServerConnection): void
  closed(connection: ServerConnection): void
}

/** One TCP connection of a client to a member, as bytes (NIOServerCnxn). */
export class ServerConnection implements Connection {
  readonly id: number
  readonly port: Port
  readonly remote: Remote
  readonly log: ConnectionLog
  /** The time of the wall clock, in ms since the epoch. */
  readonly establishedAt: number
  sessionId = 0n
  /** The negotiated session timeout in ms; 0 before the handshake. */
  timeOut = 0
  /** Decides whether the client's bytes are read, or wait. */
  readonly gate = new Gate()
  readonly silence: Silence
  readonly #identity: Identity
  readonly #frames: FrameDecoder
  readonly #outgoing: Outgoing
  readonly #unanswered: Unanswered
  #state: 'new' | 'handshaking' | 'serving' | 'closed' = 'new'
  #handshake: Handshake | undefined
  /** Whether the bytes of the client are lost, because the connection is half-open. */
  #losesInput = false
  /**
   * The number of answers without a header. A real server does not count them, so their requests stay outstanding
   * (ServerCnxn.decrOutstandingAndCheckThrottle).
   */
  #uncounted = 0
  #isPumping = false

  constructor(id: number, port: Port, remote: Remote) {
    const { host } = port
    this.id = id
    this.port = port
    this.remote = remote
    this.log = new ConnectionLog(this, port)
    this.#identity = new Identity(remote, {
      ...host.limits,
      random: () => host.random(),
      release: port.member.tree.release,
    })
    this.establishedAt = host.wallNow()
    this.#frames = new FrameDecoder({ limit: host.limits.juteMaxBuffer })
    this.#outgoing = new Outgoing(host, () => host.isDue(this))
    this.silence = new Silence(port.clock, () => this.end('the client sent nothing for too long'))
    this.#unanswered = new Unanswered(this.gate, host.limits.outstanding)
    this.log.connection('opened')
  }

  // --- from the client ----------------------------------------------------------------------------------------------

  received(bytes: Uint8Array): void {
    if (this.#state === 'closed' || this.#losesInput) return
    this.silence.broken()
    this.#frames.push(bytes)
    this.#pump()
  }

  /** The client has closed the connection, or it broke. */
  lost(): void {
    this.#outgoing.lose()
    this.#over('the client closed it')
  }

  // --- Connection: called by the member -----------------------------------------------------------------------------

  established(session: EstablishedSession, createSession?: ServerRequest): void {
    if (this.#state === 'serving' && createSession !== undefined) return this.#establishedAgain(session, createSession)
    if (this.#state !== 'handshaking' || this.#handshake === undefined) return
    const { isNewSession, takenAt, rule } = this.#handshake
    const isOver = session.timeOut <= 0
    this.#state = 'serving'
    if (!isOver) {
      this.sessionId = session.sessionId
      this.timeOut = session.timeOut
      this.silence.expectWithin(session.timeOut)
      if (isNewSession) this.#answered({ op: 'createSession', opCode: OpCode.createSession, xid: 0 }, takenAt)
    }
    this.#send(connected(isOver ? { ...EXPIRED, readOnly: session.readOnly } : session, this.#handshake), rule)
    if (isOver) this.end('the session has expired')
    else this.#pump()
  }

  reply({ message }: ServerRequest, zxid: bigint, err: number, response?: unknown): void {
    if (this.#state === 'closed') return
    const request = this.#settle(message)
    // A request with an operation that the server does not know is not counted.
    if (request !== undefined && zxid !== UNKNOWN) this.#answered(message, request.takenAt, err, zxid)
    this.#reply(message, zxid, err, request?.rule, response)
    if (message.op === 'closeSession') return this.end('the client closed the session')
    this.#goOn()
  }

  event(type: EventType, path: string, zxid: bigint): void {
    if (this.#state === 'closed') return
    const event = { type: EventType[type], state: KeeperState.SyncConnected, path }
    const rule = this.#ruleFor('event', () => [path])
    this.#send({ type: 'event', zxid, err: 0, event }, rule)
  }

  close(reason: string): void {
    this.end(reason)
  }

  // --- the end ------------------------------------------------------------------------------------------------------

  /** Closes the connection after everything that was sent. */
  end(reason: string): void {
    if (this.#state === 'closed') return
    this.#outgoing.end()
    this.#over(reason)
  }

  /** Closes the connection at once. Delayed bytes are lost. */
  cut(how: 'end' | 'reset', reason: string): void {
    if (this.#state === 'closed') return
    this.#outgoing.cut(how)
    this.#over(reason)
  }

  /** From now on input, output, or both are lost. Neither end notices. */
  halfOpen(loses: 'both' | 'requests' | 'replies'): void {
    if (loses !== 'requests') this.#outgoing.lose()
    if (loses !== 'replies') this.#loseInput()
  }

  /** Stops input and output until it thaws. Then all bytes that have waited pass, in order. */
  freeze(by: 'user' | 'member'): void {
    this.gate.set(by, true)
    this.#outgoing.freeze(by)
  }

  thaw(by: 'user' | 'member'): void {
    this.gate.set(by, false)
    this.#outgoing.thaw(by)
    this.#pump()
  }

  get authInfo(): readonly Id[] {
    return this.#identity.ids
  }

  takeDue(): Due {
    const due = this.#outgoing.take()
    if (this.gate.has('full') && !this.#outgoing.isFull) {
      this.gate.set('full', false)
      // First the driver sends the bytes: it may set 'clogged'.
      this.port.host.after(0, () => this.#pump())
    }
    return due
  }

  /** The number of requests without an answer, as a server counts them. */
  get outstanding(): number {
    return this.#unanswered.count + this.#uncounted
  }

  get #zxid(): bigint {
    return this.port.member.tree.lastProcessedZxid
  }

  /** Answers a createSession of a client that already has a session, in the form of an answer to a handshake. */
  #establishedAgain(session: EstablishedSession, { message }: ServerRequest): void {
    const request = this.#settle(message)
    if (message.xid > 0) this.#uncounted++
    if (request !== undefined) this.#answered(message, request.takenAt)
    this.#send(connected(session, this.#handshake!), request?.rule)
    this.#goOn()
  }

  /** Removes and returns the request that is now answered. First answers earlier requests that a rule refuses. */
  #settle(message: RequestMessage): Pending | undefined {
    const { before, request } = this.#unanswered.settle(message)
    for (const refused of before) this.#answerRefused(refused)
    return request
  }

  #goOn(): void {
    let next: Pending | undefined
    while ((next = this.#unanswered.nextRefused()) !== undefined) this.#answerRefused(next)
    this.#pump()
  }

  #pump(): void {
    if (this.#isPumping) return
    this.#isPumping = true
    try {
      while ((this.#state === 'new' || this.#state === 'serving') && this.gate.isOpen && !this.#losesInput) {
        const text = this.#state === 'new' ? this.#frames.takeText() : undefined
        if (text !== undefined) return this.#text(text)
        const frame = this.#frames.next()
        if (frame === undefined) return
        if (!this.port.member.isServing()) return this.end('the member does not serve')
        if (this.#state === 'new') this.#readHandshake(frame)
        else this.#request(frame)
      }
    } catch (error) {
      if (!ProtocolError.is(error)) throw error
      this.end(error.message)
    } finally {
      this.#isPumping = false
    }
  }

  /** Answers a four-letter word in place of the handshake. Any other text is a frame of impossible length. */
  #text(bytes: Uint8Array): void {
    this.log.received({ type: 'text', bytes }, bytes.byteLength)
    const word = String.fromCharCode(...bytes.subarray(0, WORD_SIZE))
    if (!isWord(word)) return this.end(`text in place of a frame: ${JSON.stringify(word)}`)
    const answer = new TextEncoder().encode(this.port.answerWord(word))
    this.#send({ type: 'text', bytes: answer }, undefined)
    this.end(`${word} was answered`)
  }

  #readHandshake(frame: Uint8Array): void {
    const message = decodeClientFrame(frame, true) as ConnectMessage
    const rule = this.#ruleFor('connect', () => [], message.request.sessionId)
    this.log.received(message, frame.byteLength, rule)
    const isReplaced = rule?.fault.type === 'replaceSession'
    const request = isReplaced ? { ...message.request, sessionId: 0n } : message.request
    this.#handshake = handshake(request, this.port.host.now, rule)
    this.#strike(rule, () => {
      this.#state = 'handshaking'
      if (refusalOf(rule) !== undefined) {
        rule?.fire()
        return this.established(EXPIRED)
      }
      if (request.lastZxidSeen > this.#zxid) return this.end('the client has seen a zxid that the member has not')
      if (request.sessionId !== 0n) this.port.closeSession(request.sessionId, this)
      this.port.member.connect(this, { ...request, readOnly: request.readOnly ?? false })
    })
  }

  #request(frame: Uint8Array): void {
    const parsed = parseRequest(frame)
    const { message } = parsed
    const rule = this.#ruleFor(message.op, () => pathsOf(message))
    this.log.received(message, frame.byteLength, rule)
    this.#strike(rule, () => this.#serve(parsed, rule))
  }

  #serve(parsed: Parsed, rule: FaultRule | undefined): void {
    const { message, isMalformed } = parsed
    if (message.op === 'deleteContainer' && this.port.member.tree.release.closesAtDeleteContainer) {
      return this.end('deleteContainer is not for clients')
    }
    if (isProof(message) || this.#identity.mustProve) return this.#prove(message, isMalformed, rule)
    const isRefused = refusalOf(rule) !== undefined
    const { member, host } = this.port
    const request = pendingOf(parsed, { connection: this, member: member.name, now: host.now }, rule)
    // A real server touches the session even for a request that it refuses.
    if (isRefused) member.touchBy(this)
    if (isRefused && this.#unanswered.count === 0) return this.#answerRefused(request)
    this.#unanswered.add(request, member.tree)
    if (!isRefused) member.submit(request)
  }

  /** Answers at once, before the answers to earlier requests, and without a zxid (ZooKeeperServer.processPacket). */
  #prove(message: RequestMessage, isMalformed: boolean, rule: FaultRule | undefined): void {
    const refusal = isMalformed ? undefined : refusalOf(rule)
    if (refusal !== undefined) rule?.fire()
    const proved = refusal !== undefined ? { err: refusal } : isMalformed ? undefined : this.#identity.prove(message)
    if (proved === undefined) {
      releaseUnstruck(rule)
      return this.end(isMalformed ? `a malformed ${message.op}` : 'a sasl packet without a token')
    }
    this.#reply(message, 0n, proved.err, rule, proved.response)
    if (proved.err === ErrorCode.Ok) return
    this.port.stats.authFailed++
    this.end('authentication failed')
  }

  #answerRefused({ message, rule, takenAt }: Pending): void {
    const err = refusalOf(rule)!
    this.#answered(message, takenAt, err)
    rule?.fire()
    this.#reply(message, this.#zxid, err, rule)
  }

  #answered({ op, opCode, xid }: Asked, takenAt: number, err: number = ErrorCode.Ok, zxid = this.#zxid): void {
    this.log.answered({ op, opCode, xid, err, zxid, takenAt })
  }

  #reply(asked: RequestMessage, zxid: bigint, err: number, rule: FaultRule | undefined, response?: unknown): void {
    const { op, opCode, xid } = asked
    const due = opCode === OpCode.ping ? Xid.ping : xid
    this.#send({ type: 'reply', op, opCode, xid: due, zxid, err, response } as ReplyMessage, rule)
  }

  #send(message: ServerMessage, rule: FaultRule | undefined): void {
    const bytes = encodeMessage(message)
    this.log.sent(message, bytes.byteLength, rule)
    strikeReply(rule, bytes, this.#outgoing, (how) => this.#break(how))
    if (this.#outgoing.isFull) this.gate.set('full', true)
  }

  #ruleFor(op: Subject['op'], paths: () => readonly string[], session = this.sessionId): FaultRule | undefined {
    const { faults } = this.port.host
    return faults.isEmpty ? undefined : faults.take({ op, paths: paths(), session, member: this.port.name })
  }

  #strike(rule: FaultRule | undefined, done: () => void): void {
    strikeRequest(
      rule,
      // The delay of 0 lets the answers to earlier requests leave first, if there are any.
      (how) => (how === 'open' ? undefined : this.#delay(0, () => this.#break(how))),
      (ms, done) => this.#delay(ms, done),
      done,
    )
  }

  #delay(ms: number, done: () => void): void {
    this.gate.set('delayed', true)
    this.port.clock.after(ms, () => {
      this.gate.set('delayed', false)
      if (this.#state === 'closed') return
      if (this.port.member.isServing()) done()
      else this.end('the member does not serve')
      this.#pump()
    })
  }

  #break(how: Ending): void {
    if (this.#state === 'closed' || how === 'open') return
    // Answers that are delayed still leave, hence `loseRest`.
    if (how === 'halfOpen') {
      this.#outgoing.loseRest()
      return this.#loseInput()
    }
    this.#outgoing.end(how)
    this.#over(how === 'end' ? 'a fault closed it' : 'a fault reset it')
  }

  /** From now on the bytes of the client are lost, including those that are not processed yet. */
  #loseInput(): void {
    this.#losesInput = true
    this.gate.remove()
  }

  #over(reason: string): void {
    if (this.#state === 'closed') return
    const wasNew = this.#state === 'new'
    if (this.#state === 'handshaking') releaseUnstruck(this.#handshake?.rule)
    this.#state = 'closed'
    this.#unanswered.clear()
    this.silence.stop()
    this.log.connection('closed', reason)
    this.port.closed(this)
    if (!wasNew) this.port.member.disconnected(this)
    this.gate.remove()
  }
}
