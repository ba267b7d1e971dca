// The one file that opens sockets, and knows real time and chance: drives an EnsembleModel over TCP.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { checkKeys, show } from './connection/fault.ts'
import { EnsembleModel, type Link, type Output } from './ensemble-model.ts'
import { asFunction, checkOptions, ENSEMBLE_OPTIONS, type EnsembleOptions, integer } from './options.ts'

export interface ListenOptions extends EnsembleOptions {
  /** Where to listen. @default '127.0.0.1' */
  readonly host?: string
  /** One for each member; 0 for any that is free. @default all 0 */
  readonly ports?: readonly number[]
}

/** Bytes the socket may hold for a client that does not read, before no more of it is read. */
const HIGH_WATER_MARK = 1024 * 1024
/** A client that reads nothing of what is left for it, after its connection has ended, is given up. In ms. */
const UNREAD_AFTER = 10_000
/** Members that cannot agree in this time, in ms, or in the ticks they may take for it, never will. */
const LEAST_START_TIMEOUT = 30_000
/** Another program may have taken the port of a member while it was down. In ms. */
const OPEN_AGAIN_AFTER = 20
/** FastLeaderElection.finalizeWait, and some chance. In ms. */
const ELECTION_TIME = { least: 200, more: 50 }
const NOTHING = new Uint8Array()
const LOCALHOST = '127.0.0.1'
const LONGEST_TIMER = 2 ** 31 - 1

interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

export class Listener {
  readonly model: EnsembleModel
  readonly #doors: readonly Door[]
  readonly #sockets = new Map<Link, Socket>()
  /** Of connections that are over for the model, with something left for their clients. */
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
      await Promise.all(listener.#doors.map((door) => door.open()))
      for (const { member, port } of listener.#doors) {
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
    checkKeys('an ensemble', all, [...ENSEMBLE_OPTIONS, 'host', 'ports'])
    const { host = LOCALHOST, ports, electionTime, ...options } = all
    if (typeof host !== 'string' || host.trim() === '') {
      throw new TypeError(`host must be a name or an address, such as '${LOCALHOST}', not ${show(host)}`)
    }
    if (ports !== undefined && !Array.isArray(ports)) throw new TypeError(`ports must be a list, not ${show(ports)}`)
    const wallOrigin = Date.now()
    const usual =
      electionTime === undefined
        ? () => ELECTION_TIME.least + Math.floor(Math.random() * ELECTION_TIME.more)
        : asFunction('electionTime', electionTime)
    this.model = new EnsembleModel({
      ...options,
      // The first election is not what anybody waits for.
      electionTime: () => (this.#isStarted ? usual() : 0),
      random: Math.random,
      now: () => this.now,
      wallNow: (now) => Math.floor(wallOrigin + now),
    })
    this.model.onWake = () => this.#drive(() => this.model.elapse(this.now))
    const names = this.model.members.map(({ name }) => name)
    if (ports !== undefined && ports.length !== names.length) {
      throw new RangeError(`ports must be as many as members: ${names.length}, not ${ports.length}`)
    }
    for (const port of ports ?? []) integer('ports', port, 0, 65_535)
    this.#doors = names.map((member, index) => {
      return new Door(member, { host, port: ports?.[index] ?? 0 }, (socket) => this.#accept(member, socket))
    })
  }

  /** In ms since it began. */
  get now(): number {
    return performance.now() - this.#origin
  }

  get connectString(): string {
    return this.model.members.map(({ address }) => address).join(',')
  }

  /** Resolves when it is so, asked whenever anything has happened; rejects after so many ms, or when all is closed. */
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

  /** Cuts all connections and listens no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer?.handle)
    for (const { reject } of this.#waiters) reject(closedError())
    for (const socket of [...this.#sockets.values(), ...this.#ending]) socket.destroy()
    await Promise.all(this.#doors.map(async (door) => door.shut()))
  }

  // --- what the model says ------------------------------------------------------------------------------------------

  /** What the user has given it may throw, such as a function for the latency: whoever waits is told, else everybody. */
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
    // A member that is down, or shall refuse, does not listen.
    for (const door of this.#doors) door.keep(this.model.isListening(door.member))
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
    if (output.how === 'reset') socket.resetAndDestroy()
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

  #accept(member: string, socket: Socket): void {
    // What goes wrong with it is told by 'close'.
    socket.on('error', () => {})
    const remote = { address: plain(socket.remoteAddress), port: socket.remotePort }
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
    // A member that is frozen takes connections and reads nothing.
    if (!link.gate.isOpen) socket.pause()
    this.#drive(() => this.model.elapse(this.now))
  }

  #received(link: Link, bytes: Uint8Array): void {
    if (this.#sockets.has(link)) this.#drive(() => this.model.received(link, bytes, this.now))
  }
}

/** Where one member is reached: a port that is listened at while it should be. */
class Door {
  readonly member: string
  readonly #host: string
  readonly #accept: (socket: Socket) => void
  #port: number
  /** Listens, or is about to; undefined while connections are refused. */
  #server: Server | undefined
  /** Settled when it listens, or cannot: before that a server cannot be closed. */
  #opening: Promise<void> | undefined
  readonly #closing = new Set<Promise<void>>()
  #shouldBeOpen = true
  #again: ReturnType<typeof setTimeout> | undefined

  constructor(member: string, { host, port }: { host: string; port: number }, accept: (socket: Socket) => void) {
    this.member = member
    this.#host = host
    this.#port = port
    this.#accept = accept
  }

  get port(): number {
    return this.#port
  }

  /** Rejects where the port cannot be had. */
  async open(): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, this.#accept)
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

  /** Opens or closes it: at once, or when it is as far as to be closed. */
  keep(shouldBeOpen: boolean): void {
    this.#shouldBeOpen = shouldBeOpen
    if (this.#opening !== undefined || this.#again !== undefined) return
    if (shouldBeOpen && this.#server === undefined) this.open().catch(() => this.#openLater())
    else if (!shouldBeOpen) this.#close()
  }

  /** For good: resolves when nothing is left of it but its connections. */
  async shut(): Promise<void> {
    this.#shouldBeOpen = false
    clearTimeout(this.#again)
    await this.#opening?.catch(() => {})
    this.#close()
    await Promise.all(this.#closing)
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
    if (server?.listening !== true) return
    // Nobody can connect from here on; it is over when its last connection is.
    const closed: Promise<void> = new Promise<void>((resolve) => server.close(() => resolve()))
    this.#closing.add(closed)
    void closed.then(() => this.#closing.delete(closed))
  }
}

const closedError = () => new Error('the ensemble is closed')

function startTimeout({ host, ports, ...options }: ListenOptions): number {
  const { tickTime, initLimit, syncLimit } = checkOptions(options)
  return Math.max(LEAST_START_TIMEOUT, (initLimit + syncLimit) * tickTime)
}

/** An address of version 4 as such. */
function plain(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
