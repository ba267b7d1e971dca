// docs/conformance is what results.json says. That this is what the code gives is shown of @zk/testing here, together with
// clauses.test.ts, which plays each clause; of our client in client/duties.test.ts; and of other clients in
// test-integration/test/foreign/conform-client.test.ts.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { chapters, isBefore, type Profile, RELEASES } from '@zk/conform/internal'

const SCRIPT = fileURLToPath(new URL('../../../scripts/conformance.mjs', import.meta.url))
const RESULTS = new URL('../../../docs/conformance/results.json', import.meta.url)

const results = JSON.parse(readFileSync(RESULTS, 'utf8')) as Record<string, Readonly<Record<string, unknown>>>

test('the page is what results.json says, and every missed clause has a reason', () => {
  expect(() => execFileSync('node', [SCRIPT, '--check'], { stdio: 'pipe' })).not.toThrow()
})

test.each(RELEASES)('@zk/testing as %s keeps every clause of its release', (release) => {
  const clauses = chapters
    .flatMap((chapter) => chapter.clauses)
    .filter(({ check, needs = [] }) => 'play' in check && needs.every((need) => need === 'superuser'))
    .filter(({ since }) => since === undefined || !isBefore(release, since))
  const all = (wanted: Profile): string => {
    const { length } = clauses.filter(({ profile = 'core' }) => profile === wanted)
    return `${length} of ${length}`
  }
  expect(results[`@zk/testing as ${release}`]).toMatchObject({
    as: release,
    core: all('core'),
    full: all('full'),
    extended: all('extended'),
    scenarios: expect.stringMatching(/^(\d+) of \1$/) as string,
    missed: {},
  })
})
