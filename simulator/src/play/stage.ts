// The surroundings of a scenario: world, ensemble, network, processes.
import { EnsembleModel, type LoggedTxn } from '@zk/testing'
import {
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
import type { EnsemblePlan, Scenario, Workload } from '../scenario/scenario.ts'
import type { Client, Target } from '../strikes/index.ts'
import { wiretap } from '../history/wiretap.ts'
import { namesOf, SILENT } from './addresses.ts'
import { Commits } from './commits.ts'
import { Operator } from './operator.ts'
import { foldersOf, PATH } from './paths.ts'
import { Caller } from './caller.ts'
import { GroupProgram } from './group-program.ts'
import { MirrorProgram } from './mirror-program.ts'
import type { Participant } from './participant.ts'
import { Program } from './program.ts'
import { SASL_USERS } from './sasl-user.ts'
import { FencedResource } from './resource.ts'

export interface StageOptions {
  /** Sees every segment. */
  readonly observer?: Observer | undefined
  readonly witness?: Witness | undefined
  /** The number of microtask turns after an event. @default TURNS */
  readonly turns?: number | undefined
}

export class Stage implements Target {
  readonly world: World
  readonly model: EnsembleModel
  readonly network: Network
  readonly resolver: Resolver | undefined
  readonly recorder: Recorder
  readonly operator: Operator
  readonly clients: readonly Client[]
  /** The connections of clients with plain calls. */
  readonly lines: Line[] = []
  /** Their look-ups. */
  readonly lookUps: LookUp[] = []
  readonly #commits: Commits
  readonly #resource = new FencedResource()

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
      ...(ensemble.version !== undefined && { version: ensemble.version }),
      latency: () => latencies.below(8 * ensemble.latency + 1) / 8,
      history: { entries: 100_000 },
      now: () => this.world.now,
      random: new Random(seed, 'ensemble').next,
      wallNow: (now) => WALL_START + Math.floor(now),
    })
    const host = new ServerHost(model, () => this.#commits.collect())
    this.model = model
    this.#commits = new Commits(model)
    this.world = new World(host, turns, witness)
    this.network = new Network(this.world, new Random(seed, 'network'), network, observer)
    const names = namesOf(network, members)
    this.resolver = names && new Resolver(this.world, new Random(seed, 'look-ups'), { latency: network.latency, names })
    this.recorder = new Recorder(this.world)
    this.operator = new Operator(model, this.recorder, foldersOf(scenario))
    for (const name of members) host.listen(this.network, name, () => this.world.now)
    this.clients = clients.map((_, index) => this.#client(scenario, index))
  }

  #client(scenario: Scenario, client: number): Client {
    const { seed, clients } = scenario
    const process = new SimProcess(this.world, {
      name: `10.0.0.${client + 1}`,
      random: new Random(seed, `client ${client}`),
      dialer: this.network,
      resolver: this.resolver,
      clockRate: clients[client]!.clockRate,
    })
    this.network.hold(process, SILENT, { up: true, down: true })
    const program =
      scenario.recipe === 'ZooKeeper'
        ? this.#caller(scenario, client, process)
        : scenario.recipe === 'Group'
          ? this.#member(scenario, client, process)
          : scenario.recipe === 'Mirror'
            ? this.#mirror(scenario, client, process)
            : this.#contender({ ...scenario, recipe: scenario.recipe }, client, process)
    return { process, program }
  }

  #member({ clients, sessionTimeout }: Scenario, client: number, runtime: SimProcess): Participant {
    const { recorder } = this
    const { usesSasl, group } = clients[client]!
    const connectString = this.#connectString
    return new GroupProgram({ client, runtime, connectString, sessionTimeout, usesSasl, plan: group!, recorder })
  }

  #mirror({ clients, sessionTimeout }: Scenario, client: number, runtime: SimProcess): Participant {
    const { recorder } = this
    const { usesSasl, mirror } = clients[client]!
    const connectString = this.#connectString
    return new MirrorProgram({ client, runtime, connectString, sessionTimeout, usesSasl, plan: mirror!, recorder })
  }

  #contender(
    {
      seed,
      clients,
      sessionTimeout,
      recipe,
      network,
      semaphore,
    }: Scenario & { readonly recipe: Exclude<Workload, 'ZooKeeper' | 'Group' | 'Mirror'> },
    client: number,
    runtime: SimProcess,
  ): Participant {
    const { world, recorder } = this
    const resource = this.#resource
    const underWay = new Random(seed, `outside ${client}`)
    return new Program({
      client,
      runtime,
      connectString: this.#connectString,
      sessionTimeout,
      recipe,
      plan: clients[client]!,
      semaphore,
      recorder,
      writeOutside: (attempt, kind, fence) => {
        world.after(underWay.below(network.latency * 4 + 1), () => {
          recorder.add({ type: 'fenced', attempt, kind, fence, isAccepted: resource.serve(kind, fence) })
        })
      },
    })
  }

  #caller({ clients, sessionTimeout }: Scenario, client: number, process: SimProcess): Participant {
    const { recorder, lines, lookUps } = this
    const { usesSasl = false, calls } = clients[client]!
    const moment = () => recorder.moment()
    return new Caller({
      client,
      runtime: process,
      tapped: (term) => wiretap(process, { client, usesSasl, lines, lookUps, moment, term }),
      connectString: this.#connectString,
      sessionTimeout,
      usesSasl,
      plan: calls!,
      note: (happening) => recorder.note(happening),
    })
  }

  get #connectString(): string {
    const hosts = this.resolver?.names ?? this.model.members.map(({ name }) => name)
    return hosts.map((host) => `${host}:2181`).join()
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
