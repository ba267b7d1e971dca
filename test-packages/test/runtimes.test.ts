// Programs that use the server of the packed @zk/testing, on every runtime.
import { execFile } from 'node:child_process'
import { cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, inject, test } from 'vitest'
import { runOn, runtimes } from '../../test-integration/test/support/runtimes.ts'

const folder = join(inject('consumer'), 'programs')

beforeAll(async () => {
  await cp(new URL('../consumer', import.meta.url), folder, { recursive: true })
  await cp(new URL('../../examples/dist/guide', import.meta.url), join(folder, 'guide'), { recursive: true })
  await writeFile(join(folder, 'guide/package.json'), '{ "type": "module" }')
})

test('npx runs the command of @zk/conform', async () => {
  const npx = async (...args: string[]) =>
    (await promisify(execFile)('npx', ['--offline', '@zk/conform', ...args], { cwd: inject('consumer') })).stdout
  expect(await npx('--help')).toMatch(/^Says where a server, or a client, differs/)
  expect(await npx('list', 'create')).toMatch(/^ {2}create\/1 +\S/m)
})

describe.each(runtimes)('$name', (runtime) => {
  test.each(['lock.mjs', 'required.cjs', 'imported.cjs'])('runs %s', async (program) => {
    expect(await runOn(runtime, join(folder, program))).toMatch(/^held true [0-9a-f]{16}\n$/)
  })

  test('runs opentelemetry.mjs', async () => {
    expect(await runOn(runtime, join(folder, 'opentelemetry.mjs'))).toBe('acquire lock, hold lock\n')
  })

  test('runs the code of the guide and of the READMEs', async () => {
    expect(JSON.parse(await runOn(runtime, join(folder, 'guide.mjs')))).toEqual([
      'state connected',
      'the default',
      'one',
      'ann 90 bob 110',
      'bill ann 16',
      'bill bob 16',
      'parts 3',
      'led',
      'NodeDataChanged /config',
      'SessionEnded /config',
      'state closed',
      'handed over connected',
      expect.stringMatching(/^written with fence \d+$/),
    ])
  })
})
