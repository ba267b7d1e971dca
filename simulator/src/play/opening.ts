import type { Stage } from './stage.ts'
import type { Scenario } from '../scenario/scenario.ts'
import type { SemaphorePlan } from '../scenario/semaphore.ts'
import { listed } from './addresses.ts'
import { CALLS, CONFIG, nodeOf, PATH, SET } from './paths.ts'

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
  if (scenario.recipe === 'ZooKeeper') createNodes(stage, scenario)
  if (scenario.semaphore?.isStored) store(stage, scenario.semaphore)
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

/** Two of three nodes of the calls exist from the beginning. */
function createNodes({ operator }: Stage, { clients }: Scenario): void {
  const ids = clients.flatMap(({ calls }) => calls!.turns.flatMap(({ calls }) => calls.map(({ id }) => id)))
  operator.create(CALLS)
  for (const id of ids) if (id % 3 !== 0) operator.create(nodeOf(id))
}

/** The number of permits, in four bytes. */
function store({ operator }: Stage, { permits }: SemaphorePlan): void {
  operator.create(PATH.slice(0, PATH.lastIndexOf('/')))
  operator.create(PATH, Uint8Array.of(0, 0, 0, permits))
}
