// Recipes that hold nothing: their clients do steps.
import type { ZooKeeper } from '@zk/client'
import type { Random } from '@zk/testing/internal'
import { Program } from '../../play/program.ts'
import type { PlayContext, PlayedClient } from '../../play/participant.ts'
import { faultyOps } from '../../scenario/fault.ts'
import { everyFaultOfSteps } from '../../scenario/fault-kinds.ts'
import type { ClientPlan } from '../../scenario/scenario.ts'
import { drawEach, drawManners } from '../manners.ts'
import type { Workload } from '../workload.ts'
import type { CallSite } from './settled.ts'

/** Something that a client does, after a pause. Times are in ms. */
export interface Pausing {
  readonly after: number
}

export interface SteppingClient<Step> extends ClientPlan {
  /** Each worker does its steps one after the other. */
  readonly steps: readonly (readonly Step[])[]
}

interface Steps<Step extends Pausing> extends Pick<Workload, 'checks'> {
  /** Returns the function that draws the steps of a worker, for all clients of one scenario. */
  draws(random: Random, sessionTimeout: number): () => readonly Step[]
  /** The longest time that a step may take, besides its pause. */
  time(step: Step, sessionTimeout: number): number
  /** Returns the function that does a step of a worker, for one client. */
  does(zk: ZooKeeper, site: CallSite): (step: Step, worker: number) => Promise<void>
}

export function ofSteps<Step extends Pausing>(
  paths: Workload['paths'],
  recipe: Steps<Step>,
): Workload<SteppingClient<Step>> {
  return {
    draw(setting) {
      const { random, manners, ensemble, sessionTimeout } = setting
      const drawSteps = recipe.draws(random, sessionTimeout)
      return drawEach(setting, () => {
        const steps = Array.from({ length: random.one([1, 1, 2, 3]) }, drawSteps)
        return { steps, ...drawManners(manners, ensemble.tickTime) }
      })
    },
    faults: everyFaultOfSteps,
    ops: faultyOps,
    withLimits: true,
    mayFollow: true,
    time: ({ steps }, { sessionTimeout }) =>
      steps.flat().reduce((sum, step) => sum + step.after + recipe.time(step, sessionTimeout), 0),
    play: (client, context) => new StepProgram(client, context, recipe),
    paths,
    checks: recipe.checks,
  }
}

class StepProgram<Step extends Pausing> extends Program<SteppingClient<Step>> {
  readonly #recipe: Pick<Steps<Step>, 'does'>

  constructor(client: PlayedClient<SteppingClient<Step>>, context: PlayContext, recipe: Pick<Steps<Step>, 'does'>) {
    super(client, context)
    this.#recipe = recipe
  }

  protected override work(begun: Promise<void>): readonly Promise<void>[] {
    const { steps } = this.plan
    return steps.length === 0 ? [] : [begun.then(() => this.#work(steps))]
  }

  async #work(workers: readonly (readonly Step[])[]): Promise<void> {
    const { client, runtime, recorder } = this
    const doStep = this.#recipe.does(this.zk!, { client, runtime, recorder })
    const work = async (steps: readonly Step[], worker: number) => {
      for (const step of steps) {
        await this.pause(step.after)
        await doStep(step, worker)
      }
    }
    await Promise.all(workers.map(work))
  }
}
