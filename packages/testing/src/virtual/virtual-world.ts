import { checkKeys, show } from '../connection/fault.ts'
import { EnsembleModel } from '../ensemble-model.ts'
import { asFunction, checkDuration, ENSEMBLE_OPTIONS, type EnsembleOptions, integer } from '../options.ts'
import { WALL_START } from './clock.ts'
import { Network, PORT } from './network.ts'
import { Random } from './random.ts'
import { Resolver, type VirtualNames } from './resolver.ts'
import { ServerHost } from './server-host.ts'
import { SimProcess } from './sim-process.ts'
import { VirtualNetwork } from './virtual-network.ts'
import type { VirtualProcess, VirtualProcessOptions } from './virtual-process.ts'
import { type Wait, Waits } from './waits.ts'
import { World } from './world.ts'

/** Times are in ms. */
export interface VirtualWorldOptions extends EnsembleOptions {
  /** All random numbers of this world come from it: one seed gives one history. An integer, 0 or more. @default 1 */
  seed?: number | undefined
  /** The longest time between a process and a member, one way. The shortest is 0. @default 1 */
  clientLatency?: number | undefined
  /** The probability, from 0 to 1, that a segment between a process and a member arrives in several pieces. @default 0 */
  fragmentation?: number | undefined
  /** Names that processes can look up, with the members that each stands for. @default members have names only */
  names?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * How many microtask turns promises get after each event. Code that needs more goes on after the next event: later, but
   * still in the same order each time. @default 128
   */
  turns?: number | undefined
}

/** The ensemble of a virtual world, as a `TestEnsemble` shows it. */
export type VirtualEnsemble = Pick<
  EnsembleModel,
  'members' | 'network' | 'sessions' | 'nodes' | 'faults' | 'history' | 'leader' | 'isServing' | 'member'
>

/** The options that an ensemble does not have. */
export const WORLD_OPTIONS = ['seed', 'clientLatency', 'fragmentation', 'names', 'turns']
/** Four times what the deepest chain of client and recipes may take: the user's code comes on top. */
const TURNS = 128
const MOST_TURNS = 100_000
/** How long a run may take, in ms. */
const HOUR = 3_600_000

/**
 * An ensemble, processes and a network in virtual time. Nothing takes real time. The same code with the same seed has the
 * same history on every machine.
 *
 *     const world = new VirtualWorld({ seed: 1, members: 3 })
 *     await world.run(async () => {
 *       const zk = await connect(world.connectString, { runtime: world.runtime })
 *       await world.elapse(30_000)
 *     })
 *
 * Time passes only while a `run` or an `elapse` is under way. It does not wait for anything outside of the world: real timers,
 * files, sockets, macrotasks. Code under test must use `now`, `setTimer` and `random` of a process.
 *
 * Throws a `TypeError` or a `RangeError` that says what would be right.
 */
export class VirtualWorld {
  /** All members, for `connect`. */
  readonly connectString: string
  /** The first process, for `connect`. */
  readonly runtime: VirtualProcess
  /** Its members, nodes, sessions, faults and history. */
  readonly ensemble: VirtualEnsemble
  /** The network between processes and members. */
  readonly network: VirtualNetwork
  /** Faults of look-ups of names. */
  readonly names: VirtualNames
  readonly #world: World
  readonly #dialer: Network
  readonly #resolver: Resolver
  readonly #processes: SimProcess[] = []
  readonly #seed: number
  readonly #waits: Waits

  constructor(options: VirtualWorldOptions = {}) {
    checkKeys('a virtual world', options, [...ENSEMBLE_OPTIONS, ...WORLD_OPTIONS])
    const { seed = 1, clientLatency = 1, fragmentation = 0, names = {}, turns = TURNS, ...ensembleOptions } = options
    integer('seed', seed, 0, Number.MAX_SAFE_INTEGER)
    checkDuration('clientLatency', clientLatency)
    if (!(fragmentation >= 0 && fragmentation <= 1)) {
      throw new RangeError(`fragmentation must be a number from 0 to 1, not ${show(fragmentation)}`)
    }
    integer('turns', turns, 1, MOST_TURNS)
    const elections = new Random(seed, 'elections')
    const { electionTime = () => elections.between(200, 250) } = ensembleOptions
    const usual = asFunction('electionTime', electionTime)
    let hasBegun = false
    const ensemble = new EnsembleModel({
      ...ensembleOptions,
      // As in `TestEnsemble`: a test is not about the first election.
      electionTime: () => (hasBegun ? usual() : 0),
      now: () => this.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    // The ensemble may settle promises, such as `fired` of a fault.
    const host = new ServerHost(ensemble, () => this.#world.enterCode())
    this.#seed = seed
    this.#world = new World(host, turns)
    this.#waits = new Waits(this.#world)
    this.#dialer = new Network(this.#world, new Random(seed, 'network'), {
      latency: clientLatency,
      cuts: fragmentation,
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

  /** True time, in ms since the world began. Processes have clocks of their own. */
  get now(): number {
    return this.#world.now
  }

  /** Adds a process, with clocks, random numbers and connections of its own. */
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
   * Runs `main`, and lets time pass until its promise is settled. Settles as that promise does. Rejects with an `Error` when
   * that takes longer than `timeout`, in ms of this world. It does not stop `main` then. Rejects with an error that a timer of
   * a process throws.
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
    let overdue: Wait | undefined
    const tooLong = new Promise<void>((resolve, reject) => {
      overdue = this.#waits.add(timeout, resolve, reject)
    })
    try {
      // In an async function, so that a `main` that throws rejects.
      return await Promise.race([
        (async () => main())() as Promise<Awaited<Result>>,
        tooLong.then(() => {
          throw new Error(
            `what runs is not over after ${timeout} ms of virtual time: it waits for ever, or for something that is not of ` +
              `this world, such as a real timer or a file`,
          )
        }),
      ])
    } finally {
      this.#waits.remove(overdue!)
    }
  }

  /**
   * Lets `duration` ms pass. Resolves when everything in this time has happened, its last ms included. It may be called inside
   * a `run` and without one. Rejects with an error that a timer of a process throws.
   */
  async elapse(duration: number): Promise<void> {
    checkDuration('duration', duration)
    await this.#waits.elapse(duration)
  }
}

/** The name of a member is its host name. */
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
