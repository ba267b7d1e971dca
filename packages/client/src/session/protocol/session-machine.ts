// The session without I/O. It gets events with their times, and returns what to do. It uses no socket, timer, promise, clock
// or random source. Its methods are in this order: calls of the caller, reports of the driver, actions that are due.
import { formatServer, FrameDecoder, FrameTooLargeError, ProtocolError, type ServerAddress } from '@zk/wire'
import { KeeperError, madePrintable } from '../../base/errors.ts'
import type { SessionConfig } from './config.ts'
import { deadlines, throttlePause } from './deadlines.ts'
import { RequestPipeline } from '../requests/request-pipeline.ts'
import { SEGMENT_SIZE } from '../requests/flow.ts'
import type { Names } from '../servers/names.ts'
import { type Finding, type Goal, LIST_CHANGED, Search } from '../servers/search.ts'
import type { ListSource } from '../servers/server-lists.ts'
import { serverOf, ServerPicker, type Target } from '../servers/server-picker.ts'
import { Identity } from './identity.ts'
import { type Incoming, isTlsAlert, readIncoming, REPLY_HEADER_SIZE } from './incoming.ts'
import { Jitter } from '../servers/jitter.ts'
import type { Output } from './output.ts'
import { closeOtherSession, closeSessionRequest, pings } from '../requests/internal-requests.ts'
import type { ErrorContext } from '../../operations/operation.ts'
import type { Request } from '../requests/request.ts'
import { Segment } from '../requests/segment.ts'
import { SaslHandshake } from './sasl-handshake.ts'
import { StaticHostProvider } from '../servers/static-host-provider.ts'
import {
  assertTransition,
  endCode,
  type EndReason,
  endTrigger,
  type Phase,
  phases,
  type PhaseTrigger,
  refusalIn,
  type State,
  tooSlow,
  transitions,
  type Trigger,
} from './states.ts'
import { Timing } from './timing.ts'

type In<Name extends State['name']> = Extract<State, { name: Name }>
type Established = Pick<In<'authenticating'>, 'server' | 'target' | 'frames' | 'readOnly'>

interface EndDetails {
  readonly byServer?: boolean
  readonly cause?: Error
  /** The last bytes for the server. */
  readonly farewell?: Uint8Array
}

const nothing: readonly Output[] = []

/** The code of a look-up that found no such name, in `node:dns`. Other codes are about name servers that do not answer. */
const NO_SUCH_NAME = 'ENOTFOUND'

/** Whether the session has an established connection. */
const isEstablished = (state: State): state is In<'connected' | 'leaving'> =>
  state.name === 'connected' || state.name === 'leaving'

export class SessionMachine {
  readonly identity: Identity
  readonly servers: ServerPicker
  readonly pipeline: RequestPipeline
  readonly #config: SessionConfig
  readonly #names: Names
  readonly #jitter: Jitter
  readonly #timing: Timing
  #phase: Phase = { name: 'open' }
  #state: State
  #outputs: Output[] = []
  #touchesSent = 0

