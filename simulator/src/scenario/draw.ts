// Draws a scenario from a seed.
import { Random } from '@zk/testing/internal'
import { DrawnCalls } from './draw-calls.ts'
import { callFaultyOps, type FaultType, faultyOps } from './fault.ts'
import { everyFault, everyFaultOfCalls, everyFaultOfSteps, faultKinds, ofNames, type Shape } from './fault-kinds.ts'
import { drawGroup } from './group.ts'
import { drawLocks, drawNested } from './locks.ts'
import { drawMirror } from './mirror.ts'
import {
  type ClientPlan,
  type EnsemblePlan,
  type HandOver,
  kinds,
  type NetworkPlan,
  type RecipeName,
  recipes,
  type Scenario,
  type ScheduledFault,
  type Task,
  type Workload,
} from './scenario.ts'
import { drawPermitTask, drawSemaphore } from './semaphore.ts'
import { DrawnSteps, stepped, type SteppedRecipe } from './steps.ts'
import { themes } from './themes.ts'

export interface DrawOptions {
  readonly seed: number
  /** The recipe. @default one that is drawn */
  readonly recipe?: Workload | undefined
  /** @default 3 */
  readonly clients?: number | undefined
  /** @default 3 */
  readonly members?: number | undefined
  /** The faults that may be drawn. @default all that the recipes, or the client, promise to survive */
  readonly faults?: readonly FaultType[] | undefined
}

/** How many types of fault one seed draws from (swarm testing). */
const MOST_TYPES = 6
const MOST_FAULTS = 8

export function draw({ seed, recipe, clients = 3, members = 3, faults }: DrawOptions): Scenario {
  const random = new Random(seed, 'scenario')
  const drawnRecipe = recipe ?? random.one(recipes)
  const tickTime = random.one([500, 500, 1_000, 2_000])
  const sessionTimeout = random.one([2, 2, 3, 5]) * tickTime
  const isOfCalls = drawnRecipe === 'ZooKeeper'
  const calls = new DrawnCalls(random, sessionTimeout)
  const steps = new DrawnSteps(random, sessionTimeout)
  const manners = new Random(seed, 'manners')
  const identities = new Random(seed, 'identities')
  const ensemble = {
    members,
    tickTime,
    syncLimit: manners.one([5, 5, 10]),
    latency: random.one([0, 1, 5, 20]),
    ...(!isOfCalls && drawLimits(manners, members, tickTime)),
    ...drawSasl(identities),
    ...(drawnRecipe === 'Mirror' && new Random(seed, 'version').chance(0.3) && { version: '3.5' as const }),
  }
  const latency = random.one([1, 5, 20, 20, 60])
  const cuts = random.one([0, 0.05, 0.3])
  const isCrowd = manners.chance(0.25)
  const drawGroupClient = (client: number): ClientPlan => {
    const group = drawGroup(new Random(seed, `group ${client}`), client, sessionTimeout)
    return { clockRate: drawRate(random), watches: false, workers: [], group }
  }
  const drawMirrorClient = (client: number): ClientPlan => {
    const mirror = drawMirror(new Random(seed, `mirror ${client}`), sessionTimeout)
    return { clockRate: drawRate(random), watches: false, workers: [], mirror }
  }
  const drawOne = (_: unknown, client: number) =>
    drawnRecipe === 'Group'
      ? drawGroupClient(client)
      : drawnRecipe === 'Mirror'
        ? drawMirrorClient(client)
        : isOfCalls
          ? drawCaller(random, calls)
          : isStepped(drawnRecipe)
            ? drawStepper({ random, manners }, drawnRecipe, steps, tickTime)
            : drawClient({ random, manners, isCrowd }, drawnRecipe, ensemble, sessionTimeout)
  const plans = Array.from({ length: clients }, drawOne).map((plan) => withSasl(plan, identities, ensemble))
  const permits = new Random(seed, 'semaphore')
  const semaphore = drawnRecipe === 'Semaphore' ? drawSemaphore(permits) : undefined
  const locks = new Random(seed, 'locks')
  const handOvers = plans.flatMap((plan) => plan.handOvers ?? [])
  const sessionTimeouts = [sessionTimeout, ...handOvers.map((each) => each.sessionTimeout)]
  const ops = [
    ...(isOfCalls || drawnRecipe === 'Group' || drawnRecipe === 'Mirror' ? callFaultyOps : faultyOps),
    ...(ensemble.sasl === undefined ? [] : (['sasl'] as const)),
  ]
  const shape = { clients, ensemble, sessionTimeouts, ops }
  const mix = faults === undefined ? drawMix(random, shape, everyFaultOf(drawnRecipe)) : { types: faults, shape }
  const drawn = drawFaults(random, mix)
  return {
    seed,
    recipe: drawnRecipe,
    ensemble,
    network: {
      // A whole handshake with SASL takes four round trips, and fits into an attempt.
      latency: ensemble.sasl === undefined ? latency : Math.min(latency, 20),
      cuts,
      ...drawNames(new Random(seed, 'names'), drawn),
    },
    sessionTimeout,
    clients:
      semaphore !== undefined
        ? plans.map((plan) => withEach(plan, () => drawPermitTask(permits, semaphore)))
        : drawnRecipe === 'MultiLock'
          ? plans.map((plan) => withEach(plan, () => drawLocks(locks)))
          : drawnRecipe === 'NestedLocks'
            ? plans.map((plan) => withEach(withoutTimeouts(plan), () => drawNested(locks)))
            : plans,
    faults: drawn,
    ...(semaphore && { semaphore }),
  }
}

