// Plays a scenario from beginning to end.
import type { Played } from '../history/played.ts'
import { ServerLog } from '../history/server-log.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { end, isQuiet } from './ending.ts'
import { open } from './opening.ts'
import { Stage, type StageOptions } from './stage.ts'
import { Storm } from './storm.ts'

/** What nobody waits longer for when nothing goes wrong any more, besides the holds ahead: I6. */
const PATIENCE = { sessionTimeouts: 2, ms: 5_000 }

/** How often it is looked whether all is quiet, in ms. */
const LOOK_EVERY = 100

export interface Play {
  readonly played: Played
  readonly stage: Stage
}

export async function play(scenario: Scenario, options: StageOptions = {}): Promise<Play> {
  const stage = new Stage(scenario, options)
  const { world } = stage
  await open(stage)
  const storm = new Storm(stage, scenario)
  const pending = work(stage, scenario)
  const isDone = () => pending.size === 0 || living(stage, pending).length === 0
  const latest = storm.calmAt + plannedTime(scenario) + patience(scenario)
  await world.run(latest, isDone)
  storm.end()
  const calmAt = Math.min(storm.calmAt, world.now)
  const deadline = Math.max(latest, world.now + patience(scenario))
  let isOver = isDone() && isQuiet(stage, scenario)
  while (world.now < deadline && !isOver) {
    await world.run(world.now + LOOK_EVERY)
    isOver = isDone() && isQuiet(stage, scenario)
  }
  const state = await end(stage, scenario, { pending: living(stage, pending), isOutOfTime: !isOver })
  const log = new ServerLog(stage.committed)
  return { played: { scenario, history: stage.recorder.history, log, events: stage.events, calmAt, end: state }, stage }
}

/** Has every worker begin. Those that are not done, by their client. */
function work({ clients, fail }: Stage, scenario: Scenario): Map<string, number> {
  const pending = new Map<string, number>()
  for (const [client, { workers, watches }] of scenario.clients.entries()) {
    const { program, process } = clients[client]!
    const failed = (error: unknown) => fail(`client ${client}: ${String(error)}`)
    process.run(() => {
      if (watches) program.watch().catch(failed)
      for (const [worker, tasks] of workers.entries()) {
        const name = `worker ${worker} of client ${client}`
        pending.set(name, client)
        program.work(tasks).then(() => pending.delete(name), failed)
      }
    })
  }
  return pending
}

function living({ clients }: Stage, pending: ReadonlyMap<string, number>): string[] {
  return [...pending].filter(([, client]) => !clients[client]!.process.isKilled).map(([name]) => name)
}

/** All holds and pauses one after the other. */
function plannedTime({ clients }: Scenario): number {
  const tasks = clients.flatMap(({ workers }) => workers.flat())
  return tasks.reduce((sum, { after, hold }) => sum + hold.reduce((held, pause) => held + pause, after), 0)
}

function patience({ sessionTimeout }: Scenario): number {
  return PATIENCE.sessionTimeouts * sessionTimeout + PATIENCE.ms
}
