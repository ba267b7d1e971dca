// Finds a smaller scenario that fails in the same way (delta debugging).
import type { Call, CallPlan, Turn } from './calls.ts'
import type { MemberPlan } from './group.ts'
import type { TreeWrite } from './mirror.ts'
import type { ClientPlan, EnsemblePlan, Scenario, Task } from './scenario.ts'

/** Whether the scenario still fails. */
export type StillFails = (scenario: Scenario) => Promise<boolean>

/** Leaves out faults, then tasks, then parts of tasks, as long as the scenario still fails. */
export async function shrink(scenario: Scenario, stillFails: StillFails): Promise<Scenario> {
  let smallest = scenario
  for (;;) {
    const before = smallest
    for (const step of steps) smallest = await step(smallest, stillFails)
    if (smallest === before) return smallest
  }
}

type Step = (scenario: Scenario, stillFails: StillFails) => Promise<Scenario>

const withoutFaults: Step = async (scenario, stillFails) => {
  const faults = await fewest(scenario.faults, (fewer) => stillFails({ ...scenario, faults: fewer }))
  return faults === scenario.faults ? scenario : { ...scenario, faults }
}

const withoutTasks: Step = async (scenario, stillFails) => {
  const all = placesOf(scenario)
  const places = await fewest(all, (fewer) => stillFails(withOnly(scenario, fewer)))
  return places === all ? scenario : withOnly(scenario, places)
}

const withoutCalls: Step = async (scenario, stillFails) => {
  const all = scenario.clients.flatMap(({ calls }) => calls?.turns.flatMap(({ calls }) => calls) ?? [])
  const left = await fewest(all, (fewer) => stillFails(withOnlyCalls(scenario, fewer)))
  return left === all ? scenario : withOnlyCalls(scenario, left)
}

const withoutLives: Step = async (scenario, stillFails) => {
  const all = scenario.clients.flatMap(({ group }) => group?.lists.flat() ?? [])
  const only = (kept: readonly MemberPlan[]) =>
    eachClient(scenario, ({ group, ...client }) => ({
      ...client,
      ...(group && {
        group: { ...group, lists: group.lists.map((lives) => lives.filter((life) => kept.includes(life))) },
      }),
    }))
  const left = await fewest(all, (fewer) => stillFails(only(fewer)))
  return left === all ? scenario : only(left)
}

const withoutWrites: Step = async (scenario, stillFails) => {
  const all = scenario.clients.flatMap(({ mirror }) => mirror?.lists.flat() ?? [])
  const only = (kept: readonly TreeWrite[]) =>
    eachClient(scenario, ({ mirror, ...client }) => ({
      ...client,
      ...(mirror && {
        mirror: { ...mirror, lists: mirror.lists.map((writes) => writes.filter((write) => kept.includes(write))) },
      }),
    }))
  const left = await fewest(all, (fewer) => stillFails(only(fewer)))
  return left === all ? scenario : only(left)
}

const withoutSteps: Step = async (scenario, stillFails) => {
  const all = scenario.clients.flatMap(({ steps = [] }) => steps.flat())
  const withOnlySteps = (left: readonly unknown[]) =>
    eachClient(scenario, ({ steps, ...client }) =>
      steps === undefined
        ? client
        : { ...client, steps: steps.map((each) => each.filter((step) => left.includes(step))) },
    )
  const left = await fewest(all, (fewer) => stillFails(withOnlySteps(fewer)))
  return left.length === all.length ? scenario : withOnlySteps(left)
}

/** Tries one simplification after the other. Each is kept if the scenario still fails. */
const simpler: Step = async (scenario, stillFails) => {
  let simplest = scenario
  for (const simplify of simplifications) {
    const candidate = simplify(simplest)
    const isSimpler = JSON.stringify(candidate) !== JSON.stringify(simplest)
    if (isSimpler && (await stillFails(candidate))) simplest = candidate
  }
  return simplest
}

const steps: readonly Step[] = [
  withoutFaults,
  withoutTasks,
  withoutCalls,
  withoutSteps,
  withoutLives,
  withoutWrites,
  simpler,
]

