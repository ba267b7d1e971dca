import type { Violation } from './checks/check.ts'
import { play, type Play } from './play/play.ts'
import type { StageOptions } from './play/stage.ts'
import { workloadOf } from './recipes/index.ts'
import { draw, type DrawOptions } from './scenario/draw.ts'
import type { Scenario } from './scenario/scenario.ts'
import { TraceHash } from './trace/trace.ts'

export interface SimulateOptions extends DrawOptions {
  /** Whether the whole trace is hashed. @default false */
  readonly hash?: boolean
}

export interface Simulated extends Play {
  readonly scenario: Scenario
  /** The violations; empty when every invariant held. */
  readonly violations: readonly Violation[]
  /** The hash of the whole trace, if it was requested. */
  readonly hash: string | undefined
}

/** Plays the history of a seed. The same seed gives the same history on every runtime. */
export function simulate({ hash = false, ...options }: SimulateOptions): Promise<Simulated> {
  return simulateScenario(draw(options), { hash })
}

export async function simulateScenario(
  scenario: Scenario,
  { hash = false, ...options }: StageOptions & { readonly hash?: boolean } = {},
): Promise<Simulated> {
  const trace = hash ? new TraceHash() : undefined
  const played = await play(scenario, { ...options, ...(trace && { observer: trace.observer }) })
  const violations = workloadOf(scenario).checks.flatMap((check) => check(played.played))
  return { ...played, scenario, violations, hash: trace?.digest(played.played.history) }
}
