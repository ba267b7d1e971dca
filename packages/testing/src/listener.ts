// Drives an EnsembleModel over TCP. Only this file opens sockets, and uses real time and real random numbers.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { show } from './connection/fault.ts'
import { EnsembleModel, type Link, type Output } from './ensemble-model.ts'
import {
  bracketed,
  checkListenOptions,
  checkPorts,
  distinguishedName,
  type ListenOptions,
  LOCALHOST,
  plain,
  startTimeout,
  type TestTlsOptions,
} from './listener-options.ts'
import { asFunction } from './options.ts'

/** The bytes that the socket may hold for a client that does not read. Above this the requests of the client wait. */
const HIGH_WATER_MARK = 1024 * 1024
/** How long the last bytes of an ended connection may lie unread before the socket is destroyed, in ms. */
const UNREAD_AFTER = 10_000
/** The pause before the next attempt to listen, in ms: another program may have taken the port meanwhile. */
const OPEN_AGAIN_AFTER = 20
/** The time of an election, in ms: FastLeaderElection.finalizeWait, and up to `more` at random. */
const ELECTION_TIME = { least: 200, more: 50 }
const NOTHING = new Uint8Array()
const LONGEST_TIMER = 2 ** 31 - 1

export class Listener {
  readonly model: EnsembleModel
  readonly #acceptors: readonly Acceptor[]
  readonly #sockets = new Map<Link, Socket>()
  /** The TCP socket below each TLS socket. */
  readonly #raw = new WeakMap<Socket, Socket>()
  /** The sockets of connections that have ended in the model, while bytes are left for their clients. */
  readonly #ending = new Set<Socket>()
  readonly #waiters = new Set<Waiter>()
  readonly #origin = performance.now()
  #timer: { readonly at: number; readonly handle: ReturnType<typeof setTimeout> } | undefined
  #isStarted = false
  #isClosed = false

