import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Ensemble, type SharedEnsemble } from '../../src/ensemble/index.ts'
import {
  concerns,
  DEBIAN,
  isBefore,
  run,
  type ScenarioGroup,
  UNFINISHED,
  type VersionedScenario,
  VirtualTarget,
} from '@zk/conform/internal'
import { atRest, RealTarget } from '../../src/real-target.ts'
import { Recorded, RECORDED, type RecordedRelease, shorten } from './recorded.ts'
import { shared } from './shared-ensemble.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** For scripts/releases.mjs. */
    scenario?: { readonly spared: string }
  }
}

type Scenarios = readonly [string, VersionedScenario][]

/**
 * Plays each scenario, and compares what servers of a release answer. In the project `unit` the ensemble of @zk/testing plays
 * it in virtual time, as each release, and is compared with the recorded transcripts. In the project `integration` a real
 * ensemble plays it, and is compared with the ensemble of @zk/testing as its release; with UPDATE_TRANSCRIPTS=1 the transcript
 * is recorded.
 */
export function describeScenarios({ subject, scenarios }: ScenarioGroup): void {
  const recorded = new Recorded(subject)
  const all = [...scenarios]
  describe(subject, () => {
    if (shared === undefined) playOnModel(all, recorded)
    else playOnServers(all, recorded, shared)
  })
}

function playOnModel(scenarios: Scenarios, recorded: Recorded): void {
  describe.each(RECORDED)('as servers of %s', (label) => {
    const release = releaseOf(label)
    const played = scenarios.filter(([, { halts }]) => halts === undefined || !concerns(halts, release))
    test.for(played)('%s', async ([title, { play, since }]) => {
      const transcript = await run(new VirtualTarget({ release }), play)
      if (since !== undefined && isBefore(release, since)) return expectUnknown(transcript)
      expect(shorten(transcript), 'it came to no end').not.toMatch(UNFINISHED)
      expect(shorten(transcript), 'the ensemble of @zk/testing differs from real servers').toBe(
        recorded.of(title, label),
      )
    })
  })

  test('the recorded transcripts are those of these scenarios', () => {
    expect(recorded.titles).toEqual(scenarios.map(([title]) => title))
  })
}

function playOnServers(scenarios: Scenarios, recorded: Recorded, { description, release }: SharedEnsemble): void {
  const label = labelOf(release)
  const isRecording = process.env['UPDATE_TRANSCRIPTS'] === '1'

  beforeAll(() => atRest(Ensemble.attach(description)), 60_000)

  afterAll(() => {
    if (isRecording) recorded.write(scenarios.map(([title]) => title))
  })

  test.for(scenarios)('%s', async ([title, { play, since, halts }], { task, skip }) => {
    const real = new RealTarget(Ensemble.attach(description))
    if (halts !== undefined && concerns(halts, release)) {
      task.meta.scenario = { spared: halts.why }
      return skip(halts.why)
    }
    const transcript = await run(real, play)
    if (since !== undefined && isBefore(release, since)) return expectUnknown(transcript)
    expect(transcript.join('\n'), 'it came to no end').not.toMatch(UNFINISHED)
    if (isRecording) recorded.record(title, label, transcript)
    const inProcess = await run(new VirtualTarget({ release }), play)
    expect(inProcess, `the ensemble of @zk/testing differs from the real one, which is of ${release}`).toEqual(
      transcript,
    )
  })
}

function releaseOf(label: RecordedRelease): string {
  return label === 'debian' ? DEBIAN : label
}

/** Recordings are of the newest releases of their lines, and of Debian's. */
function labelOf(release: string): RecordedRelease {
  return release === DEBIAN ? 'debian' : (release.split('.', 2).join('.') as RecordedRelease)
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