function isStepped(recipe: Workload): recipe is SteppedRecipe {
  return stepped.some((each) => each === recipe)
}

function everyFaultOf(recipe: Workload): readonly FaultType[] {
  if (recipe === 'ZooKeeper') return everyFaultOfCalls
  return isStepped(recipe) ? everyFaultOfSteps : everyFault
}

function drawSasl(random: Random): Pick<EnsemblePlan, 'sasl'> {
  return random.chance(0.2) ? { sasl: random.one(['offered', 'required']) } : {}
}

/** If SASL is offered, most clients use it. */
function withSasl(plan: ClientPlan, random: Random, { sasl }: EnsemblePlan): ClientPlan {
  const usesSasl = sasl === 'required' || (sasl === 'offered' && random.chance(0.7))
  return usesSasl ? { ...plan, usesSasl } : plan
}

/** Each acquire waits as long as it takes. */
function withoutTimeouts(plan: ClientPlan): ClientPlan {
  return { ...plan, workers: plan.workers.map((tasks) => tasks.map(({ timeout: _, ...task }) => task)) }
}

/** Adds to each task what its recipe needs besides. */
function withEach(plan: ClientPlan, drawMore: () => Partial<Task>): ClientPlan {
  const withMore = (task: Task): Task => ({ ...task, ...drawMore() })
  return { ...plan, workers: plan.workers.map((tasks) => tasks.map(withMore)) }
}

/** Names are always drawn if look-ups have faults. */
function drawNames(random: Random, faults: readonly ScheduledFault[]): Pick<NetworkPlan, 'names'> {
  const areNeeded = faults.some(({ fault }) => ofNames.includes(fault.type))
  return areNeeded || random.chance(0.05) ? { names: random.one(['each', 'each', 'one']) } : {}
}

function drawCaller(random: Random, calls: DrawnCalls): ClientPlan {
  return { clockRate: drawRate(random), watches: false, workers: [], calls: calls.plan() }
}

function drawStepper(
  { random, manners }: Pick<Manner, 'random' | 'manners'>,
  recipe: SteppedRecipe,
  steps: DrawnSteps,
  tickTime: number,
): ClientPlan {
  return {
    clockRate: drawRate(random),
    watches: false,
    workers: [],
    steps: Array.from({ length: random.one([1, 1, 2, 3]) }, () => steps.of(recipe)),
    ...drawManners(manners, tickTime),
  }
}

const drawRate = (random: Random) => random.one([1, 1, 0.99, 1.01, 0.995, 1.005])

interface Manner {
  readonly random: Random
  readonly manners: Random
  /** All clients come at once, and many leave before it is their turn, from the middle of the queue. */
  readonly isCrowd: boolean
}

function drawClient(
  { random, manners, isCrowd }: Manner,
  recipe: RecipeName,
  ensemble: EnsemblePlan,
  sessionTimeout: number,
): ClientPlan {
  const workers = isCrowd || random.chance(0.2) ? 2 : 1
  const manner = drawManners(manners, ensemble.tickTime)
  const T = manner.handOvers?.at(-1)?.sessionTimeout ?? sessionTimeout
  const drawOne = () => ({ ...drawTask({ random, isCrowd }, recipe, T), ...drawHoldOptions(manners, ensemble) })
  const tasks = () => Array.from({ length: random.between(1, isCrowd ? 2 : 3) }, drawOne)
  return {
    clockRate: drawRate(random),
    watches: random.chance(0.15),
    workers: Array.from({ length: workers }, tasks),
    ...manner,
  }
}

