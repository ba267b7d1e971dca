// What a scenario is played on: world, ensemble, network, processes.
import { EnsembleModel, type LoggedTxn } from '@zk/testing'
import {
  drain,
  WALL_START,
  TURNS,
  Network,
  type Observer,
  Random,
  Resolver,
  ServerHost,
  SimProcess,
  type Witness,
  World,
} from '@zk/testing/internal'
import type { SentEvent } from '../history/played.ts'
import type { Line, LookUp } from '../history/line.ts'
import { shortenedUnnoticed } from '../history/shortened.ts'
import { Recorder } from '../history/recorder.ts'
import { workloadOf } from '../recipes/index.ts'
import type { EnsemblePlan, Scenario } from '../scenario/scenario.ts'
import type { Client, Target } from '../strikes/index.ts'
import { CLOSED, namesOf, SILENT } from './addresses.ts'
import { Commits } from './commits.ts'
import { Operator } from './operator.ts'
import type { PlayContext } from './participant.ts'
import { PATH } from './paths.ts'
import { SASL_USERS } from './sasl-user.ts'
import { FencedResource } from './resource.ts'

export interface StageOptions {
  /** Sees every segment. */
  readonly observer?: Observer | undefined
  readonly witness?: Witness | undefined
  /** The number of microtask turns after an event. @default TURNS */
  readonly turns?: number | undefined
}

export class Stage implements Target, PlayContext {
  readonly world: World
  readonly model: EnsembleModel
  readonly network: Network
  readonly resolver: Resolver | undefined
  readonly hosts: readonly string[]
  readonly recorder: Recorder
  readonly operator: Operator
  readonly clients: readonly Client[]
  readonly resource = new FencedResource()
  readonly lines: Line[] = []
  readonly lookUps: LookUp[] = []
  readonly #commits: Commits

  constructor(scenario: Scenario, { observer, witness, turns = TURNS }: StageOptions) {
    const { seed, ensemble, network, clients } = scenario
    const members = Array.from({ length: ensemble.members }, (_, index) => `zk${index + 1}`)
    const latencies = new Random(seed, 'latency')
    const model = new EnsembleModel({
      members,
      tickTime: ensemble.tickTime,
      syncLimit: ensemble.syncLimit,
      memberOptions: limitsOf(members, ensemble),
      ...(ensemble.sasl !== undefined && { sasl: { users: SASL_USERS, required: ensemble.sasl === 'required' } }),
      release: ensemble.release ?? '3.8',
      ...(ensemble.juteMaxBuffer !== undefined && { juteMaxBuffer: ensemble.juteMaxBuffer }),
      latency: () => latencies.below(8 * ensemble.latency + 1) / 8,
      history: { entries: 100_000 },
      now: () => this.world.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    const host = new ServerHost(model, () => this.#commits.collect())
    this.model = model
    this.#commits = new Commits(model)
    this.world = new World(host, () => drain(turns), witness)
    this.network = new Network(this.world, new Random(seed, 'network'), network, observer)
    const names = namesOf(network, members)
    this.hosts = [...(names?.keys() ?? members)]
    // Addresses need no name server. Here each is its own name.
    const addresses = [...members, CLOSED, SILENT].map((each): [string, readonly string[]] => [each, [each]])
    this.resolver =
      names &&
      new Resolver(this.world, new Random(seed, 'look-ups'), {
        latency: network.latency,
        names: new Map([...names, ...addresses]),
      })
    this.recorder = new Recorder(this.world)
    if (network.answers !== undefined) model.faults.delayReply({ ms: network.answers, times: Infinity })
    this.operator = new Operator(model, this.recorder, workloadOf(scenario).paths)
    for (const name of members) host.listen(this.network, name, () => this.world.now)
    this.clients = clients.map((_, index) => this.#client(scenario, index))
  }

  #client(scenario: Scenario, client: number): Client {
    const { seed, clients } = scenario
    const plan = clients[client]!
    const process = new SimProcess(this.world, {
      name: `10.0.0.${client + 1}`,
      random: new Random(seed, `client ${client}`),
      dialer: this.network,
      resolver: this.resolver,
      clockRate: plan.clockRate,
    })
    this.network.hold(process, SILENT, { up: true, down: true })
    this.resolver?.slow(process, scenario.network.lookUp ?? 0)
    const program = workloadOf(scenario).play({ scenario, plan, client, runtime: process }, this)
    return { process, program }
  }

  get connectString(): string {
    return this.hosts.map((host) => `${host}:2181`).join()
  }

  /** Something unexpected went wrong. */
  readonly fail = (what: string): void => {
    this.recorder.add({ type: 'unexpected', what })
  }

  /** Everything the ensemble committed, in order. */
  get committed(): readonly LoggedTxn[] {
    return this.#commits.log
  }

  /** Sessions whose timeout was shortened by a handshake, and whose client learned it too late. */
  get shortened(): ReadonlySet<bigint> {
    return shortenedUnnoticed(this.model.history.entries)
  }

  /** Events about contenders' nodes. */
  get events(): SentEvent[] {
    const events = this.model.history.events({ path: PATH })
    return events.flatMap(({ at, session, message }) =>
      message.type === 'event' ? [{ at, session, path: message.event.path ?? '' }] : [],
    )
  }
}

/** The longest session timeout of each member. */
function limitsOf(members: readonly string[], { longestTimeouts = [] }: EnsemblePlan) {
  const limited = members.flatMap((name, index): [string, { readonly maxSessionTimeout: number }][] => {
    const maxSessionTimeout = longestTimeouts[index] ?? 0
    return maxSessionTimeout === 0 ? [] : [[name, { maxSessionTimeout }]]
  })
  return Object.fromEntries(limited)
}
