// Runs one history again, step by step, and describes it.
import type { Violation } from '../checks/check.ts'
import { toText } from '../trace/trace.ts'
import type { Choice } from './choice.ts'
import { judge } from './judge.ts'
import type { Scope } from './scope.ts'
import { crash, find } from './search.ts'
import { STEP, World } from './world.ts'

export interface Retraced {
  /** Every choice with its effects: frames as the server saw them, and actions of clients. */
  readonly lines: readonly string[]
  /** The number of the choice at each step. */
  readonly numbers: readonly number[]
  readonly violations: readonly Violation[]
}

/** Takes the ids of the choices, as a search gives them. */
export function retrace(scope: Scope, ids: readonly string[]): Promise<Retraced> {
  return play(scope, (all, step) => (step < ids.length ? find(all, ids[step]!) : all[0]!))
}

/** Takes the numbers of the choices. After the last number it is always the first choice. */
export function retraceNumbers(scope: Scope, numbers: readonly number[]): Promise<Retraced> {
  return play(scope, (all, step) => {
    const number = numbers[step] ?? 0
    const choice = all[number]
    if (choice !== undefined) return choice
    throw new Error(`step ${step + 1}: there is no choice ${number}, only ${all.length}`)
  })
}

async function play(scope: Scope, choose: (all: readonly Choice[], step: number) => Choice): Promise<Retraced> {
  const world = await World.open({ scope, isTraced: true })
  const lines: string[] = []
  const numbers: number[] = []
  const first = world.steps
  let told = { frames: world.server.frames.length, happenings: world.history.length }
  for (let all = world.choices(); all.length > 0; all = world.choices()) {
    const choice = choose(all, numbers.length)
    numbers.push(all.indexOf(choice))
    lines.push(`${String(numbers.length).padStart(4)}  ${choice.id}`)
    const violations = await world.do(choice).then(
      () => [],
      (error: unknown) => [crash(error)],
    )
    if (violations.length > 0) return { lines, numbers, violations }
    const { frames } = world.server
    for (const frame of frames.slice(told.frames)) lines.push(`${MARGIN}${frame}`)
    for (const { at: _, ...happening } of world.history.slice(told.happenings)) {
      lines.push(`${MARGIN}** ${toText(happening)}`)
    }
    told = { frames: frames.length, happenings: world.history.length }
  }
  const violations = judge(world).map((each) => {
    return each.at === undefined ? each : { ...each, at: each.at / STEP - first }
  })
  return { lines, numbers, violations }
}

const MARGIN = ' '.repeat(8)
