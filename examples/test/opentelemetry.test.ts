// The program of packages/opentelemetry/README.md, in a process of its own, with the SDK and its exporters to the console.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { TestEnsemble } from '@zk/testing'
import { expect, onTestFinished, test } from 'vitest'

test('the program exports spans of calls, waits and holds, and metrics', async () => {
  const ensemble = await TestEnsemble.start({ members: 1, tickTime: 100 })
  onTestFinished(() => ensemble.close())
  const program = fileURLToPath(new URL('../dist/guide/opentelemetry.js', import.meta.url))
  const { stdout } = await promisify(execFile)(process.execPath, [program, ensemble.connectString])
  for (const span of ['acquire lock /locks/report', 'hold lock /locks/report', 'create']) {
    expect(stdout).toContain(`name: '${span}'`)
  }
  expect(stdout).toContain("name: 'zk.connected'")
  expect(stdout).toContain("'zk.client': 'billing'")
})
