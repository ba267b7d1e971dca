// Plays the scenarios of test-integration/ against servers of one ZooKeeper release, in containers.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { root, runVitest } from './parts.mjs'

/** Debian's packages, not Maven's. All other tests run on this release. */
export const DEBIAN = '3.8.0 (Debian)'

/** The newest release of each line and Debian's, in order. */
export const RELEASES = ['3.5.10', '3.6.4', '3.7.2', DEBIAN, '3.8.7', '3.9.6']

export const SCENARIOS = 'test-integration/test/scenarios'

/** These scenarios wait for actions whose time servers choose, and take two thirds of the total time. */
const WAITING = ['containers', 'failover', 'sessions', 'ttl']

/** Other tests on what differs between releases. */
export const ON_RELEASES = [
  'test-integration/test/command-nodes.test.ts',
  'test-integration/test/counter-end.test.ts',
  'test-integration/test/unreadable-nodes.test.ts',
]

/** The scenarios that need not wait. They show the differences between releases. */
export function shortScenarios() {
  const files = readdirSync(join(root, SCENARIOS)).filter((file) => file.endsWith('.test.ts'))
  return files.filter((file) => !WAITING.includes(file.split('.')[0])).map((file) => `${SCENARIOS}/${file}`)
}

/**
 * Runs these tests on servers of a release. Returns the tests with their reports, a line for each failure, and the number of
 * failures that belong to no test.
 */
export async function playRelease(release, files, ownEnv = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'zk-release-'))
  const report = join(folder, 'report.json')
  const words = ['--project', 'integration', '--reporter=json', `--outputFile=${report}`, ...files]
  const env = { ZK_IMAGE: '', ZK_RELEASE: release === DEBIAN ? '' : release, ZK_CLAUSES: 'all', ...ownEnv }
  const { failed, failures } = await runVitest(`servers of ${release}`, words, { env })
  try {
    return { ...resultOf(JSON.parse(readFileSync(report, 'utf8')), failed), failures }
  } catch {
    return { tests: [], otherFailures: 1, failures }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `spared` counts scenarios that would halt such servers. They are neither passed nor failed. */
export function totalsOf({ tests, otherFailures }) {
  const count = (...outcomes) => tests.filter(({ outcome }) => outcomes.includes(outcome)).length
  return {
    passed: count('passed'),
    failed: count('failed') + otherFailures,
    skipped: count('skipped'),
    spared: count('spared'),
  }
}

function resultOf({ testResults }, failed) {
  const tests = testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ ancestorTitles, title, status, meta }) => {
      const report = meta.scenario ?? {}
      const isOver = status === 'passed' || status === 'failed'
      const outcome = isOver ? status : report.spared === undefined ? 'skipped' : 'spared'
      return { file: relative(root, name), subject: ancestorTitles.join(' › '), title, outcome, report }
    }),
  )
  return { tests, otherFailures: failed - tests.filter(({ outcome }) => outcome === 'failed').length }
}
