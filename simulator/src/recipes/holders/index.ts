// Recipes whose clients acquire, hold and release: what their clients do, drawn.
import type { Random } from '@zk/testing/internal'
import { faultyOps } from '../../scenario/fault.ts'
import { everyFault } from '../../scenario/fault-kinds.ts'
import type { HoldKind } from '../../scenario/hold-kind.ts'
import type { ClientPlan, EnsemblePlan, Scenario, Task } from '../../scenario/scenario.ts'
import { drawManners, drawRate } from '../manners.ts'
import type { Setting, Workload } from '../workload.ts'
import { type Holding, TaskProgram } from './task-program.ts'

/** A recipe whose clients do tasks. `More` is a task with what the recipe needs besides. */
interface Holders<More extends Task> extends Pick<Workload, 'isDrawn' | 'prepare' | 'paths' | 'checks'>, Holding<More> {
  /** The kinds of its holds. */
  readonly kinds: readonly HoldKind[]
  /** How it is acquired. */
  readonly ways: readonly Task['how'][]
  /** Draws what its tasks have besides. */
  drawMore?(plans: readonly ClientPlan[], seed: number): Pick<Scenario, 'clients' | 'semaphore'>
}

/** The ways of a lock. */
export const locked: Holders<Task>['ways'] = ['acquire', 'acquire', 'acquire', 'run', 'tryAcquire']

export function ofHolders<More extends Task = Task>(recipe: Holders<More>): Workload {
  return {
    ...recipe,
    draw: (setting) => {
      const clients = Array.from({ length: setting.clients }, () => drawHolder(setting, recipe))
      return recipe.drawMore?.(clients, setting.seed) ?? { clients }
    },
    faults: everyFault,
    ops: faultyOps,
    withLimits: true,
    mayFollow: true,
    // Labels of other recipes are not drawn.
    ...(recipe.isDrawn && { enlarge: withLabels }),
    // A proof of a lease takes up to 1.2 T with slow answers, and a task has requests before and after it.
    time: ({ workers }, { network, sessionTimeout }) =>
      network.answers === undefined ? 0 : workers.flat().length * 4 * sessionTimeout,
    play: (client, context) => new TaskProgram(client, context, recipe),
  }
}

/** Adds to each task what its recipe needs besides. */
export function withEach<More extends Task>(plan: ClientPlan, drawMore: () => Partial<More>): ClientPlan {
  return { ...plan, workers: plan.workers.map((tasks) => tasks.map((task) => ({ ...task, ...drawMore() }))) }
}

function withLabels(plan: ClientPlan, random: Random, juteMaxBuffer: number): ClientPlan {
  const withLabel = (task: Task): Task => (random.chance(0.2) ? { ...task, label: juteMaxBuffer + 200 } : task)
  return { ...plan, workers: plan.workers.map((tasks) => tasks.map(withLabel)) }
}

function drawHolder(
  { random, manners, isCrowd, ensemble, sessionTimeout }: Setting,
  recipe: Pick<Holders<Task>, 'kinds' | 'ways'>,
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
  { kinds, ways }: Pick<Holders<Task>, 'kinds' | 'ways'>,
  sessionTimeout: number,
): Task {
  const how = random.one(ways)
  const kind = random.one(kinds)
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