/** In a few ensembles some members grant less than what clients request. */
function drawLimits(random: Random, members: number, tickTime: number): Pick<EnsemblePlan, 'longestTimeouts'> {
  if (!random.chance(0.1)) return {}
  return { longestTimeouts: Array.from({ length: members }, () => random.one([0, 0, 2, 3]) * tickTime) }
}

function drawManners(random: Random, tickTime: number): Pick<ClientPlan, 'handOvers' | 'refreshesEvery'> {
  const handOver = (): HandOver => ({
    after: random.below(random.one([1, 200, 2_000])),
    sessionTimeout: random.one([2, 3, 5, 10]) * tickTime,
  })
  const handsOver = random.chance(0.15)
  const refreshes = random.chance(0.2)
  return {
    ...(handsOver && { handOvers: Array.from({ length: random.one([1, 1, 2]) }, handOver) }),
    ...(refreshes && { refreshesEvery: random.one([100, 200, 300, 500]) }),
  }
}

/** The terms of one task: the locks of one session are held on different terms. */
function drawHoldOptions(random: Random, ensemble: EnsemblePlan): Pick<Task, 'holdOptions'> {
  const isLax = random.chance(0.05)
  const hasRelayDelay = random.chance(0.15)
  if (!isLax && !hasRelayDelay) return {}
  return {
    holdOptions: {
      ...(isLax && { heldWhile: random.one(['connected', 'sessionAlive']) }),
      ...(hasRelayDelay && { followerRelayDelay: drawRelayDelay(random, ensemble) }),
    },
  }
}

/** The delay is longer than half a tick and the way to a follower. A tick is half of the shortest T. */
function drawRelayDelay(random: Random, { tickTime, latency }: EnsemblePlan): number {
  const shortest = Math.ceil(tickTime / 2) + latency
  return random.between(shortest, tickTime)
}

function drawTask({ random, isCrowd }: Omit<Manner, 'manners'>, recipe: RecipeName, sessionTimeout: number): Task {
  const how = random.one(ways[recipe])
  const kind = random.one(kinds[recipe])
  const hold = () =>
    Array.from({ length: random.between(0, 3) }, () => random.below(random.one([10, 100, sessionTimeout])))
  return {
    kind,
    how,
    after: random.below(random.one(isCrowd ? [1, 50, 200] : [1, 50, 500, 2_000])),
    ...(how !== 'tryAcquire' && how !== 'terms' && random.chance(0.2) && { timeout: random.below(3_000) }),
    ...(random.chance(isCrowd ? 0.5 : 0.2) && { abortAfter: random.below(random.one([10, 200, 3_000])) }),
    hold: hold(),
    writes: random.one(['guarded', 'fenced', 'both']),
    ...(kind === 'write' && how !== 'run' && random.chance(0.4) && { downgrade: hold() }),
  }
}

const ways: Readonly<Record<RecipeName, readonly Task['how'][]>> = {
  Lock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  SharedLock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  LeaderElection: ['acquire', 'terms'],
  Semaphore: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  MultiLock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  NestedLocks: ['run'],
}

function drawFaults(random: Random, { types, shape }: Mix): ScheduledFault[] {
  if (types.length === 0) return []
  const drawnTypes = Array.from({ length: random.between(1, MOST_TYPES) }, () => random.one(types))
  const storm = random.one([500, 2_000, 2_000, 5_000])
  const faults = Array.from({ length: random.between(0, MOST_FAULTS) }, () => {
    const { draw, drawSecond } = faultKinds[random.one(drawnTypes)]
    const first = { at: random.below(storm), fault: draw(random, shape) }
    const second = drawSecond?.(random, first, shape)
    return second === undefined ? [first] : [first, second]
  }).flat()
  return faults.sort((one, other) => one.at - other.at)
}

interface Mix {
  /** The faults that may be drawn. */
  readonly types: readonly FaultType[]
  readonly shape: Shape
}

/** All faults, or those of one theme. */
function drawMix(random: Random, shape: Shape, every: readonly FaultType[]): Mix {
  if (random.chance(0.5)) return { types: every, shape }
  const { types, ops = shape.ops } = random.one(
    themes.filter(({ types }) => types.some((type) => every.includes(type))),
  )
  return {
    types: types.filter((type) => every.includes(type)),
    shape: { ...shape, ops: shape.ops.filter((op) => ops.includes(op)) },
  }
}
