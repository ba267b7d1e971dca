import type { EndState } from '../history/played.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { watchesAt } from './monitor.ts'
import { CONFIG } from './paths.ts'
import type { Stage } from './stage.ts'

/** More than `close` of a client may take, which is half a session timeout, in ms. */
const CLOSING = 60_000

/** The time between two looks at the differences, in ms. */
const LOOK_EVERY = 250

/** The longest pause before a request to an overloaded server is repeated. It is not cut short. In ms. */
const SETTLING = 1_100

/** The state at the end: contenders' nodes, watches, what watching clients have seen, and who is not connected. */
export type Left = Pick<EndState, 'nodes' | 'serverWatches' | 'watched' | 'unconnected'>

/** Watches come first: counting them lets the members do what is due, and this creates and deletes nodes. */
export function look(stage: Stage, scenario: Scenario): Left {
  const kept = watchesLeft(stage)
  const watched = watchedBy(stage, scenario)
  const following = followers(stage, scenario)
  return {
    nodes: stage.operator.contenders(),
    serverWatches: Math.max(kept - watched.length - following, 0),
    watched,
    unconnected: unconnected(stage),
  }
}

function unconnected({ clients }: Stage): readonly number[] {
  return [...clients.entries()].flatMap(([client, { process, program }]) =>
    process.isKilled || program.isConnected ? [] : [client],
  )
}

/** Whether all clients are connected, and everything is gone that contenders leave behind for a while. */
export function isQuiet({ model }: Stage, { nodes, serverWatches, watched, unconnected }: Left): boolean {
  if (model.leader === undefined || unconnected.length > 0) return false
  return nodes.length === 0 && serverWatches === 0 && watched.every(({ seen, last }) => seen === last)
}

/** Reads the state for the last time, closes all clients, and checks what they leave. */
export async function end(stage: Stage, { pending, ...left }: Left & Pick<EndState, 'pending'>): Promise<EndState> {
  const at = stage.world.now
  const living = stage.clients.filter(({ process }) => !process.isKilled)
  for (const { program, process } of living) process.run(() => program.askAll())
  await close(stage)
  const timers = living.reduce((sum, { process }) => sum + process.timers, 0)
  const links = living.reduce((sum, { process }) => sum + stage.network.linksOf(process).size, 0)
  return { at, pending, ...left, timers, links }
}

async function close(stage: Stage): Promise<void> {
  const { world } = stage
  await letAll(stage, 'close', CLOSING)
  await world.run(world.now + SETTLING)
}

/**
 * Waits until there are no differences between what clients have and what the ensemble has, and lets all clients finish. Returns
 * the differences that stayed, and the clients that did not finish.
 */
export async function settleAndFinish(
  stage: Stage,
  differences: (stage: Stage) => readonly string[],
  patience: number,
): Promise<readonly string[]> {
  const { world } = stage
  const deadline = world.now + patience
  while (world.now < deadline && differences(stage).length > 0) await world.run(world.now + LOOK_EVERY)
  const left = differences(stage)
  const unfinished = await letAll(stage, 'finish', patience)
  return [...left, ...unfinished.map((client) => `client ${client} does not finish`)]
}

/** Calls this of all living clients, and waits until it has resolved, for `patience` ms at most. Returns those whose has not. */
async function letAll(stage: Stage, call: 'finish' | 'close', patience: number): Promise<readonly number[]> {
  const { world } = stage
  const pending = new Set<number>()
  for (const [client, { program, process }] of stage.clients.entries()) {
    if (process.isKilled) continue
    pending.add(client)
    process.run(() => {
      Promise.resolve(program[call]?.()).then(
        () => pending.delete(client),
        (error: unknown) => stage.fail(`${call} of client ${client}: ${String(error)}`),
      )
    })
  }
  await world.run(world.now + patience, () => pending.size === 0)
  return [...pending]
}

function watchesLeft({ model, world }: Stage): number {
  return model.members.reduce((sum, { name }) => sum + watchesAt(model, name, world.now), 0)
}

/** How many clients watch the configuration. */
function followers({ clients }: Stage, scenario: Scenario): number {
  return clients.filter(({ process }, client) => scenario.clients[client]!.follows && !process.isKilled).length
}

/** The last versions of the node that watching clients have seen. */
function watchedBy({ model, clients }: Stage, scenario: Scenario): EndState['watched'] {
  const last = model.leader?.node(CONFIG)?.stat.version ?? 0
  return clients.flatMap(({ process, program }, client) =>
    scenario.clients[client]!.watches && !process.isKilled ? [{ client, seen: program.seen, last }] : [],
  )
}
