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
  /** All chance in this world comes from it: one seed, one history. An integer from 0. @default 1 */
  seed?: number | undefined
  /** Longest time between a process and a member, one way; the shortest is 0. @default 1 */
  clientLatency?: number | undefined
  /** How likely what is sent between a process and a member arrives in several pieces, from 0 to 1. @default 0 */
  fragmentation?: number | undefined
  /** Names that processes can look up, with the members that each stands for. @default members have names only */
  names?: Readonly<Record<string, readonly string[]>> | undefined
  /**
   * Microtask turns that promises get after everything that happens. Code that needs more goes on behind the next
   * thing that happens: later, but still in the same order each time. @default 128
   */
  turns?: number | undefined
}

/** What is seen of the ensemble of a virtual world: as of a `TestEnsemble`. */
export type VirtualEnsemble = Pick<
  EnsembleModel,
  'members' | 'network' | 'sessions' | 'nodes' | 'faults' | 'history' | 'leader' | 'isServing' | 'member'
>

/** Those that an ensemble does not have. */
export const WORLD_OPTIONS = ['seed', 'clientLatency', 'fragmentation', 'names', 'turns']
/** Four times what the deepest chain of client and recipes may take: there is code of the user's above them. */
const TURNS = 128
const MOST_TURNS = 100_000
/** What a run may take, in ms. */
const HOUR = 3_600_000

/**
 * An ensemble, and processes on a network with it, in a time of their own: nothing takes real time, and the same code with
 * the same seed has the same history, whatever the machine.
 *
 *     const world = new VirtualWorld({ seed: 1, members: 3 })
 *     await world.run(async () => {
 *       const zk = await connect(world.connectString, { runtime: world.runtime })
 *       await world.elapse(30_000)
 *     })
 *
 * Time passes only while a `run` or an `elapse` is under way. It does not wait for what is not of this world: real timers,
 * files, sockets, macrotasks. Code under test must take its time from a process: `now`, `setTimer`, `random`.
 *
 * Throws a `TypeError` or a `RangeError` that says what would be right.
 */
export class VirtualWorld {
  /** For `connect`: all members. */
  readonly connectString: string
  /** For `connect`: the first process. */
  readonly runtime: VirtualProcess
  /** Its members, nodes, sessions, faults and history. */
  readonly ensemble: VirtualEnsemble
  /** Between processes and members. */
  readonly network: VirtualNetwork
  /** What may befall look-ups of names. */
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
      // As `TestEnsemble` does: the first election is not what a test is about.
      electionTime: () => (hasBegun ? usual() : 0),
      now: () => this.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    // What the ensemble does may settle promises, such as `fired` of a fault.
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

  /** True time, in ms since the world began; processes have clocks of their own. */
  get now(): number {
    return this.#world.now
  }

  /** Another process, with clocks, chance and connections of its own. */
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
   * Runs `main`, and has time pass until its promise is settled: with what it resolves or rejects. Rejects with an `Error`
   * when that takes longer than `timeout`, in ms of this world; what runs is not stopped then. Rejects with what a timer
   * of a process throws.
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
      // Not in the middle of the caller: a `main` that throws rejects.
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
   * Has so many ms pass: resolves when all that happens in them has happened, that at their end included. It may be called
   * inside of a `run` and without one. Rejects with what a timer of a process throws.
   */
  async elapse(duration: number): Promise<void> {
    checkDuration('duration', duration)
    await this.#waits.elapse(duration)
  }
}

/** Members are found by their names, as hosts are. */
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
