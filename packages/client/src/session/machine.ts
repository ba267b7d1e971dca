// The session without I/O: told what happened and when, it says what to do. It touches no socket, timer, promise, clock
// or random source. Methods are sorted by direction: what the caller asks, what the world reports, what is due.
import { concat, formatServer, FrameDecoder, FrameTooLargeError, ProtocolError } from '@zk/wire'
import { type ConnectAttempt, KeeperError } from '../errors.ts'
import type { Credential } from './auths.ts'
import type { SessionConfig } from './config.ts'
import { deadlines, throttlePause } from './deadlines.ts'
import { Exchange } from './exchange.ts'
import { Hosts } from './hosts.ts'
import { type Incoming, readConnectResponse, readIncoming } from './incoming.ts'
import { Jitter } from './jitter.ts'
import { type Output, unreached } from './output.ts'
import { closeSessionRequest, connectFrame, pingFrame } from './own-requests.ts'
import { Pulse } from './pulse.ts'
import type { Request } from './request.ts'
import { SaslDialogue } from './sasl-dialogue.ts'
import { endCode, type EndReason, endTrigger, type State, target, tooSlow, type Trigger } from './states.ts'

type Handshaking = Extract<State, { name: 'handshaking' }>

/** About how many bytes one `transmit` gives at most. */
const SEGMENT_SIZE = 256 * 1024
const NO_PASSWD = new Uint8Array(16)

export class SessionMachine {
  readonly #config: SessionConfig
  readonly #hosts: Hosts
  readonly #exchange: Exchange
  #state: State
  /** 0 until a server has given one. */
  #id = 0n
  #passwd: Uint8Array = NO_PASSWD
  #timeout: number
  readonly #pulse = new Pulse(() => this.#times)
  #closeBy = Infinity
  /** When to give up; never once it was connected. */
  #connectBy: number
  #outputs: Output[] = []

  constructor(config: SessionConfig) {
    this.#config = config
    const jitter = new Jitter(config.seed)
    this.#hosts = new Hosts(config.servers, jitter)
    const pause = (times: number) => jitter.between(0.5, 1) * throttlePause(times, this.#times)
    this.#exchange = new Exchange(
      config.credentials,
      { limits: config.limits, pause },
      (output) => this.#outputs.push(output),
      () => ({
        server: 'server' in this.#state ? this.#state.server : undefined,
        sessionId: this.#id === 0n ? undefined : this.#id,
      }),
    )
    this.#timeout = config.sessionTimeout
    this.#connectBy = config.connectBy
    this.#state = { name: 'waiting', until: config.startAt }
  }

  get state(): State {
    return this.#state
  }

  get id(): bigint {
    return this.#id
  }

  /** T in ms: the negotiated one, or the one asked for until there is one. */
  get timeout(): number {
    return this.#timeout
  }

  /** All requests and pings that were sent before this moment, on this connection, are answered. */
  get answeredBefore(): number {
    // Nobody remembers when credentials were sent.
    return this.#exchange.awaitsAuth ? -Infinity : this.#openSince
  }

  get attempts(): readonly ConnectAttempt[] {
    return this.#hosts.attempts
  }

  /** For what needs neither the time nor a state. */
  get exchange(): Exchange {
    return this.#exchange
  }

  // --- what the caller asks -------------------------------------------------------------------------------------

  submit(request: Request): Output[] {
    this.#exchange.submit(request)
    return this.#take()
  }

  authenticate(credential: Credential, request: Request): Output[] {
    this.#exchange.authenticate(credential, request, this.#state.name === 'connected')
    return this.#take()
  }

  abandon(request: Request): boolean {
    return this.#exchange.abandon(request)
  }

