// Draws a scenario from a seed.
import { Random } from '@zk/testing/internal'
import { drawnNames, workloadNamed, type WorkloadName } from '../recipes/index.ts'
import type { Workload } from '../recipes/workload.ts'
import type { FaultType } from './fault.ts'
import { drawFault, drawSecond, ofNames, type Shape } from './fault-kinds.ts'
import {
  type ClientPlan,
  type EnsemblePlan,
  type NetworkPlan,
  type Scenario,
  type ScheduledFault,
  type Task,
} from './scenario.ts'
import { themes } from './themes.ts'

export interface DrawOptions {
  readonly seed: number
  /** The recipe. @default one that is drawn */
  readonly recipe?: WorkloadName | undefined
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
  const drawnRecipe = recipe ?? random.one(drawnNames)
  const workload = workloadNamed(drawnRecipe)
  const tickTime = random.one([500, 500, 1_000, 2_000])
  const sessionTimeout = random.one([2, 2, 3, 5]) * tickTime
  const manners = new Random(seed, 'manners')
  const identities = new Random(seed, 'identities')
  const world = new Random(seed, 'world')
  const ensemble = {
    members,
    tickTime,
    syncLimit: manners.one([5, 5, 10]),
    latency: random.one([0, 1, 5, 20]),
    ...(workload.withLimits && drawLimits(manners, members, tickTime)),
    ...drawSasl(identities),
    ...workload.ensemble?.(seed),
    ...(world.chance(0.1) && { juteMaxBuffer: world.one([6_000, 16_384, 40_960]) }),
  }
  const latency = random.one([1, 5, 20, 20, 60])
  const cuts = random.one([0, 0.05, 0.3])
  const isCrowd = manners.chance(0.25)
  const drawn = workload.draw({ seed, clients, random, manners, isCrowd, ensemble, sessionTimeout })
  const plans = drawn.clients.map((plan) => withWorld(withSasl(plan, identities, ensemble), world, workload, ensemble))
  const handOvers = plans.flatMap((plan) => plan.handOvers ?? [])
  const sessionTimeouts = [sessionTimeout, ...handOvers.map((each) => each.sessionTimeout)]
  const ops = [...workload.ops, ...(ensemble.sasl === undefined ? [] : (['sasl'] as const))]
  const shape = { clients, ensemble, sessionTimeouts, ops }
  const mix = faults === undefined ? drawMix(random, shape, workload.faults) : { types: faults, shape }
  // Few seeds: with slow answers nothing else goes wrong, and everything takes several T.
  const isSlow =
    workload.isDrawn &&
    handOvers.length === 0 &&
    ensemble.sasl === undefined &&
    ensemble.latency <= 1 &&
    world.chance(0.05) &&
    // A member that grants a shorter T would need faster answers.
    ensemble.longestTimeouts === undefined
  const answers = isSlow && { answers: Math.ceil(sessionTimeout * world.one([0.1, 0.15, 0.16])) }
  const drawnFaults = isSlow ? [] : drawFaults(random, mix)
  return {
    seed,
    recipe: drawnRecipe,
    ensemble,
    network: {
      // A whole handshake with SASL takes four round trips, and fits into an attempt.
      latency: isSlow ? 1 : ensemble.sasl === undefined ? latency : Math.min(latency, 20),
      cuts,
      ...drawNames(new Random(seed, 'names'), drawnFaults, Math.min(...sessionTimeouts)),
      ...(world.chance(0.15) && { resets: 0.3 }),
      ...answers,
    },
    sessionTimeout,
    clients: isSlow ? plans.map(undisturbed) : plans,
    faults: drawnFaults,
    ...(drawn.semaphore && { semaphore: drawn.semaphore }),
  }
}

function drawSasl(random: Random): Pick<EnsemblePlan, 'sasl'> {
  return random.chance(0.2) ? { sasl: random.one(['offered', 'required']) } : {}
}

/** If SASL is offered, most clients use it. */
function withSasl(plan: ClientPlan, random: Random, { sasl }: EnsemblePlan): ClientPlan {
  const usesSasl = sasl === 'required' || (sasl === 'offered' && random.chance(0.7))
  return usesSasl ? { ...plan, usesSasl } : plan
}

/** Names are always drawn if look-ups have faults. Some name servers are slow all the time. */
function drawNames(
  random: Random,
  faults: readonly ScheduledFault[],
  shortestTimeout: number,
): Pick<NetworkPlan, 'names' | 'lookUp'> {
  const areNeeded = faults.some(({ fault }) => ofNames.includes(fault.type))
  if (!areNeeded && !random.chance(0.1)) return {}
  const names = random.one(['each', 'each', 'one'] as const)
  return random.chance(0.3) ? { names, lookUp: Math.ceil(shortestTimeout * random.one([0.1, 0.4, 0.6])) } : { names }
}

/**
 * Each answer waits for the one before. So a client has one task at a time, and makes no call beside it. With a long
 * `followerRelayDelay` a lease would need faster answers.
 */
function undisturbed({ clockRate, workers: [tasks = []] }: ClientPlan): ClientPlan {
  const alone = ({ label: _, downgrade: __, holdOptions, ...task }: Task): Task => {
    const heldWhile = holdOptions?.heldWhile
    return { ...task, writes: 'fenced', ...(heldWhile && { holdOptions: { heldWhile } }) }
  }
  return { clockRate, watches: false, workers: [tasks.map(alone)] }
}

/** Some clients follow the configuration. If servers have a low limit, some requests of each client are above it. */
function withWorld(plan: ClientPlan, random: Random, workload: Workload, { juteMaxBuffer }: EnsemblePlan): ClientPlan {
  const follows = workload.mayFollow && random.chance(0.2) ? { ...plan, follows: true as const } : plan
  return juteMaxBuffer === undefined ? follows : (workload.enlarge?.(follows, random, juteMaxBuffer) ?? follows)
}

/** In a few ensembles some members grant less than what clients request. */
function drawLimits(random: Random, members: number, tickTime: number): Pick<EnsemblePlan, 'longestTimeouts'> {
  if (!random.chance(0.1)) return {}
  return { longestTimeouts: Array.from({ length: members }, () => random.one([0, 0, 2, 3]) * tickTime) }
}

function drawFaults(random: Random, { types, shape }: Mix): ScheduledFault[] {
  if (types.length === 0) return []
  const drawnTypes = Array.from({ length: random.between(1, MOST_TYPES) }, () => random.one(types))
  const storm = random.one([500, 2_000, 2_000, 5_000])
  const faults = Array.from({ length: random.between(0, MOST_FAULTS) }, () => {
    const type = random.one(drawnTypes)
    const first = { at: random.below(storm), fault: drawFault(random, type, shape) }
    const second = drawSecond(random, first, shape)
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
