// The one file that opens sockets, and knows real time and chance: drives an EnsembleModel over TCP.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { EnsembleModel, type Link, type Output } from './ensemble-model.ts'
import { type EnsembleOptions, integer } from './options.ts'

export interface ListenOptions extends EnsembleOptions {
  /** Where to listen. @default '127.0.0.1' */
  readonly host?: string
  /** One for each member; 0 for any that is free. @default all 0 */
  readonly ports?: readonly number[]
}

/** Bytes the socket may hold for a client that does not read, before no more of it is read. */
const HIGH_WATER_MARK = 1024 * 1024
/** Another program may have taken the port of a member while it was down. In ms. */
const LISTEN_AGAIN_AFTER = 20
/** FastLeaderElection.finalizeWait, and some chance. In ms. */
const ELECTION_TIME = { least: 200, more: 50 }
const NOTHING = new Uint8Array()
const LONGEST_TIMER = 2 ** 31 - 1

interface Door {
  readonly member: string
  port: number
  /** undefined while connections are refused. */
  server: Server | undefined
}

interface Waiter {
  readonly isDone: () => boolean
  readonly resolve: () => void
}

export class Listener {
  readonly model: EnsembleModel
  readonly #host: string
  readonly #doors: readonly Door[]
  readonly #sockets = new Map<Link, Socket>()
  readonly #waiters = new Set<Waiter>()
  readonly #origin = performance.now()
  #timer: { readonly at: number; readonly handle: ReturnType<typeof setTimeout> } | undefined
  #isStarted = false
  #isClosed = false

  /** Resolves when clients can connect. */
  static async open(options: ListenOptions): Promise<Listener> {
    const listener = new Listener(options)
    try {
      await Promise.all(listener.#doors.map((door) => listener.#open(door)))
      for (const { member, port } of listener.#doors) {
        listener.model.member(member).address = `${bracketed(listener.#host)}:${port}`
      }
      listener.#step([])
      await listener.until(() => listener.model.members.every(({ role }) => role !== 'looking'))
      listener.#isStarted = true
      return listener
    } catch (error) {
      await listener.close()
      throw error
    }
  }

  private constructor({ host = '127.0.0.1', ports, electionTime, ...options }: ListenOptions) {
    const wallOrigin = Date.now()
    const usual = electionTime ?? (() => ELECTION_TIME.least + Math.floor(Math.random() * ELECTION_TIME.more))
    this.model = new EnsembleModel({
      ...options,
      // The first election is not what anybody waits for.
      electionTime: () => (!this.#isStarted ? 0 : typeof usual === 'number' ? usual : usual()),
      random: Math.random,
      now: () => this.now,
      wallNow: (now) => Math.floor(wallOrigin + now),
    })
    this.model.onWake = () => this.#step(this.model.elapse(this.now))
    this.#host = host
    const names = this.model.members.map(({ name }) => name)
    if (ports !== undefined && ports.length !== names.length) {
      throw new RangeError(`ports must be as many as members: ${names.length}, not ${ports.length}`)
    }
    for (const port of ports ?? []) integer('ports', port, 0, 65_535)
    this.#doors = names.map((member, index) => ({ member, port: ports?.[index] ?? 0, server: undefined }))
  }

  /** In ms since it began. */
  get now(): number {
    return performance.now() - this.#origin
  }

  get connectString(): string {
    return this.model.members.map(({ address }) => address).join(',')
  }

  /** Resolves when it is so; asked whenever anything has happened. */
  async until(isDone: () => boolean): Promise<void> {
    if (isDone()) return
    return new Promise((resolve) => this.#waiters.add({ isDone, resolve }))
  }

  /** The same, but rejects with this error after so many ms. */
  async within(timeout: number, isDone: () => boolean, tooLate: () => Error): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(tooLate()), timeout)
    })
    try {
      await Promise.race([this.until(isDone), late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Cuts all connections and listens no more. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer?.handle)
    for (const socket of this.#sockets.values()) socket.destroy()
    await Promise.all(this.#doors.map(async (door) => shut(door)))
  }

  // --- what the model says ------------------------------------------------------------------------------------------

  #step(outputs: readonly Output[]): void {
    if (this.#isClosed) return
    for (const output of outputs) this.#do(output)
    for (const door of this.#doors) this.#keepAsItShouldBe(door)
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
    else socket.end(() => socket.destroy())
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
      this.#step(this.model.elapse(this.now))
    }, delay)
    this.#timer = { at, handle }
  }

  // --- sockets ------------------------------------------------------------------------------------------------------

  /** A member that is down, or shall refuse, does not listen. */
  #keepAsItShouldBe(door: Door): void {
    const shouldListen = this.model.isListening(door.member)
    if (shouldListen === (door.server !== undefined)) return
    if (!shouldListen) {
      void shut(door)
      return
    }
    this.#open(door).catch(() => setTimeout(() => this.#step([]), LISTEN_AGAIN_AFTER))
  }

  async #open(door: Door): Promise<void> {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(door, socket))
    door.server = server
    return new Promise((resolve, reject) => {
      server.on('error', (error) => {
        if (door.server === server) door.server = undefined
        reject(error)
      })
      server.listen(door.port, this.#host, () => {
        // It may have been closed meanwhile.
        const address = server.address() as AddressInfo | null
        if (address !== null) door.port = address.port
        resolve()
      })
    })
  }

  #accept(door: Door, socket: Socket): void {
    // What goes wrong with it is told by 'close'.
    socket.on('error', () => {})
    const remote = { address: plain(socket.remoteAddress), port: socket.remotePort }
    const link = this.#isClosed ? undefined : this.model.accept(door.member, remote, this.now)
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
      this.#step(this.model.closed(link, this.now))
    }
    socket.on('end', lost)
    socket.on('close', lost)
    // A member that is frozen takes connections and reads nothing.
    if (!link.gate.isOpen) socket.pause()
    this.#step(this.model.elapse(this.now))
  }

  #received(link: Link, bytes: Uint8Array): void {
    if (this.#sockets.has(link)) this.#step(this.model.received(link, bytes, this.now))
  }
}

async function shut(door: Door): Promise<void> {
  const { server } = door
  door.server = undefined
  if (server?.listening !== true) return
  return new Promise((resolve) => server.close(() => resolve()))
}

/** An address of version 4 as such. */
function plain(address = ''): string {
  return address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
}

function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
