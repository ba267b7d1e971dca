import type { EndState } from '../history/played.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { watchesAt } from './monitor.ts'
import { CONFIG } from './paths.ts'
import type { Stage } from './stage.ts'

/** `close` of a client takes half a session timeout at most; this is more, in ms. */
const CLOSING = 60_000

/** The pause before an overloaded server is asked again is a second at most; it is not cut short. In ms. */
const SETTLING = 1_100

/** Whether everything that contenders leave behind for a while is gone. */
export function isQuiet(stage: Stage, scenario: Scenario): boolean {
  const watched = watchedBy(stage, scenario)
  return (
    stage.operator.contenders().length === 0 &&
    watchesLeft(stage) <= watched.length &&
    watched.every(({ seen, last }) => seen === last)
  )
}

/** Looks at what is left, closes all clients, and looks again. */
export async function end(
  stage: Stage,
  scenario: Scenario,
  { pending, isOutOfTime }: Pick<EndState, 'pending' | 'isOutOfTime'>,
): Promise<EndState> {
  const at = stage.world.now
  const living = stage.clients.filter(({ process }) => !process.isKilled)
  for (const { program, process } of living) process.run(() => program.askAll())
  const watched = watchedBy(stage, scenario)
  const nodes = stage.operator.contenders()
  const serverWatches = Math.max(watchesLeft(stage) - watched.length, 0)
  await close(stage)
  const timers = living.reduce((sum, { process }) => sum + process.timers, 0)
  const links = living.reduce((sum, { process }) => sum + stage.network.linksOf(process).size, 0)
  return { at, pending, isOutOfTime, nodes, serverWatches, timers, links, unhandled: [], watched }
}

async function close(stage: Stage): Promise<void> {
  const { world } = stage
  const closing = new Set<number>()
  for (const [client, { program, process }] of stage.clients.entries()) {
    if (process.isKilled) continue
    closing.add(client)
    process.run(() => {
      program.close().then(
        () => closing.delete(client),
        (error: unknown) => stage.fail(`close of client ${client}: ${String(error)}`),
      )
    })
  }
  await world.run(world.now + CLOSING, () => closing.size === 0)
  await world.run(world.now + SETTLING)
}

function watchesLeft({ model, world }: Stage): number {
  return model.members.reduce((sum, { name }) => sum + watchesAt(model, name, world.now), 0)
}

/** What clients that watch a node have seen of it. */
function watchedBy({ model, clients }: Stage, scenario: Scenario): EndState['watched'] {
  const last = model.leader?.node(CONFIG)?.stat.version ?? 0
  return clients.flatMap(({ process, program }, client) =>
    scenario.clients[client]!.watches && !process.isKilled ? [{ client, seen: program.seen, last }] : [],
  )
}
