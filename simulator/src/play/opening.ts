import { workloadOf } from '../recipes/index.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { listed } from './addresses.ts'
import { CONFIG, SET } from './paths.ts'
import type { Stage } from './stage.ts'

/** How long the start may take, before the first fault, in ms. */
const LONGEST = 60_000

/** Waits until the ensemble serves, the nodes of the workload exist, and every client has a session. */
export async function open(stage: Stage, scenario: Scenario): Promise<void> {
  const { world, model, operator, clients } = stage
  await world.run(LONGEST, () => model.leader !== undefined)
  operator.create(SET)
  operator.create(CONFIG)
  if (scenario.clients.some(({ follows }) => follows)) {
    const members = model.members.map(({ name }) => name)
    operator.configure(members.map((_, index) => listed(index, members)))
  }
  workloadOf(scenario).prepare?.(operator, scenario)
  let connected = 0
  for (const { process, program } of clients) {
    process.run(() => {
      program.connect().then(
        () => connected++,
        (error: unknown) => stage.fail(`connect: ${String(error)}`),
      )
    })
  }
  await world.run(LONGEST, () => connected === clients.length)
  if (connected < clients.length) throw new Error(`only ${connected} of ${clients.length} clients found the ensemble`)
}
