import { checkKeys, show } from '../connection/fault.ts'
import { EnsembleModel } from '../ensemble-model.ts'
import { asFunction, checkDuration, ENSEMBLE_OPTIONS, type EnsembleOptions, integer } from '../options.ts'
import { WALL_START } from './clock.ts'
import { drain } from './drain.ts'
import { Network, PORT } from './network.ts'
import { Random } from './random.ts'
import { Resolver, type VirtualNames } from './resolver.ts'
import { ServerHost } from './server-host.ts'
import { SimProcess } from './sim-process.ts'
import { VirtualNetwork } from './virtual-network.ts'
import type { VirtualProcess, VirtualProcessOptions } from './virtual-process.ts'
import { outsideWork, unfinished } from './unfinished.ts'
import { type Wait, Waits } from './waits.ts'
import { World } from './world.ts'

/** The options of a world. Times are in ms. */
export interface VirtualWorldOptions extends EnsembleOptions {
  /** The seed of all random numbers. The same seed gives the same history. An integer, 0 or more. @default 1 */
  seed?: number | undefined
  /** The longest time of a segment between a process and a member, in one direction. The shortest is 0. @default 1 */
  clientLatency?: number | undefined
  /** The probability, from 0 to 1, that a segment between a process and a member arrives in several pieces. @default 0 */
  fragmentation?: number | undefined
  /**
   * The probability, from 0 to 1, that a process gets a reset when a member closes its connection, and loses what is still
   * under way. Sockets do so when a server closes before it has read everything, as it does at a request above
   * `juteMaxBuffer`.
   * @default 0
   */
  resets?: number | undefined
  /** Further names that processes can look up, each with its members. @default only the names of members */
  names?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * How many microtask turns promises get after each event. Code that needs more turns continues after the next event: that is
   * later, but the order is still the same in each run. @default 128
   */
  turns?: number | undefined
}

/** The ensemble of a virtual world, as a `TestEnsemble` shows it. */
export type VirtualEnsemble = Pick<
  EnsembleModel,
  'members' | 'network' | 'sessions' | 'nodes' | 'faults' | 'history' | 'leader' | 'isServing' | 'member'
>

/** The options that only a world has. */
export const WORLD_OPTIONS = ['seed', 'clientLatency', 'fragmentation', 'resets', 'names', 'turns']
/** Four times what the deepest chain of client and recipes may take, because the user's own code needs turns, too. */
const TURNS = 128
const MOST_TURNS = 100_000
/** The longest time of a `run`, in ms. */
const HOUR = 3_600_000

/**
 * An ensemble, processes and a network in virtual time. Nothing takes real time. The same code with the same seed has the
 * same history on every machine.
 *
 *     const world = new VirtualWorld({ seed: 1, members: 3 })
 *     await world.run(async () => {
 *       const zk = await connect(world.connectString, { runtime: world.runtime })
 *       await sleep(zk.runtime, 30_000)
 *     })
 *
 * Time passes only while a `run` or an `elapse` is under way. The world does not wait for anything outside: real timers,
 * files, sockets, macrotasks. Code under test must use `now`, `setTimer` and `random` of a process: `sleep` of `@zk/client`, with
 * the runtime of the client, waits in virtual time.
 *
 * A wrong argument throws a `TypeError` or a `RangeError` that says what would be right.
 */
export class VirtualWorld {
  /** The addresses of all members, for `connect`. */
  readonly connectString: string
  /** The first process, for `connect`. */
  readonly runtime: VirtualProcess
  /** The members, nodes, sessions, faults and history. */
  readonly ensemble: VirtualEnsemble
  /** The network between processes and members. */
  readonly network: VirtualNetwork
  /** Faults in the look-ups of names. */
  readonly names: VirtualNames
  readonly #world: World
  readonly #dialer: Network
  readonly #resolver: Resolver
  readonly #processes: SimProcess[] = []
  readonly #seed: number
  readonly #waits: Waits

