// Plays a scenario from beginning to end.
import type { Played } from '../history/played.ts'
import { ServerLog } from '../history/server-log.ts'
import { workloadOf } from '../recipes/index.ts'
import { longestTimeout, type Scenario } from '../scenario/scenario.ts'
import { end, isQuiet, type Left, look, settleAndFinish } from './ending.ts'
import { open } from './opening.ts'
import { Stage, type StageOptions } from './stage.ts'
import { Storm } from './storm.ts'

/** The longest wait without faults, besides the holds ahead: I6. */
const PATIENCE = { sessionTimeouts: 2, ms: 5_000 }

/** The longest pause before a member whose node is deleted again and again makes it again, in ms. */
const LONGEST_PAUSE = 10_000

/**
 * When all clients are done: how long messages under way may take before the check that nothing is left, and the time between
 * two such checks, in ms.
 */
const SETTLING = 500
const LOOK_EVERY = 250

/**
 * A member that never learns of the end of a connection closes it, and drops its watches, T later, rounded up to this, in ms
 * (`ConnectionExpirerThread`, in steps of `zookeeper.nio.sessionlessCnxnTimeout`).
 */
const IDLE = 10_000

export interface Play {
  readonly played: Played
  readonly stage: Stage
}

export async function play(scenario: Scenario, options: StageOptions = {}): Promise<Play> {
  const stage = new Stage(scenario, options)
  const { world } = stage
  await open(stage, scenario)
  const storm = new Storm(stage, scenario)
  const pending = work(stage)
  const isDone = () => allAreIdle(stage, pending)
  const latest = storm.calmAt + plannedTime(scenario) + patience(scenario)
  await world.run(latest, isDone)
  storm.end()
  const calmAt = Math.min(storm.calmAt, world.now)
  await world.run(Math.max(latest, world.now + patience(scenario)), isDone)
  const unfinished = living(stage, pending)
  stage.model.faults.clear()
  const workload = workloadOf(scenario)
  const differences =
    workload.differences === undefined
      ? undefined
      : await settleAndFinish(stage, (each) => workload.differences!(each), 2 * patience(scenario) + LONGEST_PAUSE)
  workload.cleanUp?.(stage.operator)
  const left = await quiet(stage, scenario)
  const ended = await end(stage, { ...left, pending: unfinished })
  const state = differences === undefined ? ended : { ...ended, differences }
  const { recorder, committed, events, shortened, lines, lookUps } = stage
  const log = new ServerLog(committed)
  const { history } = recorder
  const played = { scenario, history, log, committed, lines, lookUps, events, shortened, calmAt, end: state }
  return { played, stage }
}

/** Lets time pass until nothing is left, or something was left for too long. */
async function quiet(stage: Stage, scenario: Scenario): Promise<Left> {
  const { world } = stage
  const deadline = world.now + patience(scenario) + longestTimeout(scenario) + IDLE
  await world.run(world.now + SETTLING)
  let left = look(stage, scenario)
  while (world.now < deadline && !isQuiet(stage, left)) {
    await world.run(world.now + LOOK_EVERY)
    left = look(stage, scenario)
  }
  return left
}

/** Starts every worker. Returns those that are not done, by their client. */
function work({ clients, fail }: Stage): Map<string, number> {
  const pending = new Map<string, number>()
  for (const [client, { program, process }] of clients.entries()) {
    const failed = (error: unknown) => fail(`client ${client}: ${String(error)}`)
    process.run(() => {
      for (const [worker, done] of program.begin(failed).entries()) {
        const name = `worker ${worker} of client ${client}`
        pending.set(name, client)
        done.then(() => pending.delete(name), failed)
      }
    })
  }
  return pending
}

/** Evaluated after every event. */
function allAreIdle({ clients }: Stage, pending: ReadonlyMap<string, number>): boolean {
  for (const client of pending.values()) if (!clients[client]!.process.isKilled) return false
  return true
}

function living({ clients }: Stage, pending: ReadonlyMap<string, number>): string[] {
  return [...pending].filter(([, client]) => !clients[client]!.process.isKilled).map(([name]) => name)
}

/** The sum of all holds and pauses, and of the longest times of everything else that clients do. */
function plannedTime(scenario: Scenario): number {
  const workload = workloadOf(scenario)
  const { clients } = scenario
  const pauses = clients.flatMap(({ workers }) =>
    workers.flat().flatMap(({ after, hold, downgrade = [] }) => [after, ...hold, ...downgrade]),
  )
  const absences = clients.flatMap(({ handOvers = [] }) =>
    handOvers.map((each) => each.after + 2 * each.sessionTimeout),
  )
  const times = clients.map((client) => workload.time?.(client, scenario) ?? 0)
  return [...pauses, ...absences, ...times].reduce((sum, each) => sum + each, 0)
}

function patience(scenario: Scenario): number {
  return PATIENCE.sessionTimeouts * longestTimeout(scenario) + PATIENCE.ms
}
