// Scenarios: longer sequences of requests on several sessions, whose whole transcripts are compared.
import type { ScenarioBody } from '../play/index.ts'
import type { Halt } from '../releases/index.ts'

/** A scenario that servers of some releases cannot play. */
export interface VersionedScenario {
  /** Sends the requests. The transcript shows what came of them. */
  readonly play: ScenarioBody
  /** It uses an operation that came with this release. Older servers do not know it and close the connection. */
  readonly since?: string | undefined
  /**
   * ensemble: its outcome is only certain if a session moves from one server to another. superuser: nobody else can delete
   * what it leaves.
   */
  readonly needs?: readonly ('ensemble' | 'superuser')[] | undefined
  /** It halts the servers of some releases, and so all later scenarios: not played there. */
  readonly halts?: Halt | undefined
}

/** By title. */
export type Scenarios = Readonly<Record<string, ScenarioBody | VersionedScenario>>

/** Scenarios about one subject. */
export interface ScenarioGroup {
  /** The file of their transcripts is named after it. */
  readonly subject: string
  /** By title. */
  readonly scenarios: ReadonlyMap<string, VersionedScenario>
}

export function group(subject: string, scenarios: Scenarios): ScenarioGroup {
  const entries = Object.entries(scenarios).map(([title, each]): [string, VersionedScenario] => [
    title,
    typeof each === 'function' ? { play: each } : each,
  ])
  return { subject, scenarios: new Map(entries) }
}
