import type { ServerVersion } from '@zk/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ensemble, type SharedEnsemble } from '../../src/ensemble/index.ts'
import {
  compare,
  type Difference,
  generalDifferences,
  isBefore,
  isStopped,
  run,
  type ScenarioGroup,
  UNFINISHED,
  type VersionedScenario,
  VirtualTarget,
} from '@zk/conform'
import { atRest, RealTarget } from '../../src/real-target.ts'
import { Recorded, shorten } from './recorded.ts'
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

/** The release of Debian's servers, from which the transcripts are recorded, and on which @zk/testing is modelled. */
const RECORDED = '3.8.0'

/**
 * Plays each scenario, and compares what servers answer with the recorded transcript. In the project `unit` it is played on
 * the ensemble of @zk/testing, in virtual time. In the project `integration` it is played on a real ensemble: with
 * UPDATE_TRANSCRIPTS=1 the transcript is recorded. Servers of another release are compared with the ensemble of @zk/testing,
 * whose transcript is changed by the differences between the releases.
 */
export function describeScenarios({ subject, scenarios }: ScenarioGroup): void {
  const recorded = new Recorded(subject)
  const all = [...scenarios]
  describe(subject, () => {
    if (shared === undefined) playOnModel(all, recorded)
    else playOnServers(all, recorded, shared)
  })
}

function playOnModel(scenarios: readonly [string, VersionedScenario][], recorded: Recorded): void {
  test.for(scenarios)('%s', async ([title, { play }]) => {
    const transcript = await run(new VirtualTarget(), play)
    expect(shorten(transcript), 'it came to no end').not.toMatch(UNFINISHED)
    expect(shorten(transcript), 'the ensemble of @zk/testing differs from real servers').toBe(recorded.of(title))
  })

  test('the recorded transcripts are those of these scenarios', () => {
    expect(recorded.titles).toEqual(scenarios.map(([title]) => title))
  })
}

function playOnServers(
  scenarios: readonly [string, VersionedScenario][],
  recorded: Recorded,
  { description, release }: SharedEnsemble,
): void {
  const isRecording = process.env['UPDATE_TRANSCRIPTS'] === '1' && release === RECORDED

  beforeAll(() => atRest(Ensemble.attach(description)), 60_000)

  afterAll(() => {
    if (isRecording) recorded.write(scenarios.map(([title]) => title))
  })

  test.for(scenarios)('%s', async ([title, { play, since, halts, differs = [] }], { task, skip }) => {
    const real = new RealTarget(Ensemble.attach(description))
    if (halts !== undefined && isStopped(release, halts)) {
      task.meta.scenario = { spared: halts.why }
      return skip(halts.why)
    }
    if (since !== undefined && isBefore(release, since)) {
      task.meta.scenario = { lacks: since }
      return expectUnknown(await run(real, play))
    }
    const transcript = await run(real, play)
    expect(transcript.join('\n'), 'it came to no end').not.toMatch(UNFINISHED)
    if (isRecording) recorded.record(title, transcript)
    if (release === RECORDED) return expect(shorten(transcript)).toBe(recorded.of(title))

    const inProcess = await run(new VirtualTarget({ release: lineOf(release) }), play)
    const compared = compare({ real: transcript, inProcess }, release, [...generalDifferences, ...differs])
    task.meta.scenario = {
      differs: compared.seen.map(({ line: _, theirs: __, ...difference }) => difference),
    }
    const message = `the ensemble of @zk/testing differs from the real one, which is of ${release}`
    expect(compared.expected, message).toEqual(compared.real)
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