const simplifications: readonly ((scenario: Scenario) => Scenario)[] = [
  (scenario) => ({ ...scenario, network: { ...scenario.network, cuts: 0 } }),
  ({ network: { resets: _, answers: __, ...network }, ...scenario }) => ({ ...scenario, network }),
  (scenario) => eachClient(scenario, (client) => ({ ...client, clockRate: 1 })),
  (scenario) => eachClient(scenario, (client) => ({ ...client, watches: false })),
  (scenario) => ({ ...scenario, ensemble: withoutLimits(scenario.ensemble) }),
  withoutSasl,
  withoutNames,
  (scenario) => eachClient(scenario, ({ handOvers: _, ...client }) => client),
  (scenario) => eachClient(scenario, ({ refreshesEvery: _, ...client }) => client),
  (scenario) => eachClient(scenario, ({ follows: _, ...client }) => client),
  (scenario) => eachTask(scenario, ({ label: _, ...task }) => task),
  (scenario) => eachCall(scenario, ({ bytes: _, ...call }) => call),
  (scenario) => eachTask(scenario, ({ holdOptions: _, ...task }) => task),
  (scenario) => eachTask(scenario, ({ timeout: _, ...task }) => task),
  (scenario) => eachTask(scenario, ({ abortAfter: _, ...task }) => task),
  (scenario) => eachTask(scenario, ({ downgrade: _, ...task }) => task),
  (scenario) => eachTask(scenario, (task) => (task.how === 'run' ? { ...task, how: 'acquire' } : task)),
  (scenario) => eachTask(scenario, (task) => ({ ...task, writes: 'fenced' })),
  (scenario) => eachPlan(scenario, withoutFlowLimits),
  (scenario) => eachPlan(scenario, (plan) => ({ ...plan, hasCredential: false })),
  (scenario) => eachTurn(scenario, ({ renews: _, ...turn }) => turn),
  (scenario) => eachPlan(scenario, withoutEmptyTurns),
  (scenario) => eachTurn(scenario, ({ abortAfter: _, ...turn }) => turn),
  (scenario) => eachCall(scenario, ({ timeout: _, ...call }) => call),
  (scenario) => eachCall(scenario, ({ pinned: _, ...call }) => call),
  (scenario) => eachCall(scenario, ({ leavesAfter: _, ...call }) => call),
]

/** The items of which none can be left out: halves are tried first, then smaller parts. The same list when all are needed. */
async function fewest<T>(
  all: readonly T[],
  stillFails: (fewer: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  let left = all
  for (let size = Math.ceil(all.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let from = 0; from < left.length;) {
      const fewer = [...left.slice(0, from), ...left.slice(from + size)]
      if (await stillFails(fewer)) left = fewer
      else from += size
    }
  }
  return left
}

interface Place {
  readonly client: number
  readonly worker: number
  readonly task: number
}

function placesOf({ clients }: Scenario): Place[] {
  return clients.flatMap(({ workers }, client) =>
    workers.flatMap((tasks, worker) => tasks.map((_, task) => ({ client, worker, task }))),
  )
}

function withOnly(scenario: Scenario, places: readonly Place[]): Scenario {
  const isKept = (client: number, worker: number, task: number) =>
    places.some((place) => place.client === client && place.worker === worker && place.task === task)
  const clients = scenario.clients.map((plan, client) => ({
    ...plan,
    workers: plan.workers.map((tasks, worker) => tasks.filter((_, task) => isKept(client, worker, task))),
  }))
  return { ...scenario, clients }
}

function withOnlyCalls(scenario: Scenario, kept: readonly Call[]): Scenario {
  const fewer = eachTurn(scenario, ({ calls, ...turn }) => ({
    ...turn,
    calls: calls.filter((call) => kept.includes(call)),
  }))
  return eachPlan(fewer, withoutEmptyTurns)
}

function withoutLimits({ longestTimeouts: _, juteMaxBuffer: __, ...ensemble }: EnsemblePlan): EnsemblePlan {
  return ensemble
}

function withoutSasl(scenario: Scenario): Scenario {
  const { sasl: _, ...ensemble } = scenario.ensemble
  return eachClient({ ...scenario, ensemble }, ({ usesSasl: _, ...client }) => client)
}

function withoutNames(scenario: Scenario): Scenario {
  const { names: _, lookUp: __, ...network } = scenario.network
  return { ...scenario, network }
}

function withoutFlowLimits(plan: CallPlan): CallPlan {
  const { maxWaiting: _, maxInFlight: __, maxWaitingBytes: ___, maxInFlightBytes: ____, ...rest } = plan
  return rest
}

/** A turn without calls stays if something else happens in it. */
function withoutEmptyTurns({ turns, ...plan }: CallPlan): CallPlan {
  return { ...plan, turns: turns.filter(({ calls, renews }) => calls.length > 0 || renews) }
}

function eachPlan(scenario: Scenario, change: (plan: CallPlan) => CallPlan): Scenario {
  return eachClient(scenario, (client) =>
    client.calls === undefined ? client : { ...client, calls: change(client.calls) },
  )
}

function eachTurn(scenario: Scenario, change: (turn: Turn) => Turn): Scenario {
  return eachPlan(scenario, (plan) => ({ ...plan, turns: plan.turns.map(change) }))
}

function eachCall(scenario: Scenario, change: (call: Call) => Call): Scenario {
  return eachTurn(scenario, (turn) => ({ ...turn, calls: turn.calls.map(change) }))
}

function eachClient(scenario: Scenario, change: (client: ClientPlan) => ClientPlan): Scenario {
  return { ...scenario, clients: scenario.clients.map(change) }
}

function eachTask(scenario: Scenario, change: (task: Task) => Task): Scenario {
  return eachClient(scenario, (client) => ({ ...client, workers: client.workers.map((tasks) => tasks.map(change)) }))
}