  /** Resolves when clients can connect. */
  static async open(options: ListenOptions): Promise<Listener> {
    const listener = new Listener(options)
    try {
      await Promise.all(listener.#acceptors.map((acceptor) => acceptor.open()))
      for (const { member, port } of listener.#acceptors) {
        listener.model.member(member).address = `${bracketed(options.host ?? LOCALHOST)}:${port}`
      }
      listener.#step([])
      const { members } = listener.model
      const timeout = startTimeout(options)
      const isServing = () => members.every(({ role }) => role !== 'looking')
      await listener.within(timeout, isServing, () => {
        const roles = members.map(({ name, role }) => `${name} is ${role}`)
        return new Error(`the members could not agree in ${timeout} ms: ${roles.join(', ')}. Is the latency too long?`)
      })
      listener.#isStarted = true
      return listener
    } catch (error) {
      await listener.close()
      throw error
    }
  }

  private constructor(all: ListenOptions) {
    const { host, ports, tls, electionTime, ...options } = checkListenOptions(all)
    const wallOrigin = Date.now()
    const usual =
      electionTime === undefined
        ? () => ELECTION_TIME.least + Math.floor(Math.random() * ELECTION_TIME.more)
        : asFunction('electionTime', electionTime)
    this.model = new EnsembleModel({
      ...options,
      // The first election takes no time, because the caller waits for it.
      electionTime: () => (this.#isStarted ? usual() : 0),
      random: Math.random,
      hasCertificates: tls !== undefined,
      now: () => this.now,
      wallNow: (now) => Math.floor(wallOrigin + now),
    })
    this.model.onWake = () => this.#drive(() => this.model.elapse(this.now))
    const names = this.model.members.map(({ name }) => name)
    checkPorts(ports, names.length)
    this.#acceptors = names.map((member, index) => {
      return new Acceptor(member, { host, port: ports?.[index] ?? 0, tls }, (caller) => this.#accept(member, caller))
    })
  }

  /** The time since the listener was made, in ms. */
  get now(): number {
    return performance.now() - this.#origin
  }

  get connectString(): string {
    return this.model.members.map(({ address }) => address).join(',')
  }

  /**
   * Resolves when the condition holds. The condition is evaluated after every event. Rejects after `timeout` ms, or when the
   * ensemble is closed.
   */
  async within(timeout: number, isDone: () => boolean, tooLate: () => Error): Promise<void> {
    if (!(timeout >= 0)) throw new RangeError(`timeout must be a number of ms, 0 or more, not ${show(timeout)}`)
    if (this.#isClosed) throw closedError()
    if (isDone()) return
    let timer: ReturnType<typeof setTimeout> | undefined
    let waiter: Waiter | undefined
    try {
      await new Promise<void>((resolve, reject) => {
        waiter = { isDone, resolve, reject }
        this.#waiters.add(waiter)
        if (timeout !== Infinity) timer = setTimeout(() => reject(tooLate()), Math.min(timeout, LONGEST_TIMER))
      })
    } finally {
      this.#waiters.delete(waiter!)
      clearTimeout(timer)
    }
  }

  /** Cuts all connections, and stops listening. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer?.handle)
    for (const { reject } of this.#waiters) reject(closedError())
    for (const socket of [...this.#sockets.values(), ...this.#ending]) socket.destroy()
    await Promise.all(this.#acceptors.map(async (acceptor) => acceptor.shut()))
  }

  // --- the outputs of the model -------------------------------------------------------------------------------------

  /**
   * A function of the user may throw, such as the option `latency`. Then all calls that wait reject. If no call waits, the
   * error is thrown.
   */
  #drive(model: () => readonly Output[]): void {
    if (this.#isClosed) return
    let outputs: readonly Output[]
    try {
      outputs = model()
    } catch (error) {
      if (this.#waiters.size === 0) throw error
      for (const { reject } of this.#waiters) reject(error)
      return
    }
    this.#step(outputs)
  }

  #step(outputs: readonly Output[]): void {
    for (const output of outputs) this.#do(output)
    // A member that is down, or refuses connections, does not listen.
    for (const acceptor of this.#acceptors) acceptor.keep(this.model.isListening(acceptor.member))
    for (const waiter of this.#waiters) {
      if (!waiter.isDone()) continue
      this.#waiters.delete(waiter)
      waiter.resolve()
    }
    this.#arm()
  }

  #do(output: Output): void {
    const { link } = output
    const socket = this.#sockets.get(link)
    if (socket === undefined) return
    if (output.type === 'send') {
      socket.write(output.bytes)
      if (socket.writableLength > HIGH_WATER_MARK) link.gate.set('clogged', true)
      return
    }
    this.#sockets.delete(link)
    if (output.how === 'reset') (this.#raw.get(socket) ?? socket).resetAndDestroy()
    else this.#end(socket)
  }

  #end(socket: Socket): void {
    this.#ending.add(socket)
    socket.on('close', () => this.#ending.delete(socket))
    socket.setTimeout(UNREAD_AFTER, () => socket.destroy())
    socket.end(() => socket.destroy())
  }

  #arm(): void {
    const at = this.model.deadline()
    if (this.#timer?.at === at) return
    clearTimeout(this.#timer?.handle)
    this.#timer = undefined
    if (at === Infinity) return
    const delay = Math.min(Math.max(0, Math.ceil(at - this.now)), LONGEST_TIMER)
    const handle = setTimeout(() => {
      this.#timer = undefined
      this.#drive(() => this.model.elapse(this.now))
    }, delay)
    this.#timer = { at, handle }
  }

  // --- sockets ------------------------------------------------------------------------------------------------------

  #accept(member: string, { socket, raw, certificate }: Caller): void {
    // The handler of 'close' below handles errors: 'close' follows each 'error'.
    socket.on('error', () => {})
    if (raw !== undefined) this.#raw.set(socket, raw)
    const remote = { address: plain(socket.remoteAddress), port: socket.remotePort, certificate }
    const link = this.#isClosed ? undefined : this.model.accept(member, remote, this.now)
    if (link === undefined) {
      socket.destroy()
      return
    }
    this.#sockets.set(link, socket)
    link.gate.onChange = (isOpen) => (isOpen ? socket.resume() : socket.pause())
    socket.on('drain', () => {
      link.gate.set('clogged', false)
      this.#received(link, NOTHING)
    })
    socket.on('data', (bytes) => this.#received(link, bytes))
    const lost = () => {
      if (!this.#sockets.delete(link)) return
      socket.destroy()
      this.#drive(() => this.model.closed(link, this.now))
    }
    socket.on('end', lost)
    socket.on('close', lost)
    // A frozen member accepts connections, but reads nothing from them.
    if (!link.gate.isOpen) socket.pause()
    this.#drive(() => this.model.elapse(this.now))
  }

  #received(link: Link, bytes: Uint8Array): void {
    if (this.#sockets.has(link)) this.#drive(() => this.model.received(link, bytes, this.now))
  }
}

/** A call that waits for a condition. */
interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

const closedError = () => new Error('the ensemble is closed')

/** The client at the other end. */
interface Caller {
  readonly socket: Socket
  /** The TCP socket below TLS. */
  readonly raw?: Socket | undefined
  /** The subject of the certificate of the client. */
  readonly certificate?: string | undefined
}

/** The TCP port of one member. It is open while the member accepts connections. */
class Acceptor {
  readonly member: string
  readonly #host: string
  readonly #tls: TestTlsOptions | undefined
  readonly #accept: (caller: Caller) => void
  /** The sockets whose TLS handshake has not ended. Nothing else refers to them. */
  readonly #greeting = new Set<Socket>()
  #port: number
  /** The server that listens, or is about to; undefined while connections are refused. */
  #server: Server | undefined
  /** Settles when the server listens, or has failed to. Until then the server cannot be closed. */
  #opening: Promise<void> | undefined
  readonly #closing = new Set<Promise<void>>()
  #shouldBeOpen = true
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(
    member: string,
    { host, port, tls }: { host: string; port: number; tls: TestTlsOptions | undefined },
    accept: (caller: Caller) => void,
  ) {
    this.member = member
    this.#host = host
    this.#tls = tls
    this.#port = port
    this.#accept = accept
  }

  get port(): number {
    return this.#port
  }

  /** Rejects if the port is not free. */
  async open(): Promise<void> {
    const server = this.#create()
    this.#server = server
    this.#opening = this.#listen(server)
    try {
      await this.#opening
      this.#port = (server.address() as AddressInfo).port
    } catch (error) {
      this.#server = undefined
      throw error
    } finally {
      this.#opening = undefined
    }
    if (!this.#shouldBeOpen) this.#close()
  }

  /** Opens or closes the port: at once, or when the current attempt to open it is over. */
  keep(shouldBeOpen: boolean): void {
    this.#shouldBeOpen = shouldBeOpen
    if (this.#opening !== undefined || this.#again !== undefined) return
    if (shouldBeOpen && this.#server === undefined) this.open().catch(() => this.#openLater())
    else if (!shouldBeOpen) this.#close()
  }

  /** Closes the port forever. Resolves when all its connections have ended, too. */
  async shut(): Promise<void> {
    this.#shouldBeOpen = false
    clearTimeout(this.#again)
    await this.#opening?.catch(() => {})
    this.#close()
    await Promise.all(this.#closing)
  }

  #create(): Server {
    const options = { allowHalfOpen: true, noDelay: true }
    if (this.#tls === undefined) return createServer(options, (socket) => this.#accept({ socket }))
    const withTls: object = { ...this.#tls, ...options }
    const server = createTlsServer(withTls as TlsOptions)
    server.on('connection', (raw: Socket) => {
      this.#greeting.add(raw)
      raw.on('close', () => this.#greeting.delete(raw))
    })
    server.on('secureConnection', (socket) => {
      const raw = [...this.#greeting].find(({ remotePort }) => remotePort === socket.remotePort)
      if (raw !== undefined) this.#greeting.delete(raw)
      const subject = socket.authorized ? socket.getPeerX509Certificate()?.subject : undefined
      this.#accept({ socket, raw, certificate: distinguishedName(subject) })
    })
    server.on('tlsClientError', () => {}) // the client is already gone
    return server
  }

  #openLater(): void {
    if (!this.#shouldBeOpen) return
    this.#again = setTimeout(() => {
      this.#again = undefined
      this.keep(this.#shouldBeOpen)
    }, OPEN_AGAIN_AFTER)
  }

  async #listen(server: Server): Promise<void> {
    return new Promise((resolve, reject) => {
      server.on('error', reject)
      server.listen(this.#port, this.#host, resolve)
    })
  }

  #close(): void {
    const server = this.#server
    this.#server = undefined
    for (const socket of this.#greeting) socket.destroy()
    if (server?.listening !== true) return
    // From here on no client can connect. `closed` resolves when the last connection has ended.
    const closed: Promise<void> = new Promise<void>((resolve) => server.close(() => resolve()))
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}