  constructor(config: SessionConfig) {
    this.#config = config
    this.#names = config.names
    this.#jitter = new Jitter(config.seed)
    const { hostProvider, servers: lists } = config
    this.servers = new ServerPicker(hostProvider ?? new StaticHostProvider(lists.present, this.#jitter), this.#jitter, {
      lists,
      fallsBack: hostProvider === undefined,
    })
    this.identity = new Identity(config)
    const pause = (times: number) => this.#jitter.between(0.5, 1) * throttlePause(times, this.#timing.times)
    this.pipeline = new RequestPipeline(config, {
      pause,
      emit: (output) => this.#outputs.push(output),
      refusal: () => refusalIn(this.#phase),
      errorContext: () => this.errorContext,
    })
    const { identity, servers, pipeline } = this
    this.#timing = new Timing({ config, identity, servers, pipeline })
    this.#state = { name: 'waiting', until: config.startAt }
  }

  get errorContext(): ErrorContext {
    const { id } = this.identity
    return {
      server: 'server' in this.#state ? this.#state.server : undefined,
      sessionId: id === 0n ? undefined : id,
      isLastSession: this.#config.isLast,
    }
  }

  get phase(): Phase {
    return this.#phase
  }

  /** The state of its connection. */
  get state(): State {
    return this.#state
  }

  /** The outputs since the last call. Most methods return them. */
  takeOutputs(): readonly Output[] {
    const outputs = this.#outputs
    if (outputs.length === 0) return nothing
    this.#outputs = []
    return outputs
  }

  /** All requests and pings that were sent on this connection before this time are answered. */
  get answeredBefore(): number {
    return isEstablished(this.#state) ? this.#timing.openSince : -Infinity
  }

  /** The number of requests and pings that were sent, on all connections. */
  get touchesSent(): number {
    return this.#touchesSent
  }

  // --- calls of the caller --------------------------------------------------------------------------------------

  submit(request: Request): readonly Output[] {
    this.pipeline.submit(request)
    return this.takeOutputs()
  }

  abandon(request: Request): boolean {
    return this.pipeline.abandon(request)
  }

  /** Announces that `close` will leave the session. Returns the time by which it is left in any case. */
  detach(now: number): number {
    const by = now + deadlines.close(this.#timing.times)
    if (this.#phase.name === 'open') this.#pass('detach', { name: 'detaching', by })
    return by
  }

  /**
   * Sends `last` after all earlier calls. The session ends when `last` is answered, and at the deadline at the latest
   * (`deadlines.close`).
   */
  close(now: number, last: Request = closeSessionRequest()): readonly Output[] {
    const phase = this.#phase
    if (phase.name === 'ended' || phase.name === 'closing') return this.takeOutputs()
    // No server has answered yet. If the session was to be resumed, it stays as it is.
    if (!this.#timing.wasHeard) this.#end('Closed')
    else {
      const by = phase.name === 'detaching' ? phase.by : now + deadlines.close(this.#timing.times)
      this.#pass('close', { name: 'closing', by })
      this.pipeline.finish(last)
      const state = this.#state
      if (state.name === 'waiting') this.#state = { name: 'waiting', until: now }
      // The connection stays: this server can end the session, and it is not known whether another one can be reached.
      if (state.name === 'leaving') {
        const { server, target, frames, readOnly, since } = state
        this.#enter('stay', { name: 'connected', server, target, frames, readOnly, since, search: undefined })
      }
    }
    return this.takeOutputs()
  }

  /** Uses this list of servers from now on. An established connection is left when a server of the list has proven itself. */
  updateServers(servers: readonly ServerAddress[], source: ListSource, now: number): readonly Output[] {
    const state = this.#state
    const current = 'target' in state ? state.target : undefined
    const isToLeave = this.servers.update(servers, source, current)
    if (isEstablished(state)) this.#searchAnew(state, isToLeave, now)
    else if (isToLeave) this.#leave(new Error(LIST_CHANGED), now)
    return this.takeOutputs()
  }

  /** Sends a heartbeat now, unless one is under way. */
  touch(now: number): readonly Output[] {
    if (isEstablished(this.#state) && !this.#timing.isPinging) this.#ping(now)
    return this.takeOutputs()
  }

  // --- reports of the driver ------------------------------------------------------------------------------------

  /** A look-up has found these addresses. The attempt that waits for them uses them, or else the next attempt. */
  resolved(host: string, addresses: readonly string[], now: number): readonly Output[] {
    if (addresses.length === 0) {
      this.#names.forget(host)
      return this.unresolved(host, new Error(`${host} has no address`), now)
    }
    this.#names.found(host, addresses)
    const state = this.#state
    if (state.name === 'resolving' && state.target.host === host) this.#dialOneOf(state, addresses, now)
    else if (state.name === 'connected') state.search?.resolved(host)
    else if (this.servers.found(host, addresses)) {
      // Unless another server is being tried, this server is dialed.
      if (state.name === 'waiting') this.#state = { name: 'waiting', until: Math.min(state.until, now) }
      if (state.name === 'resolving') {
        this.servers.postponed(state.target)
        this.#dialing(this.servers.next(), this.#timing.connectBy(now, now))
      }
    }
    return this.takeOutputs()
  }

  /** A look-up has failed. The last known addresses are used instead, unless there is no such name any more. */
  unresolved(host: string, error: Error, now: number): readonly Output[] {
    if ('code' in error && error.code === NO_SUCH_NAME) this.#names.forget(host)
    const state = this.#state
    if (state.name === 'resolving' && state.target.host === host) {
      const known = this.#names.addressesOf(host)
      if (known === undefined) this.#lost(error, now, false)
      else this.#dialOneOf(state, known, now)
    } else if (state.name === 'connected') this.#follow(state, state.search?.unresolved(host, error, now), now)
    return this.takeOutputs()
  }

  /** The TCP connection is open. */
  opened(): readonly Output[] {
    if (this.#state.name === 'dialing') {
      const { server, target, by } = this.#state
      const frames = new FrameDecoder({ limit: this.#config.maxResponseSize })
      this.#enter('opened', { name: 'handshaking', server, target, by, frames, connectRequest: 'due' })
    }
    return this.takeOutputs()
  }

  received(bytes: Uint8Array, now: number): readonly Output[] {
    if ('frames' in this.#state) {
      try {
        this.#read(this.#state.frames, bytes, now)
        this.#leaveWhenIdle(now)
      } catch (error) {
        if (!(error instanceof ProtocolError)) throw error
        this.#hangUp(this.#explained(error), now)
      }
    }
    return this.takeOutputs()
  }

  /** Takes the outcome of a probe: undefined if the session can use this server. */
  probed(failure: Error | undefined, target: Target, now: number): readonly Output[] {
    const state = this.#state
    if (state.name === 'connected') this.#follow(state, state.search?.probed(failure, target, now), now)
    return this.takeOutputs()
  }

  /** The connection failed, or the peer closed it. */
  lost(error: Error, now: number): readonly Output[] {
    this.#lost(error, now, true)
    return this.takeOutputs()
  }

  /** Takes the next token of the SASL mechanism; undefined when the exchange is complete. */
  prove(token: Uint8Array | undefined, now: number): readonly Output[] {
    if (this.#state.name !== 'authenticating') return this.takeOutputs()
    if (token !== undefined) this.#state.sasl.say(token)
    else this.#connected('proved', this.#state, now)
    return this.takeOutputs()
  }

  /** The SASL mechanism has failed. */
  unproved(error: Error, now: number): readonly Output[] {
    if (this.#state.name !== 'authenticating') return this.takeOutputs()
    if (KeeperError.is(error, 'AuthFailed')) this.#end('AuthFailed', { cause: error })
    else this.#hangUp(error, now)
    return this.takeOutputs()
  }

  /** Does everything that is due at this time. */
  elapse(now: number): readonly Output[] {
    if (this.#state.name === 'ended') return this.takeOutputs()
    this.pipeline.settleOverdue(now)
    if (now >= this.#timing.closeBy(this.#phase)) this.#end('Closed')
    else if (now >= this.#timing.expiresAt) this.#end('SessionExpired')
    else if (now >= this.#timing.giveUpAt) this.#giveUp(now)
    else this.#advance(now)
    return this.takeOutputs()
  }

  // --- actions that are due -------------------------------------------------------------------------------------

  /** Bytes to write now, in one segment; undefined when nothing is due. If they are fewer than SEGMENT_SIZE, they are all. */
  transmit(now: number): Uint8Array | undefined {
    const state = this.#state
    if (state.name === 'handshaking' && state.connectRequest === 'due') {
      this.#state = { ...state, connectRequest: 'sent' }
      this.#timing.handshake(now)
      return this.identity.connectFrame(this.pipeline.lastZxid)
    }
    if (state.name === 'authenticating') return state.sasl.transmit()
    if (!isEstablished(state)) return undefined
    const segment = new Segment()
    this.pipeline.sendCredentials(segment)
    const before = segment.frames
    // On a connection that is about to be left no more requests are sent, but pings are, so that the session stays alive.
    if (state.name === 'connected') this.pipeline.send(now, SEGMENT_SIZE, segment)
    else this.pipeline.sendUrgent(segment)
    const touches = segment.frames - before
    if (touches > 0) this.#timing.touched(now, touches)
    this.#touchesSent += touches
    return segment.bytes()
  }

  /** The latest time at which `elapse` must be called. */
  deadline(): number {
    return this.#timing.next(this.#state, this.#phase)
  }

  #advance(now: number): void {
    const state = this.#state
    if (isEstablished(state)) {
      this.#keepAlive(now)
      if (state.name === 'connected') this.#follow(state, state.search?.elapse(now), now)
      if (now >= this.#timing.brokenAt) this.#hangUp(this.#timing.whyBroken(now), now)
    } else if (now < this.#timing.ofState(state)) return
    else if (state.name === 'waiting') this.#attempt(now)
    else if (state.name === 'resolving') this.#lookUpTooSlow(state, now)
    else if ('by' in state) {
      this.servers.tooSlow()
      this.#hangUp(this.#tooSlow(state), now)
    }
  }

  #keepAlive(now: number): void {
    if (now >= this.#timing.pingAt) this.#ping(now)
  }

  #ping(now: number): void {
    this.#timing.pinged(now, pings.length)
    this.pipeline.urgent(pings)
  }

  /** Ends the session, since no server was found in time. The attempt under way is reported with an earlier error, if any. */
  #giveUp(now: number): void {
    const state = this.#state
    if ('by' in state) this.#hangUp(this.servers.lastErrorAt(state.target) ?? this.#tooSlow(state), now)
    this.#end('Unreachable')
  }

  #tooSlow({ name }: In<'resolving' | 'dialing' | 'handshaking' | 'authenticating'>): Error {
    return new Error(tooSlow[name])
  }

  // --- connections ----------------------------------------------------------------------------------------------

  #attempt(now: number): void {
    const target = this.servers.next()
    if (target.address !== undefined || this.#config.looksUpNames !== true) {
      return this.#dialing(target, this.#timing.connectBy(now, now))
    }
    const server = formatServer(target)
    this.#enter('lookUp', { name: 'resolving', server, target, since: now, by: this.#timing.lookUpBy(now) })
    this.#outputs.push({ type: 'lookUp', host: target.host })
  }

  /** The look-up is taking too long. It continues in the background. */
  #lookUpTooSlow(state: In<'resolving'>, now: number): void {
    const known = this.#names.addressesOf(state.target.host)
    if (known !== undefined) return this.#dialOneOf(state, known, now)
    this.servers.postponed(state.target)
    this.#lost(this.#tooSlow(state), now, false)
  }

  /** Dials one of the addresses of the server. The time to connect is divided among them. */
  #dialOneOf({ target, since }: In<'resolving'>, addresses: readonly string[], now: number): void {
    const first = this.servers.resolved(target, addresses)!
    this.#dialing(first, this.#timing.connectBy(since, now))
  }

  #dialing(target: Target, by: number): void {
    this.#enter('dial', { name: 'dialing', server: formatServer(target), target, by })
    this.#outputs.push({ type: 'dial', target })
  }

  #read(frames: FrameDecoder, bytes: Uint8Array, now: number): void {
    let isOfReplies = isEstablished(this.#state)
    // A reply that is too large costs its request. Anything else that is too large costs the connection.
    const mayBeReply = () => isEstablished(this.#state) && this.pipeline.oldestSentAt !== undefined
    const next = () => frames.read(mayBeReply() ? REPLY_HEADER_SIZE : undefined)
    frames.push(bytes)
    for (let body = next(); body !== undefined; body = next()) {
      if (isEstablished(this.#state)) {
        const incoming = readIncoming(body, frames.tooLarge)
        if (incoming.type === 'event') isOfReplies = false
        this.#incoming(incoming, now)
      } else if (this.#state.name === 'handshaking') this.#handshake(body.rest(), this.#state, now)
      else if (this.#state.name === 'authenticating') this.#proving(readIncoming(body), this.#state.sasl, now)
      else return
      this.#timing.received(now)
    }
    frames.keep()
    // Events are no sign of progress: a server that answers nothing may still send them.
    if (isOfReplies) this.#timing.progressed(bytes.byteLength, now)
  }

  #explained(error: ProtocolError): Error {
    const isFirst = this.#state.name === 'handshaking'
    if (!isFirst || !(error instanceof FrameTooLargeError) || !isTlsAlert(error.size)) return error
    return new Error('the server speaks TLS on this port; give connect the option tls', { cause: error })
  }

  #incoming(incoming: Incoming, now: number): void {
    if (incoming.type === 'ping') return this.#timing.ponged()
    const end = this.pipeline.incoming(incoming, now)
    if (end !== undefined) this.#end(end, { byServer: true })
  }

  #proving(incoming: Incoming, sasl: SaslHandshake, now: number): void {
    if (incoming.type !== 'reply') return this.#incoming(incoming, now)
    const next = sasl.received(incoming)
    if (next === 'refused') this.#end('AuthFailed', { byServer: true })
    else this.#outputs.push({ type: 'saslChallenge', token: next.token })
  }

  #handshake(frame: Uint8Array, { server, target, by, frames }: In<'handshaking'>, now: number): void {
    const answer = this.identity.answered(frame)
    if (answer === 'expired') return this.#end('SessionExpired', { byServer: true })
    // Some servers never report that a session has expired: they grant a new session instead (ClickHouse Keeper). This server
    // will never say more, so our session is over. The new session must not stay, so it is closed.
    if (answer === 'otherSession') {
      return this.#end('SessionExpired', {
        cause: new Error(`${server} answered with another session: it does not know this one`),
        farewell: closeOtherSession,
      })
    }
    const established = { server, target, frames, readOnly: answer === 'readOnly' }
    if (this.#config.usesSasl !== true) return this.#connected('established', established, now)
    this.#enter('accepted', { name: 'authenticating', ...established, by, sasl: new SaslHandshake() })
    this.#outputs.push({ type: 'saslStart', server })
  }

  #connected(trigger: Trigger, { server, target, frames, readOnly }: Established, now: number): void {
    const isToMove = this.#phase.name !== 'closing' && this.servers.isFallback(target)
    const search = this.#search(readOnly ? 'writes' : isToMove ? 'list' : undefined, target, now)
    if (!readOnly) this.servers.takesWrites()
    this.#enter(trigger, { name: 'connected', server, target, frames, readOnly, since: now, search })
    this.servers.connected(target)
    this.#timing.connected(now)
    this.pipeline.connected(now)
    this.#outputs.push({ type: 'connected', server, readOnly })
    if (this.#config.hostProvider === undefined && this.#config.looksUpNames === true) this.#learnNames()
  }

  /** Looks up the names without known addresses: the name servers may be unreachable when the connection is lost. */
  #learnNames(): void {
    const { present, fallbacks } = this.#config.servers
    const hosts = new Set([...present, ...fallbacks].map(({ host }) => host))
    for (const host of hosts) {
      if (this.#names.addressesOf(host) === undefined) this.#outputs.push({ type: 'lookUp', host })
    }
  }

  /** Moves to another server. Before that, the current one answers all requests, so that no outcome stays unknown. */
  #leave(why: Error, now: number): void {
    const state = this.#state
    if ('by' in state) this.#hangUp(why, now)
    else if (state.name === 'connected' && this.#phase.name !== 'closing') {
      const { server, target, frames, readOnly, since } = state
      this.#enter('leave', { name: 'leaving', server, target, frames, readOnly, since, why })
      this.#leaveWhenIdle(now)
    }
  }

  #leaveWhenIdle(now: number): void {
    const state = this.#state
    if (state.name === 'leaving' && this.pipeline.oldestSentAt === undefined) this.#hangUp(state.why, now)
  }

  /** The list has changed. An established connection stays until the search has found another server. */
  #searchAnew(state: In<'connected' | 'leaving'>, isToLeave: boolean, now: number): void {
    this.#config.servers.worked(state.target)
    if (this.#phase.name === 'closing') return
    const { server, target, frames, readOnly, since } = state
    const before = state.name === 'connected' ? state.search : undefined
    before?.end()
    const isMoving = state.name === 'leaving' || before?.goal === 'list'
    const search = this.#search(readOnly ? 'writes' : isToLeave || isMoving ? 'list' : undefined, target, now)
    const next: State = { name: 'connected', server, target, frames, readOnly, since, search }
    if (state.name === 'leaving') this.#enter('stay', next)
    else this.#state = next
  }

  /** A search for another server, while the session is connected to `present`. */
  #search(goal: Goal | undefined, present: Target, now: number): Search | undefined {
    if (goal === undefined) return undefined
    return new Search(goal, now, {
      servers: this.servers,
      names: this.#names,
      jitter: this.#jitter,
      looksUpNames: this.#config.looksUpNames === true,
      present,
      T: this.identity.timeout,
      trialFrame: () => this.identity.trialFrame(this.pipeline.lastZxid, this.#jitter.upTo(1)),
      emit: (output) => this.#outputs.push(output),
    })
  }

  /** Does what the search has found; undefined while it continues. */
  #follow(state: In<'connected'>, finding: Finding | undefined, now: number): void {
    if (finding?.name === 'move') this.#leave(finding.why, now)
    else if (finding?.name === 'stay') {
      this.#state = { ...state, search: undefined }
      this.servers.connected(state.target)
    }
  }

  /** Closes the connection. */
  #hangUp(error: Error, now: number): void {
    this.#outputs.push({ type: 'hangUp' })
    this.#lost(error, now, false)
  }

  #lost(error: Error, now: number, byServer: boolean): void {
    const state = this.#state
    if (!('server' in state)) return
    // The error of a look-up or a connection may contain text from a server, such as a name in a certificate.
    madePrintable(error)
    if (isEstablished(state)) {
      this.#outputs.push({ type: 'disconnected', error })
      this.pipeline.interrupted(error, byServer ? { at: now, times: this.#timing.times } : undefined)
    } else {
      const wasAsked = state.name === 'handshaking' && state.connectRequest === 'sent'
      const everyServerCloses = this.servers.hasClosed(state.target, byServer && wasAsked)
      this.#outputs.push({
        type: 'unreached',
        server: state.server,
        address: state.target.address,
        error,
        everyServerCloses,
        ensembleBehind: everyServerCloses && this.pipeline.lastZxid > 0n,
        servers: this.servers.size,
      })
    }
    const isLeft = state.name === 'leaving'
    const hasLasted = state.name === 'connected' && now - state.since >= deadlines.ping(this.#timing.times)
    if (isLeft || hasLasted) this.servers.lasted()
    else this.servers.failed(state.target, error)
    // No server of the new list has proven itself, so the session first returns to the server it had.
    if (state.name === 'connected' && state.search?.goal === 'list') this.servers.prefer(serverOf(state.target))
    const pause = isLeft ? 0 : this.servers.pause(this.identity.timeout)
    this.#enter('lost', { name: 'waiting', until: now + pause })
  }

  /** Ends the session: settles everything that waits. */
  #end(why: EndReason, { byServer = false, cause, farewell }: EndDetails = {}): void {
    const state = this.#state
    if (why === 'SessionExpired') this.identity.expired()
    const reason = why === 'SessionExpired' && this.#phase.name === 'closing' ? 'Closed' : why
    this.#pass(endTrigger[reason], { name: 'ended', reason })
    this.pipeline.end(endCode[reason])
    this.#enter(endTrigger[reason], { name: 'ended' })
    if (farewell !== undefined) this.#outputs.push({ type: 'farewell', bytes: farewell })
    else if (state.name !== 'waiting') this.#outputs.push({ type: 'hangUp' })
    // `ended` comes before `disconnected`: for callers the end of the session is the reason, not the lost connection.
    const server = 'server' in state ? state.server : undefined
    this.#outputs.push({ type: 'ended', reason, byServer, server, cause })
    if (isEstablished(state)) this.#outputs.push({ type: 'disconnected', error: undefined })
  }

  #enter(trigger: Trigger, state: State): void {
    assertTransition(transitions, this.#state.name, trigger, state.name)
    this.#state = state
  }

  #pass(trigger: PhaseTrigger, phase: Phase): void {
    assertTransition(phases, this.#phase.name, trigger, phase.name)
    this.#phase = phase
  }
}