  constructor(options: VirtualWorldOptions = {}) {
    checkKeys('a virtual world', options, [...ENSEMBLE_OPTIONS, ...WORLD_OPTIONS])
    const { seed = 1, clientLatency = 1, fragmentation = 0, resets = 0, ...others } = options
    const { names = {}, turns = TURNS, ...ensembleOptions } = others
    integer('seed', seed, 0, Number.MAX_SAFE_INTEGER)
    checkDuration('clientLatency', clientLatency)
    for (const [option, probability] of Object.entries({ fragmentation, resets })) {
      if (!(probability >= 0 && probability <= 1)) {
        throw new RangeError(`${option} must be a number from 0 to 1, not ${show(probability)}`)
      }
    }
    integer('turns', turns, 1, MOST_TURNS)
    const elections = new Random(seed, 'elections')
    const { electionTime = () => elections.between(200, 250) } = ensembleOptions
    const usual = asFunction('electionTime', electionTime)
    let hasBegun = false
    const ensemble = new EnsembleModel({
      ...ensembleOptions,
      // As in `TestEnsemble` the first election takes no time.
      electionTime: () => (hasBegun ? usual() : 0),
      now: () => this.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    // A call of the ensemble may settle promises, such as `fired` of a fault.
    const host = new ServerHost(ensemble, () => this.#world.enterCode())
    this.#seed = seed
    this.#world = new World(host, () => drain(turns))
    this.#waits = new Waits(this.#world)
    this.#dialer = new Network(this.#world, new Random(seed, 'network'), {
      latency: clientLatency,
      cuts: fragmentation,
      resets,
    })
    const members = ensemble.members.map(({ name }) => name)
    for (const member of ensemble.members) {
      checkHost(member.name)
      member.address = `${member.name}:${PORT}`
      host.listen(this.#dialer, member.name, () => this.now)
    }
    this.#resolver = new Resolver(this.#world, new Random(seed, 'look-ups'), {
      latency: clientLatency,
      names: namesOf(members, names),
      processes: this.#processes,
    })
    host.elapse(0)
    hasBegun = true
    this.connectString = ensemble.members.map(({ address }) => address).join(',')
    this.ensemble = ensemble
    this.network = new VirtualNetwork(this.#dialer, this.#processes, members)
    this.names = this.#resolver
    this.runtime = this.addProcess()
  }

  /** The time since the world began, in ms. Clocks of processes may differ from it. */
  get now(): number {
    return this.#world.now
  }

  /** For logs. The history of the ensemble has its own. */
  toJSON(): object {
    const { now, connectString } = this
    return { now, connectString, members: this.ensemble.members }
  }

  /** Adds a process, which has its own clocks, random numbers and connections. */
  addProcess(options: VirtualProcessOptions = {}): VirtualProcess {
    checkKeys('a process', options, ['clockRate'])
    const { clockRate = 1 } = options
    if (!(clockRate > 0 && clockRate < Infinity)) {
      throw new RangeError(`clockRate must be a number above 0, such as 1.01, not ${show(clockRate)}`)
    }
    const number = this.#processes.length + 1
    const process = new SimProcess(this.#world, {
      name: `10.0.${number >> 8}.${number & 255}`,
      random: new Random(this.#seed, `process ${number}`),
      dialer: this.#dialer,
      resolver: this.#resolver,
      clockRate,
    })
    this.#processes.push(process)
    return process
  }

  /**
   * Runs `main`, and lets time pass until its promise is settled. Settles like that promise. Rejects with an `Error` after
   * `timeout` ms of this world, but does not stop `main` then. Also rejects with an error that a timer of a process throws.
   *
   * @param options.timeout default: an hour
   */
  async run<Result>(
    main: () => Result | PromiseLike<Result>,
    options: { readonly timeout?: number | undefined } = {},
  ): Promise<Awaited<Result>> {
    checkKeys('run', options, ['timeout'])
    const { timeout = HOUR } = options
    checkDuration('timeout', timeout)
    const outside = outsideWork()
    let overdue: Wait | undefined
    const tooLong = new Promise<void>((resolve, reject) => {
      overdue = this.#waits.add(timeout, resolve, reject)
    })
    try {
      // An async function, so that the promise rejects if `main` throws.
      return await Promise.race([
        (async () => main())() as Promise<Awaited<Result>>,
        tooLong.then(() => {
          throw unfinished(timeout, outside)
        }),
      ])
    } finally {
      this.#waits.remove(overdue!)
    }
  }

  /**
   * Lets `duration` ms pass. Resolves when everything in this time has happened, including its last ms. It may be called
   * inside a `run` or without one. Rejects with an error that a timer of a process throws.
   */
  async elapse(duration: number): Promise<void> {
    checkDuration('duration', duration)
    await this.#waits.elapse(duration)
  }
}

/** The name of a member is its host name, so it must be a valid one. */
function checkHost(name: string): void {
  if (!/^[\w.-]+$/.test(name)) throw new TypeError(`members: ${show(name)} cannot be the name of a host`)
}

function namesOf(members: readonly string[], names: Readonly<Record<string, readonly string[]>>) {
  if (typeof names !== 'object' || names === null) throw new TypeError(`names must be an object, not ${show(names)}`)
  for (const [name, addresses] of Object.entries(names)) {
    if (!Array.isArray(addresses) || addresses.length === 0 || addresses.some((each) => !members.includes(each))) {
      throw new RangeError(`names.${name} must be a list of members: of ${members.join(', ')}`)
    }
  }
  return new Map([
    ...members.map((member): [string, readonly string[]] => [member, [member]]),
    ...Object.entries(names),
  ])
}
