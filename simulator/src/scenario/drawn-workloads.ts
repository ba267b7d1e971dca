// What the clients of each workload do, drawn.
import { Random } from '@zk/testing/internal'
import { DrawnCalls } from './draw-calls.ts'
import { callFaultyOps, type FaultType, faultyOps } from './fault.ts'
import { everyFault, everyFaultOfCalls, everyFaultOfSteps, type Shape } from './fault-kinds.ts'
import { drawGroup } from './group.ts'
import { drawLocks } from './locks.ts'
import { drawMirror } from './mirror.ts'
import {
  type ClientPlan,
  type EnsemblePlan,
  type HandOver,
  kinds,
  type TaskRecipe,
  type Scenario,
  type Task,
  type Workload,
} from './scenario.ts'
import { drawPermitTask, drawSemaphore } from './semaphore.ts'
import { DrawnSteps, type SteppedRecipe } from './steps.ts'

/** What was drawn before the clients. */
interface Setting {
  readonly seed: number
  /** The number of clients. */
  readonly clients: number
  readonly random: Random
  /** Draws what came later to scenarios: it changes nothing of what `random` draws. */
  readonly manners: Random
  /** All clients come at once, and many leave before it is their turn, from the middle of the queue. */
  readonly isCrowd: boolean
  readonly ensemble: EnsemblePlan
  readonly sessionTimeout: number
}

interface DrawnWorkload {
  draw(setting: Setting): Pick<Scenario, 'clients' | 'semaphore'>
  /** The faults that it promises to survive. */
  readonly faults: readonly FaultType[]
  /** The requests that may be lost, late or refused. */
  readonly ops: Shape['ops']
  /** Whether some members may grant shorter session timeouts. */
  readonly withLimits: boolean
  /** What else is drawn for the ensemble. */
  ensemble?(seed: number): Partial<EnsemblePlan>
}

const ofRecipes = { faults: everyFault, ops: faultyOps, withLimits: true }

export const drawnWorkloads: Readonly<Record<Workload, DrawnWorkload>> = {
  Lock: ofHolders('Lock'),
  SharedLock: ofHolders('SharedLock'),
  LeaderElection: ofHolders('LeaderElection'),
  Semaphore: {
    ...ofRecipes,
    draw(setting) {
      const random = new Random(setting.seed, 'semaphore')
      const plans = drawHolders(setting, 'Semaphore')
      const semaphore = drawSemaphore(random)
      return { clients: plans.map((plan) => withEach(plan, () => drawPermitTask(random, semaphore))), semaphore }
    },
  },
  MultiLock: {
    ...ofRecipes,
    draw(setting) {
      const random = new Random(setting.seed, 'locks')
      const plans = drawHolders(setting, 'MultiLock')
      return { clients: plans.map((plan) => withEach(plan, () => drawLocks(random))) }
    },
  },
  Counter: ofSteps('Counter'),
  Barrier: ofSteps('Barrier'),
  DoubleBarrier: ofSteps('DoubleBarrier'),
  Group: {
    ...ofRecipes,
    ops: callFaultyOps,
    draw: (setting) =>
      drawEach(setting, (client) => ({
        group: drawGroup(new Random(setting.seed, `group ${client}`), client, setting.sessionTimeout),
      })),
  },
  Mirror: {
    ...ofRecipes,
    // If the counter is set, a child that is made at that moment does not raise the pzxid. No server sets it.
    faults: everyFault.filter((type) => type !== 'presetCounter'),
    ops: callFaultyOps,
    ensemble: (seed) => (new Random(seed, 'version').chance(0.3) ? { version: '3.5' } : {}),
    draw: (setting) =>
      drawEach(setting, (client) => ({
        mirror: drawMirror(new Random(setting.seed, `mirror ${client}`), setting.sessionTimeout),
      })),
  },
  ZooKeeper: {
    faults: everyFaultOfCalls,
    ops: callFaultyOps,
    withLimits: false,
    draw(setting) {
      const calls = new DrawnCalls(setting.random, setting.sessionTimeout)
      return drawEach(setting, () => ({ calls: calls.plan() }))
    },
  },
}

// --- clients without tasks ------------------------------------------------------------------------------------------

/** The rate of a client's clock is drawn before the rest. */
function drawEach(
  { clients, random }: Setting,
  drawOne: (client: number) => Partial<ClientPlan>,
): Pick<Scenario, 'clients'> {
  const plan = (_: unknown, client: number): ClientPlan => {
    const clockRate = drawRate(random)
    return { clockRate, watches: false, workers: [], ...drawOne(client) }
  }
  return { clients: Array.from({ length: clients }, plan) }
}

function ofSteps(recipe: SteppedRecipe): DrawnWorkload {
  return {
    ...ofRecipes,
    faults: everyFaultOfSteps,
    draw(setting) {
      const { random, manners, ensemble, sessionTimeout } = setting
      const drawn = new DrawnSteps(random, sessionTimeout)
      return drawEach(setting, () => {
        const steps = Array.from({ length: random.one([1, 1, 2, 3]) }, () => drawn.of(recipe))
        return { steps, ...drawManners(manners, ensemble.tickTime) }
      })
    },
  }
}

const drawRate = (random: Random) => random.one([1, 1, 0.99, 1.01, 0.995, 1.005])

// --- clients that hold ----------------------------------------------------------------------------------------------

function ofHolders(recipe: TaskRecipe): DrawnWorkload {
  return { ...ofRecipes, draw: (setting) => ({ clients: drawHolders(setting, recipe) }) }
}

function drawHolders(setting: Setting, recipe: TaskRecipe): ClientPlan[] {
  return Array.from({ length: setting.clients }, () => drawHolder(setting, recipe))
}

function drawHolder({ random, manners, isCrowd, ensemble, sessionTimeout }: Setting, recipe: TaskRecipe): ClientPlan {
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

/** Adds to each task what its recipe needs besides. */
function withEach(plan: ClientPlan, drawMore: () => Partial<Task>): ClientPlan {
  const withMore = (task: Task): Task => ({ ...task, ...drawMore() })
  return { ...plan, workers: plan.workers.map((tasks) => tasks.map(withMore)) }
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

function drawTask(
  { random, isCrowd }: Pick<Setting, 'random' | 'isCrowd'>,
  recipe: TaskRecipe,
  sessionTimeout: number,
): Task {
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

const ways: Readonly<Record<TaskRecipe, readonly Task['how'][]>> = {
  Lock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  SharedLock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  LeaderElection: ['acquire', 'terms'],
  Semaphore: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
  MultiLock: ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire'],
}
