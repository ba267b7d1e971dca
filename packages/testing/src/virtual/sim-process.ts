import type { ConnectionHandler, DialTarget, LookupHandler, RuntimeConnection } from './virtual-runtime.ts'
import type { VirtualProcess } from './virtual-process.ts'
import { checkDuration } from '../options.ts'
import { show } from '../connection/fault.ts'
import { Clock } from './clock.ts'
import type { Random } from './random.ts'
import type { Resolver } from './resolver.ts'
import type { World } from './world.ts'

/** Opens connections for a process. */
export interface Dialer {
  dial(process: SimProcess, target: DialTarget, handler: ConnectionHandler): RuntimeConnection
  killed(process: SimProcess, isMachineGone: boolean): void
}

export interface SimProcessOptions {
  readonly name: string
  readonly random: Pick<Random, 'next' | 'uuid'>
  readonly dialer: Dialer
  /** Looks up host names. @default the process has no `resolve`, and dials any host */
  readonly resolver?: Resolver | undefined
  /** The rate of its clocks: 1 if they are right. */
  readonly clockRate: number
  /** The shortest delay of its timers, in ms. @default 1, as in Node */
  readonly leastDelay?: number
}

/** What waits while a process is stopped. Afterwards it runs in this order, which is Node's. */
interface Backlog {
  readonly timers: (() => void)[]
  readonly arrived: (() => void)[]
}

type State =
  | { readonly name: 'running' }
  | { readonly name: 'stalled'; readonly backlog: Backlog; readonly cancelWake: () => void }
  | { readonly name: 'killed' }

/** One process of a client. Its code reaches the world only by the methods of `Runtime` below. */
export class SimProcess implements VirtualProcess {
  readonly name: string
  readonly clock: Clock
  readonly #world: World
  readonly #random: SimProcessOptions['random']
  readonly #dialer: Dialer
  readonly #leastDelay: number
  #state: State = { name: 'running' }
  #timers = 0

  constructor(world: World, { name, random, dialer, resolver, clockRate, leastDelay = 1 }: SimProcessOptions) {
    this.name = name
    this.clock = new Clock(clockRate)
    this.#world = world
    this.#random = random
    this.#dialer = dialer
    this.#leastDelay = leastDelay
    if (resolver === undefined) return
    this.resolve = (host, handler) => {
      world.activity++
      resolver.resolve(this, host, handler)
    }
  }

  // --- faults -------------------------------------------------------------------------------------------------------

  get isStalled(): boolean {
    return this.#state.name === 'stalled'
  }

  get isKilled(): boolean {
    return this.#state.name === 'killed'
  }

  /** The number of timers that are set. */
  get timers(): number {
    return this.#timers
  }

  /**
   * Stops the process: its event loop is blocked, it is stopped, or its machine is suspended. Afterwards its due timers
   * fire, late, and then it reads what has arrived, as Node does. Promises are drained after each step. At the end `onAwake`
   * is called.
   */
  stall(duration: number, onAwake: () => void = () => {}): void {
    checkDuration('duration', duration)
    if (this.#state.name !== 'running') return
    const backlog: Backlog = { timers: [], arrived: [] }
    const cancelWake = this.#world.after(duration, () => this.#wake(backlog, onAwake))
    this.#state = { name: 'stalled', backlog, cancelWake }
  }

  /** Ends the process: it receives nothing any more. */
  kill(what: 'process' | 'machine' = 'process'): void {
    if (what !== 'process' && what !== 'machine') {
      throw new TypeError(`what is killed must be 'process' or 'machine', not ${show(what)}`)
    }
    if (this.#state.name === 'stalled') this.#state.cancelWake()
    this.#state = { name: 'killed' }
    this.#dialer.killed(this, what === 'machine')
  }

  setWallClock(by: number): void {
    if (!Number.isFinite(by)) throw new RangeError(`by must be a number of ms, not ${show(by)}`)
    this.clock.wallOffset += by
  }

  /** Delivers something from the network. */
  arrive(action: () => void): void {
    switch (this.#state.name) {
      case 'running':
        this.#world.enterCode()
        return action()
      case 'stalled':
        this.#state.backlog.arrived.push(action)
        return
      case 'killed':
    }
  }

  /** Runs code of the process, such as its main program. */
  run(code: () => void): void {
    this.#world.enterCode()
    code()
  }

  #wake({ timers, arrived }: Backlog, onAwake: () => void): void {
    this.#state = { name: 'running' }
    for (const action of [...timers, ...arrived]) this.#world.at(this.#world.now, () => this.arrive(action))
    this.#world.at(this.#world.now, onAwake)
  }

  // --- Runtime ------------------------------------------------------------------------------------------------------

  now(): number {
    this.#world.activity++
    return this.clock.now(this.#world.now)
  }

  wallNow(): number {
    this.#world.activity++
    return this.clock.wallNow(this.#world.now)
  }

  /** Absent if the process has no resolver. */
  resolve?(host: string, handler: LookupHandler): void

  setTimer(delay: number, callback: () => void): () => void {
    this.#world.activity++
    // Timers have whole milliseconds, as in Node.
    const wait = this.clock.toTrue(Math.max(Math.ceil(delay), this.#leastDelay))
    let isSet = true
    this.#timers++
    const fire = () => {
      if (!isSet) return
      isSet = false
      this.#timers--
      callback()
    }
    const cancelEvent = this.#world.after(wait, () => this.#due(fire))
    return () => {
      this.#world.activity++
      if (!isSet) return
      isSet = false
      this.#timers--
      cancelEvent()
    }
  }

  random(): number {
    this.#world.activity++
    return this.#random.next()
  }

  uuid(): string {
    this.#world.activity++
    return this.#random.uuid()
  }

  dial(target: DialTarget, handler: ConnectionHandler): RuntimeConnection {
    this.#world.activity++
    return this.#dialer.dial(this, target, handler)
  }

  #due(fire: () => void): void {
    if (this.#state.name === 'stalled') this.#state.backlog.timers.push(fire)
    else this.arrive(fire)
  }
}
