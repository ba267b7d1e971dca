// What happens after a test that breaks the shared ensemble: played in a separate run with its own ensemble.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { describeEnsemble } from './support/describe-ensemble.ts'

interface Outcome {
  readonly title: string
  readonly status: string
  readonly failureMessages: readonly string[]
}

describeEnsemble('Health of the shared ensemble', () => {
  test(
    'Health fails a test after which a server is out of memory, and the next test has a new ensemble',
    { timeout: 240_000 },
    async () => {
      const [broken, ...others] = await play('broken-ensemble')
      expect(broken).toMatchObject({ title: 'has a server that runs out of memory', status: 'failed' })
      const message = broken!.failureMessages.join('\n')
      expect(message).toContain('After this test the shared ensemble was broken. The next test has a new one.')
      expect(message).toMatch(/zk[123] at 127\.0\.0\.1:\d+ has ended by itself at .*, with 3\n/)
      expect(message).toMatch(/^ {4}\| Terminating due to java\.lang\.OutOfMemoryError/m)
      expect(others.map(({ title, status }) => `${title}: ${status}`)).toEqual([
        'is a new one then: passed',
        'has a server that a test has killed: passed',
        'is whole then, and the same: passed',
      ])
    },
  )
})

/** Runs the fixtures of a folder. They are not counted in this run. */
async function play(name: string): Promise<readonly Outcome[]> {
  const folder = await mkdtemp(join(tmpdir(), 'zk-health-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const report = join(folder, 'report.json')
  const vitest = fileURLToPath(new URL('../../node_modules/vitest/vitest.mjs', import.meta.url))
  // Variables of this run that the separate run must not see.
  const own = Object.entries(process.env).filter(([key]) => !key.startsWith('VITEST') && key !== 'NODE_ENV')
  const words = ['run', '--reporter=json', `--outputFile=${report}`]
  const cwd = fileURLToPath(new URL(`${name}/`, import.meta.url))
  // The exit code is 1: a test has failed.
  await promisify(execFile)(process.execPath, [vitest, ...words], { cwd, env: Object.fromEntries(own) }).catch(() => {})
  const { testResults } = JSON.parse(await readFile(report, 'utf8')) as {
    readonly testResults: readonly { readonly assertionResults: readonly Outcome[] }[]
  }
  return testResults.flatMap(({ assertionResults }) => assertionResults)
}