  /** Ends the session at the server, after everything called before; without the server when time is up. */
  close(now: number): Output[] {
    if (this.#state.name === 'ended' || this.#closeBy !== Infinity) return this.#take()
    if (this.#id === 0n) this.#end('Closed')
    else {
      this.#closeBy = now + deadlines.close(this.#times)
      this.#exchange.finish(closeSessionRequest())
      if (this.#state.name === 'waiting') this.#state = { name: 'waiting', until: now }
    }
    return this.#take()
  }

  // --- what the world reports -----------------------------------------------------------------------------------

  /** The TCP connection stands. */
  opened(): Output[] {
    if (this.#state.name === 'dialing') {
      const { server, by } = this.#state
      const frames = new FrameDecoder({ limit: this.#config.maxResponseSize })
      this.#enter('opened', { name: 'handshaking', server, by, frames, connectRequest: 'due' })
    }
    return this.#take()
  }

  received(bytes: Uint8Array, now: number): Output[] {
    if ('frames' in this.#state) {
      try {
        this.#read(this.#state.frames, bytes, now)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        if (error instanceof FrameTooLargeError) this.#exchange.refuseReply(error)
        this.#hangUp(error, now)
      }
    }
    return this.#take()
  }

  /** The TCP connection failed, or the peer closed it. */
  lost(error: Error, now: number): Output[] {
    this.#lost(error, now, true)
    return this.#take()
  }

  /** What the SASL mechanism says to the server; undefined when it is through. */
  prove(token: Uint8Array | undefined, now: number): Output[] {
    if (this.#state.name === 'authenticating') {
      if (token !== undefined) this.#state.sasl.say(token)
      else this.#connected('proved', this.#state, now)
    }
    return this.#take()
  }

  /** The SASL mechanism cannot go on. */
  unproved(error: Error, now: number): Output[] {
    if (this.#state.name === 'authenticating') {
      if (KeeperError.is(error, 'AuthFailed')) this.#end('AuthFailed')
      else this.#hangUp(error, now)
    }
    return this.#take()
  }

  /** Time has passed: does what is due. */
  elapse(now: number): Output[] {
    if (this.#state.name === 'ended') return this.#take()
    this.#exchange.settleOverdue(now)
    if (now >= this.#closeBy) this.#end('Closed')
    else if (now >= this.#expiresAt) this.#end('SessionExpired')
    else if (now >= this.#connectBy) this.#giveUp(now)
    else this.#advance(now)
    return this.#take()
  }

  // --- what is due ----------------------------------------------------------------------------------------------

  /** Bytes to write now, in one segment; undefined when nothing is due. */
  transmit(now: number): Uint8Array | undefined {
    if (this.#state.name === 'handshaking' && this.#state.connectRequest === 'due') {
      this.#state = { ...this.#state, connectRequest: 'sent' }
      return connectFrame({
        lastZxidSeen: this.#exchange.lastZxid,
        timeOut: this.#config.sessionTimeout,
        sessionId: this.#id,
        passwd: this.#passwd,
      })
    }
    if (this.#state.name === 'authenticating') return this.#state.sasl.transmit()
    if (this.#state.name !== 'connected') return undefined
    const frames = this.#exchange.send(now, SEGMENT_SIZE)
    if (frames.length === 0) return undefined
    this.#pulse.sent(now)
    return concat(frames)
  }

  /** When `elapse` must be called at the latest. */
  deadline(): number {
    if (this.#state.name === 'ended') return Infinity
    return Math.min(this.#stateDeadline, this.#exchange.nextTimeout, this.#expiresAt, this.#closeBy, this.#connectBy)
  }

  get #stateDeadline(): number {
    const state = this.#state
    if (state.name === 'waiting') return state.until
    if (state.name === 'ended') return Infinity
    if ('by' in state) return state.by
    return Math.min(this.#pulse.silentAt, this.#openSince + deadlines.answer(this.#times), this.#pulse.pingAt)
  }

  #advance(now: number): void {
    const state = this.#state
    if (state.name === 'connected' && now >= this.#pulse.pingAt) {
      this.#pulse.pinged(now)
      this.#exchange.urgent(pingFrame)
    }
    if (now < this.#stateDeadline) return
    if (state.name === 'waiting') return this.#dial(now)
    if ('by' in state) return this.#hangUp(new Error(tooSlow[state.name]), now)
    const what = now >= this.#pulse.silentAt ? 'nothing heard' : 'no answer'
    this.#hangUp(new Error(`${what} for 2/3 of the session timeout`), now)
  }

  /** The attempt under way is part of what happened at each server; cut short, it says less than one before it. */
  #giveUp(now: number): void {
    const state = this.#state
    if ('by' in state) {
      const earlier = this.attempts.find(({ server }) => server === state.server)
      this.#hangUp(earlier?.error ?? new Error(tooSlow[state.name]), now)
    }
    this.#end('Unreachable')
  }

  get #times(): { T: number; servers: number } {
    return { T: this.#timeout, servers: this.#hosts.size }
  }

  get #openSince(): number {
    return this.#pulse.openSince(this.#exchange.oldestSentAt)
  }

  /** Local expiry. */
  get #expiresAt(): number {
    return this.#pulse.heardAt + this.#config.localExpiry * this.#timeout
  }

  // --- connections ----------------------------------------------------------------------------------------------

  #dial(now: number): void {
    const server = this.#hosts.next()
    // While there is no session yet, every server is to have its turn before connect() gives up.
    const T = Math.min(this.#timeout, this.#connectBy - this.#config.startAt)
    const by = now + deadlines.connect({ ...this.#times, T })
    this.#enter('dial', { name: 'dialing', server: formatServer(server), by })
    this.#outputs.push({ type: 'dial', server })
  }

  #read(frames: FrameDecoder, bytes: Uint8Array, now: number): void {
    frames.push(bytes)
    for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
      if (this.#state.name === 'handshaking') this.#handshake(frame, this.#state, now)
      else if (this.#state.name === 'authenticating') this.#proving(readIncoming(frame), this.#state.sasl, now)
      else if (this.#state.name === 'connected') this.#incoming(readIncoming(frame), now)
      else return
      this.#pulse.heardAt = now
    }
  }

  #incoming(incoming: Incoming, now: number): void {
    if (incoming.type === 'ping') {
      this.#pulse.ponged()
      return
    }
    const end = this.#exchange.incoming(incoming, now)
    if (end !== undefined) this.#end(end)
  }

  #proving(incoming: Incoming, sasl: SaslDialogue, now: number): void {
    if (incoming.type !== 'reply') return this.#incoming(incoming, now)
    const heard = sasl.heard(incoming)
    if (heard === 'refused') this.#end('AuthFailed')
    else this.#outputs.push({ type: 'saslChallenge', token: heard.token })
  }

  #handshake(frame: Uint8Array, state: Handshaking, now: number): void {
    const { timeOut, sessionId, passwd } = readConnectResponse(frame, this.#id)
    if (timeOut <= 0) return this.#end('SessionExpired')
    this.#id = sessionId
    this.#passwd = passwd ?? new Uint8Array(0)
    this.#timeout = timeOut
    if (this.#config.usesSasl !== true) return this.#connected('established', state, now)
    const { server, by, frames } = state
    this.#enter('accepted', { name: 'authenticating', server, by, frames, sasl: new SaslDialogue() })
    this.#outputs.push({ type: 'saslStart', server })
  }

  #connected(trigger: Trigger, { server, frames }: Pick<Handshaking, 'server' | 'frames'>, now: number): void {
    this.#enter(trigger, { name: 'connected', server, frames, since: now })
    this.#connectBy = Infinity
    this.#pulse.connected(now)
    this.#exchange.connected()
    this.#outputs.push({ type: 'connected', server })
  }

  /** Ends the connection from our side. */
  #hangUp(error: Error, now: number): void {
    this.#outputs.push({ type: 'hangUp' })
    this.#lost(error, now, false)
  }

  #lost(error: Error, now: number, byServer: boolean): void {
    const state = this.#state
    if (!('server' in state)) return
    if (state.name === 'connected') {
      this.#outputs.push({ type: 'disconnected', error })
      this.#exchange.interrupted(error)
    } else this.#outputs.push(unreached(state, error, byServer, this.#exchange.lastZxid, this.#hosts.size))
    const stood = state.name === 'connected' && now - state.since >= deadlines.ping(this.#times)
    const T = this.#timeout
    const pause = stood ? this.#hosts.pauseAfterLoss(T) : this.#hosts.failed(state.server, error, T)
    const timeLeft = Math.max(0, this.#expiresAt - now)
    this.#enter('lost', { name: 'waiting', until: now + Math.min(pause, timeLeft) })
  }

  /** Everything that waits is told, then that the session is over. */
  #end(cause: EndReason): void {
    const { name } = this.#state
    const reason = cause === 'SessionExpired' && this.#closeBy !== Infinity ? 'Closed' : cause
    this.#exchange.end(endCode[reason])
    this.#enter(endTrigger[reason], { name: 'ended', reason })
    if (name !== 'waiting') this.#outputs.push({ type: 'hangUp' })
    // Before the loss of the connection: the end of the session says more.
    this.#outputs.push({ type: 'ended', reason })
    if (name === 'connected') {
      this.#outputs.push({ type: 'disconnected', error: new Error(`the session has ended: ${reason}`) })
    }
  }

  #enter(trigger: Trigger, state: State): void {
    if (target(this.#state.name, trigger) !== state.name) {
      throw new Error(`no way from ${this.#state.name} by ${trigger} to ${state.name}`)
    }
    this.#state = state
  }

  #take(): Output[] {
    const outputs = this.#outputs
    this.#outputs = []
    return outputs
  }
}
