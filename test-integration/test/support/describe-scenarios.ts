import type { ServerVersion } from '@zk/testing'
import { beforeAll, describe, expect, test } from 'vitest'
import { Ensemble } from '../../src/ensemble/index.ts'
import { atRest, InProcessTarget, RealTarget, run, type ScenarioBody, UNFINISHED } from '../../src/scenario/index.ts'
import {
  compare,
  type Difference,
  generalDifferences,
  type Halt,
  isBefore,
  isStopped,
} from '../../src/versions/index.ts'
import { shared } from './shared-ensemble.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** For `pnpm matrix`: how servers of this release differ in the scenario. */
    scenario?: ToldOtherwise
  }
}

export interface ToldOtherwise {
  /** It needs servers from this release on, and these refused it. */
  readonly lacks?: string
  /** It was not played, for this reason. */
  readonly spared?: string
  readonly differs?: readonly Pick<Difference, 'what' | 'why' | 'before' | 'since'>[]
}

/** A scenario whose transcript depends on the release. */
export interface VersionedScenario {
  readonly play: ScenarioBody
  /** It uses an operation that came with this release. Older servers do not know it and close the connection. */
  readonly since?: string
  /** It halts the servers of some releases, and so all later scenarios: not played there. */
  readonly halts?: Halt
  /** How other releases differ in this scenario, besides the general differences. */
  readonly differs?: readonly Difference[]
}

/**
 * Plays each scenario on a real ensemble and on the one of @zk/testing. Their transcripts must be equal, except for the
 * differences between the release of the real one and 3.8.0.
 *
 * With ZK_TRANSCRIPTS=1 it prints the transcript of the real one. With ZK_TARGETS=real it is played twice on the real one:
 * a scenario whose two transcripts differ depends on chance.
 */
export function describeScenarios(
  subject: string,
  scenarios: Readonly<Record<string, ScenarioBody | VersionedScenario>>,
): void {
  const description = shared?.description
  const release = shared?.release ?? ''
  describe.skipIf(description === undefined)(subject, () => {
    beforeAll(() => atRest(Ensemble.attach(description!)), 60_000)

    test.for(Object.entries(scenarios))('%s', async ([, scenario], { task, skip }) => {
      if (description === undefined) return
      const versioned = typeof scenario === 'function' ? { play: scenario } : scenario
      const { play, since, halts, differs = [] }: VersionedScenario = versioned
      const real = new RealTarget(Ensemble.attach(description))
      if (halts !== undefined && isStopped(release, halts)) {
        task.meta.scenario = { spared: halts.why }
        return skip(halts.why)
      }
      if (since !== undefined && isBefore(release, since)) {
        task.meta.scenario = { lacks: since }
        return expectUnknown(await run(real, play))
      }
      const onlyReal = process.env['ZK_TARGETS'] === 'real'
      const [notified, actual] = onlyReal
        ? [await run(real, play), await run(real, play)]
        : await Promise.all([run(real, play), run(new InProcessTarget(() => {}, lineOf(release)), play)])
      if (process.env['ZK_TRANSCRIPTS'] === '1') console.log(notified.join('\n---\n'))
      expect(notified.join('\n'), 'it came to no end').not.toMatch(UNFINISHED)
      if (onlyReal) return expect(actual, 'the second run on the real ensemble differs').toEqual(notified)

      const compared = compare({ real: notified, inProcess: actual }, release, [...generalDifferences, ...differs])
      task.meta.scenario = {
        differs: compared.seen.map(({ line: _, theirs: __, ...difference }) => difference),
      }
      const message = `the in-process ensemble differs from the real one, which is of ${release}`
      expect(compared.expected, message).toEqual(compared.real)
    })
  })
}

/** The server's line of releases, which @zk/testing must know. */
function lineOf(release: string): ServerVersion {
  return release.split('.', 2).join('.') as ServerVersion
}

/** Servers refuse an unknown operation in one way only, and the first such request ends the connection. */
function expectUnknown(transcript: readonly string[]): void {
  const lines = transcript.join('\n').split('\n')
  expect(lines.join('\n'), 'it came to no end').not.toMatch(UNFINISHED)
  const refused = lines.findIndex((line) => line.endsWith('-> Unimplemented -1'))
  // Closing a socket with unread bytes resets it, and replies to earlier requests may be lost.
  if (refused === -1 && lines.filter((line) => line.endsWith('-> closed instead')).length > 1) return
  expect(refused, `nothing was refused:\n${lines.join('\n')}`).toBeGreaterThan(-1)
  const [, connection = '', op = ''] = /^(\w+): (\w+)/.exec(lines[refused]!)!
  const answers = lines
    .filter((line) => line.startsWith(`${connection}: ${op} `))
    .map((line) => line.split(' -> ').at(-1))
  expect(answers.filter((answer) => answer !== 'Unimplemented -1' && answer !== 'closed instead')).toEqual([])
  expect(lines.slice(refused)).toContain(`${connection}: closed by the server`)
}
