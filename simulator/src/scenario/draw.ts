// A scenario from a seed.
import { Random } from '../world/random.ts'
import { DrawnCalls } from './draw-calls.ts'
import { callFaultyOps, type FaultType, faultyOps } from './fault.ts'
import { everyFault, everyFaultOfCalls, faultKinds, type Shape } from './fault-kinds.ts'
import {
  type ClientPlan,
  type Kind,
  type RecipeName,
  recipes,
  type Scenario,
  type ScheduledFault,
  type Task,
  type Workload,
} from './scenario.ts'

export interface DrawOptions {
  readonly seed: number
  /** @default a recipe, drawn */
  readonly recipe?: Workload | undefined
  /** @default 3 */
  readonly clients?: number | undefined
  /** @default 3 */
  readonly members?: number | undefined
  /** What may be drawn. @default all that the recipes, or the client, promise to survive */
  readonly faults?: readonly FaultType[] | undefined
}

/** Swarm: how many types of fault one seed draws from. */
const MOST_TYPES = 6
const MOST_FAULTS = 8

export function draw({ seed, recipe, clients = 3, members = 3, faults }: DrawOptions): Scenario {
  const random = new Random(seed, 'scenario')
  const drawnRecipe = recipe ?? random.one(recipes)
  const tickTime = random.one([500, 500, 1_000, 2_000])
  const ensemble = { members, tickTime, syncLimit: 5, latency: random.one([0, 1, 5, 20]) }
  const sessionTimeout = random.one([2, 2, 3, 5]) * tickTime
  const isOfCalls = drawnRecipe === 'ZooKeeper'
  const shape = { clients, ensemble, sessionTimeout, ops: isOfCalls ? callFaultyOps : faultyOps }
  const calls = new DrawnCalls(random, sessionTimeout)
  const terms = new Random(seed, 'hold options')
  const drawOne = () =>
    isOfCalls
      ? drawCaller(random, calls)
      : { ...drawClient(random, drawnRecipe, sessionTimeout), ...drawHoldOptions(terms) }
  return {
    seed,
    recipe: drawnRecipe,
    ensemble,
    network: { latency: random.one([1, 5, 20, 20, 60]), cuts: random.one([0, 0.05, 0.3]) },
    sessionTimeout,
    clients: Array.from({ length: clients }, drawOne),
    faults: drawFaults(random, shape, faults ?? (isOfCalls ? everyFaultOfCalls : everyFault)),
  }
}

function drawCaller(random: Random, calls: DrawnCalls): ClientPlan {
  return { clockRate: drawRate(random), watches: false, workers: [], calls: calls.plan() }
}

const drawRate = (random: Random) => random.one([1, 1, 0.99, 1.01, 0.995, 1.005])

function drawClient(random: Random, recipe: RecipeName, sessionTimeout: number): ClientPlan {
  const workers = random.chance(0.2) ? 2 : 1
  const tasks = () => Array.from({ length: random.between(1, 3) }, () => drawTask(random, recipe, sessionTimeout))
  return {
    clockRate: drawRate(random),
    watches: random.chance(0.15),
    workers: Array.from({ length: workers }, tasks),
  }
}

function drawHoldOptions(random: Random): Pick<ClientPlan, 'holdOptions'> {
  return random.chance(0.1) ? { holdOptions: { heldWhile: random.one(['connected', 'sessionAlive']) } } : {}
}

function drawTask(random: Random, recipe: RecipeName, sessionTimeout: number): Task {
  const how = random.one(ways[recipe])
  const kind = random.one(kinds[recipe])
  const hold = () =>
    Array.from({ length: random.between(0, 3) }, () => random.below(random.one([10, 100, sessionTimeout])))
  return {
    kind,
    how,
    after: random.below(random.one([1, 50, 500, 2_000])),
    ...(how !== 'tryAcquire' && how !== 'terms' && random.chance(0.2) && { timeout: random.below(3_000) }),
    ...(random.chance(0.2) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
    hold: hold(),
    writes: random.one(['guarded', 'fenced', 'both']),
    ...(kind === 'write' && how !== 'run' && random.chance(0.4) && { downgrade: hold() }),
  }
}

const ways: Readonly<Record<RecipeName, readonly Task['how'][]>> = {
  Lock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  SharedLock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  LeaderElection: ['acquire', 'terms'],
}

const kinds: Readonly<Record<RecipeName, readonly Kind[]>> = {
  Lock: ['exclusive'],
  SharedLock: ['read', 'write'],
  LeaderElection: ['exclusive'],
}

function drawFaults(random: Random, shape: Shape, types: readonly FaultType[]): ScheduledFault[] {
  if (types.length === 0) return []
  const drawnTypes = Array.from({ length: random.between(1, MOST_TYPES) }, () => random.one(types))
  const storm = random.one([500, 2_000, 2_000, 5_000])
  const faults = Array.from({ length: random.between(0, MOST_FAULTS) }, () => ({
    at: random.below(storm),
    fault: faultKinds[random.one(drawnTypes)].draw(random, shape),
  }))
  return faults.sort((one, other) => one.at - other.at)
}
